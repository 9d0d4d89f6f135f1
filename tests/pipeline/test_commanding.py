"""Commands, the whole way in one process: what they answer, what they change, and that no upstream sees them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.memory.facts import fact_of
from proxy.pipeline import Services
from proxy.pipeline.commanding import LONGEST_VALUE, MOST_SHOWN, drafted, listing, spoken, text
from proxy.storage.base import StorageError
from proxy.types import Fact, Language, Scope, Statement
from tests.builders import NOW, Said, assistant, body, messages, system, user
from tests.proxied import KEY, Facts, Sessions, Upstream, ask, build_services, in_front_of, serving, total

Json = Any


@asynccontextmanager
async def proxied(upstream: Upstream, *, greeted: bool = True, **sections: Any) -> AsyncIterator[Services]:
    """With commands on. `greeted`: an upstream has answered the key."""
    memory = {"commands": True, **sections.pop("memory", {})}
    async with build_services(in_front_of(upstream, memory=memory, **sections)) as services:
        if greeted:
            await ask(services, body(user("Good morning to you!"), model="demo-chat"))
            upstream.bodies()
        yield services


async def said(services: Services, *conversation: Said, **headers: str) -> str:
    """The answer to a command."""
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    got = await ask(services, body(*conversation, model="demo-chat"), headers=given)
    assert (got.status, got.source) == (200, "command"), got.body
    answer: str = json.loads(got.body)["choices"][0]["message"]["content"]
    return answer


def scope_of(services: Services) -> str:
    return Scope(services.authenticator.tenant((("authorization", f"Bearer {KEY}"),))).id


async def facts(services: Services) -> Mapping[str, str]:
    """The current facts, by their keys."""
    known = await services.storage.facts.all(scope_of(services))
    return {fact.key: fact.value for fact in known if fact.superseded_by is None}


@pytest.mark.note("Rumi Comandos/1", "Rumi Comandos/5")
async def test_what_is_to_be_remembered_is_stored_and_told_to_the_next_conversation(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        assert await said(services, user("/remember city: Rosario")) == text(
            "en", "remembered", key="city", value="city: Rosario"
        )
        assert await facts(services) == {"city": "city: Rosario"}
        assert upstream.bodies() == []
        await ask(services, body(user("Which city is mine?"), model="demo-chat"))
        (sent,) = upstream.bodies()
    assert b"city: Rosario" in sent
    assert b"/remember" not in sent


async def test_a_known_key_gets_the_new_value_and_notes_stand_beside_each_other(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        for words in ("city: Rosario", "City: Madrid", "buy milk", "buy bread", "buy milk"):
            await said(services, user(f"/remember {words}"))
        assert await facts(services) == {"city": "City: Madrid", "note": "buy milk", "note-2": "buy bread"}


@pytest.mark.note("Rumi Comandos/2")
async def test_a_note_has_the_name_that_the_language_gives_it(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        answer = await said(services, user("/remember tengo que comprar el pan para la cena"))
        assert answer.startswith("Recordado como «nota»")
        assert list(await facts(services)) == ["nota"]


@pytest.mark.note("Rumi Comandos/3", "Rumi Comandos/5")
@pytest.mark.parametrize("what", ["city", "City", "my city"])
async def test_what_is_forgotten_is_gone_and_named(upstream: Upstream, what: str) -> None:
    async with proxied(upstream) as services:
        await said(services, user("/remember city: Rosario"))
        await said(services, user("/remember job: I work as a baker"))
        assert await said(services, user(f"/forget {what}")) == text("en", "forgotten", what="city: Rosario")
        assert list(await facts(services)) == ["job"]
        assert await said(services, user("/forget city of the moon")) == text(
            "en", "none_such", what="city of the moon"
        )


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("mi pin", None),
        ("my pin", None),
        ("pin", None),
        ("what I said about the pin", None),
        ("my address", None),
        ("milk", "buy milk"),
        ("the milk", "buy milk"),
        ("that I buy milk", "buy milk"),
        ("note", "buy milk"),
    ],
)
async def test_words_that_are_no_key_mean_only_what_has_a_term_of_theirs(
    upstream: Upstream, words: str, meant: str | None
) -> None:
    async with proxied(upstream) as services:
        await said(services, user("/remember buy milk"))
        expected = text("en", "forgotten", what=meant) if meant else text("en", "none_such", what=words)
        spanish = text("es", "none_such", what=words)
        assert await said(services, user(f"/forget {words}")) in (expected, spanish)
        assert list((await facts(services)).values()) == ([] if meant else ["buy milk"])


async def test_everything_can_be_forgotten(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        await said(services, user("/remember city: Rosario"))
        assert await said(services, user("/forget everything")) == text("en", "everything")
        assert await facts(services) == {}
        assert await said(services, user("/memory")) == text("en", "nothing")


async def test_memory_lists_what_holds_by_domain(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        for words in ("city: Rosario", "city: Madrid"):
            await said(services, user(f"/remember {words}"))
        answer = await said(services, user("/memory"))
    assert answer.splitlines() == ["This is remembered:", "", "**personal**", "- city · city: Madrid"]


@pytest.mark.parametrize(("command", "answer"), [("/remember", "how_remember"), ("/forget", "how_forget")])
async def test_a_command_without_its_words_says_how_it_goes(upstream: Upstream, command: str, answer: str) -> None:
    async with proxied(upstream) as services:
        before = (user("¿Qué tal, cómo estás?"), assistant("Bien"))
        assert await said(services, *before, user(command)) == text("es", answer)


async def test_what_is_too_long_is_not_remembered(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        long = "the " * (LONGEST_VALUE // 4 + 1)
        assert await said(services, user(f"/remember {long}")) == text("en", "too_long", most=LONGEST_VALUE)
        assert await facts(services) == {}


async def test_nothing_is_kept_for_a_key_that_no_upstream_has_answered(upstream: Upstream) -> None:
    async with proxied(upstream, greeted=False) as services:
        assert await said(services, user("/remember city: Rosario")) == text("en", "unanswered")
        assert await said(services, user("/memory")) == text("en", "nothing")
        assert await said(services, user("/forget city")) == text("en", "none_such", what="city")
        assert await said(services, user("/clear"), x_olvido_session="s") == text("en", "cleared")
        await services.storage.ledger.flush()
        assert await facts(services) == {}
        assert {row.scope for row in await services.storage.ledger.recent("unanswered/")} == {"unanswered/"}
        assert upstream.bodies() == []


@pytest.mark.parametrize("sections", [{"storage": {"kind": "off"}}, {"memory": {"facts": False}}])
async def test_where_nothing_is_stored_the_answer_says_so(upstream: Upstream, sections: Json) -> None:
    async with proxied(upstream, **sections) as services:
        assert await said(services, user("/remember city: Rosario")) == text("en", "off")
        assert await said(services, user("/memory")) == text("en", "off")
        assert await said(services, user("/forget city")) == text("en", "none_such", what="city")
        assert upstream.bodies() == []


async def test_a_client_that_wants_nothing_kept_is_told_that_nothing_was(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        answer = await said(services, user("/remember city: Rosario"), cache_control="no-store")
        assert answer == text("en", "not_kept")
        assert await facts(services) == {}


async def fails(*_: object) -> Any:
    raise StorageError("away")


@pytest.mark.parametrize("command", ["/remember city: Rosario", "/memory", "/forget city"])
async def test_memory_that_cannot_be_reached_is_admitted_and_nobody_else_is_asked(
    upstream: Upstream, command: str
) -> None:
    settings = in_front_of(upstream, memory={"commands": True})
    async with serving(settings, facts=Facts(every=fails)) as services:
        assert await said(services, user(command)) == text("en", "unreached")
        assert total(services, "olvido_fail_open_total", stage="command") == 1
        assert upstream.bodies() == []


async def test_a_conversation_that_cannot_be_looked_up_is_cleared_if_the_client_sends_it(upstream: Upstream) -> None:
    settings = in_front_of(upstream, memory={"commands": True})
    async with serving(settings, sessions=Sessions(look=fails)) as services:
        whole = (user("One."), assistant("1"), user("/clear"))
        assert await said(services, *whole) == text("en", "cleared")
        assert await said(services, user("/clear"), x_olvido_session="s") == text("en", "unreached")
        assert upstream.bodies() == []


async def test_metrics_and_ledger_agree_on_a_command_and_it_costs_nothing(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        await said(services, user("/memory"))
        await services.storage.ledger.flush()
        rows = await services.storage.ledger.recent(scope_of(services))
        (row,) = (row for row in rows if row.source == "command")
        assert len(rows) == 2
        assert (row.status, row.outcome, row.reuse_reason, row.plan) == (200, "complete", "command", "untouched")
        assert (row.tokens_original, row.tokens_sent, row.tokens_billed, row.cost, row.cost_saved) == (0, 0, 0, 0, 0)
        assert total(services, "olvido_requests_total", source="command", outcome="complete") == 1
        assert total(services, "olvido_saved_tokens_total") == 0


async def test_the_answer_is_a_completion_and_streams_where_it_is_asked_to(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        plain = await ask(services, body(user("/memory"), model="demo-chat"))
        streamed = await ask(
            services, body(user("/memory"), model="demo-chat", stream=True, stream_options={"include_usage": True})
        )
    assert json.loads(plain.body)["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert plain.headers["x-olvido-tokens-sent"] == "0"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.body.endswith(b"data: [DONE]\n\n")
    assert streamed.source == "command"


async def test_in_mode_off_and_while_commands_are_off_a_command_is_a_text(upstream: Upstream) -> None:
    raw = body(user("/memory"), model="demo-chat")
    async with proxied(upstream, greeted=False) as services:
        assert (await ask(services, raw, headers=(("x-olvido-mode", "off"),))).source == "upstream"
    async with proxied(upstream, greeted=False, memory={"commands": False}) as services:
        assert (await ask(services, raw)).source == "upstream"
    assert upstream.bodies() == [raw, raw]


async def test_what_is_left_of_a_request_without_anything_to_answer_is_answered_here(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        answer = await said(services, user("One."), assistant("1"), user("/clear"), assistant("ok"))
        assert answer == text("en", "no_question")
        assert upstream.bodies() == []


async def test_a_question_behind_a_clear_is_only_answered_from_memory_if_all_that_is_sent_is_equal(
    upstream: Upstream,
) -> None:
    async with proxied(upstream) as services:

        async def asked(*conversation: Said) -> str:
            return (await ask(services, body(*conversation, model="demo-chat", temperature=0))).source

        history = (system("Be kind."), user("I keep bees."), assistant("Nice."))
        assert await asked(*history, user("How many?")) == "upstream"
        cleared = (*history, user("/clear"), assistant(text("en", "cleared")))
        assert await asked(*cleared, user("How many?")) == "upstream"
        assert await asked(*cleared, user("How many?")) == "exact"
        assert await asked(system("Be kind."), user("How many?")) == "exact"
    assert [len(json.loads(raw)["messages"]) for raw in upstream.bodies()] == [4, 2]


@pytest.mark.note("Rumi Sesión/4")
async def test_ends_are_told_of_a_clear_and_of_the_header_and_of_every_other_request(upstream: Upstream) -> None:
    async with proxied(upstream, greeted=False) as services:
        hello, session = user("Hello."), {"x_olvido_session": "s"}
        header = (("x-olvido-session", "s"),)
        await ask(services, body(hello, model="demo-chat"), headers=header)
        assert len(services.ends) == 1
        await ask(services, body(user("Bye."), model="demo-chat"), headers=(*header, ("x-olvido-session-end", "1")))
        assert len(services.ends) == 0
        await said(services, user("/memory"), **session)
        assert len(services.ends) == 1
        await said(services, user("/clear"), **session)
        assert len(services.ends) == 0


async def test_a_conversation_goes_on_managed_when_commands_are_switched_on_and_off(
    upstream: Upstream, tmp_path: Path
) -> None:
    kept: dict[str, Any] = {"storage": {"path": str(tmp_path)}, "profiles": {"lean": {"budget": 400}}}
    conversation: list[Said] = [system("Be kind.")]
    for number, is_on in enumerate((False, True, False, True)):
        memory = {"commands": is_on}
        async with build_services(in_front_of(upstream, memory=memory, **kept)) as services:
            for content in (*(f"Tell me 60 words about animal {number}-{each}." for each in range(4)), "/memory"):
                conversation.append(user(content))
                got = await ask(services, body(*conversation, model="demo-chat"))
                assert "fail-open" not in got.plan
                assert (got.source == "command") == (is_on and content == "/memory")
                conversation.append(assistant(json.loads(got.body)["choices"][0]["message"]["content"]))
            assert total(services, "olvido_fail_open_total") == 0


# --- decisions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "before", "expected"),
    [
        ("where I live: in the old house", (), "en"),
        ("tengo que llamar a mi hermana", (), "es"),
        ("pin 4411", (), "en"),
        ("pin 4411", ("¿Dónde queda la biblioteca?",), "es"),
        ("pin 4411", ("Where is the library?", "ok"), "en"),
    ],
)
def test_a_command_is_answered_in_its_language_or_that_of_the_conversation(
    words: str, before: tuple[str, ...], expected: Language
) -> None:
    assert spoken(messages(*map(user, before), user(f"/remember {words}")), words) == expected


def known(key: str, value: str, domain: str = "personal") -> Fact:
    return fact_of(Statement(domain, key, value, "high"), f"f-{key}", NOW)


def test_a_known_key_keeps_its_domain_and_what_is_stated_has_the_domain_of_its_statement() -> None:
    assert drafted("job: I work at Acme", (), "en").domain == "work"
    assert drafted("job: I work at Acme", (known("job", "job: baker", "projects"),), "en").domain == "projects"
    assert drafted("zzz: qqq", (), "en").domain == "personal"


def test_a_long_list_is_cut_and_says_so() -> None:
    listed = listing([known(f"k{number}", "v") for number in range(MOST_SHOWN + 3)], "en")
    assert listed.endswith("… and 3 more.")
    assert listed.count("\n- ") == MOST_SHOWN


async def test_a_password_is_not_remembered_and_the_answer_says_so(upstream: Upstream) -> None:
    async with proxied(upstream) as services:
        assert await said(services, user("/remember wifi password: hunter22")) == text("en", "credential")
        assert await facts(services) == {}
