"""Requests with a desk, over real sockets: what the upstream gets, what is kept, and what the client knows of it."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proxy.config import Config
from proxy.desk.schemas import NAMES, definitions
from proxy.pipeline import Services
from proxy.pipeline.desk import Desks
from proxy.services import build
from proxy.types import Fact, Headers
from proxy.types.desk import Board, Called, Ended, Hidden, Mark, Offered, Payload, Pin
from tests.builders import NOW, Said, body, encoding, result, system, user
from tests.desk.memory_store import MemoryDesks, is_a_store
from tests.looping import LOOK, THEIRS, Upstream, run_rounds, settings
from tests.proxied import AT_ONCE, KEY, Got, ask, total
from tests.spoken import Called as Call
from tests.spoken import Spoken, numbered

SCHEMAS = list(definitions("en", NAMES))
SAVE = Call("save_to_disk", '{"file_name":"plan.md","content":"ship it"}')
FIRST = {"enabled": True, "offer": "first"}
LONG = "word " * 3_000


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_rounds() as upstream:
        yield upstream


def desks(config: Config, services: Services, store: MemoryDesks) -> Desks:
    return Desks(
        config.memory.tools,
        is_a_store(store),
        counter=services.counter,
        executor=services.executor,
        idempotent=config.reuse.tools,
    )


def scope_of(services: Services) -> str:
    """The scope of all requests here."""
    return f"{services.authenticator.tenant((('authorization', f'Bearer {KEY}'),))}/"


@dataclass
class House:
    """A proxy before the upstream. Its scope was answered before, unless a test says otherwise."""

    services: Services
    store: MemoryDesks
    upstream: Upstream
    said: list[Said] = field(default_factory=lambda: [system("Be brief.")])
    fields: dict[str, Any] = field(default_factory=dict)

    async def ask(self, *new: Said, headers: Headers = (), **fields: Any) -> Got:
        self.said += new
        given = body(*self.said, **{**self.fields, **fields})
        return await ask(self.services, given, headers=(("x-olvido-session", "s"), *headers))

    async def turn(self, *new: Said, headers: Headers = (), **fields: Any) -> Said:
        """A request whose answer the client sends back with the next one."""
        got = await self.ask(*new, headers=headers, **fields)
        assert got.status == 200
        answer: Said = msgspec.json.decode(got.body)["choices"][0]["message"]
        self.said.append(answer)
        return answer

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages of the newest request."""
        messages: list[dict[str, Any]] = self.upstream.asked[-1]["messages"]
        return messages

    def events(self, kind: type[Payload]) -> list[Any]:
        found = [each.payload for events in self.store.all_events.values() for each in events]
        return [each for each in found if isinstance(each, kind)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up that a busy machine is late with would give a request a session of its own."""
    identifying, others = ("DEADLINE", "RESUME_DEADLINE"), ("DESK_DEADLINE", "PLAN_DEADLINE")
    for stage in (*(f"identifying.{name}" for name in identifying), *(f"chat.{name}" for name in others)):
        monkeypatch.setattr(f"proxy.pipeline.{stage}", 60.0)


@asynccontextmanager
async def house(
    upstream: Upstream, *spoken: Spoken, tools: dict[str, Any] | None = None, is_answered: bool = True, **entry: Any
) -> AsyncIterator[House]:
    config = settings(upstream.url, tools=FIRST if tools is None else tools, **entry)
    built = await build(config, encoding=encoding, writing=AT_ONCE)
    store = MemoryDesks()
    try:
        services = replace(built, desks=desks(config, built, store))
        if is_answered:
            upstream.will(Spoken("Hello."))
            await ask(services, body(user("hi")), headers=(("x-olvido-mode", "off"),))
        upstream.will(*numbered(spoken or (Spoken("Well."),)))
        yield House(services, store, upstream)
    finally:
        await built.close()


async def test_without_the_wish_nothing_is_read_or_changed(running: Upstream) -> None:
    async with house(running, tools={}) as made:
        got = await made.ask(user("What now?"))
        assert running.raw == [body(*made.said)]
        assert (made.store.calls, got.plan) == ([], "untouched")
        await made.ask(user("And?"), headers=(("x-olvido-tools", "on"),))
        assert made.store.calls
    async with house(running) as made:
        await made.ask(user("What now?"), headers=(("x-olvido-tools", "off"),))
        assert running.raw == [body(*made.said)]
        assert made.store.calls == []


@pytest.mark.parametrize(
    "headers", [("x-olvido-mode", "off"), ("x-olvido-mode", "meter"), ("cache-control", "no-store")]
)
async def test_what_is_not_to_be_kept_has_no_desk(running: Upstream, headers: tuple[str, str]) -> None:
    async with house(running) as made:
        await made.ask(user("What now?"), headers=(headers,))
        assert running.raw == [body(*made.said)]
        assert made.store.calls == []


async def test_a_scope_that_no_upstream_has_answered_gets_the_tools_and_leaves_no_trace(running: Upstream) -> None:
    async with house(running, is_answered=False) as made:
        await made.turn(user("What now?"))
        assert running.asked[-1]["tools"] == SCHEMAS
        assert made.store.calls == []
        first = made.sent
        await made.ask(user("And then?"))
        assert running.asked[-1]["tools"] == SCHEMAS
        assert made.sent[: len(first)] == first
        assert made.events(Offered) == [Offered("en", NAMES, "first")]


async def test_messages_are_numbered_and_an_offer_is_kept_before_anything_is_sent(running: Upstream) -> None:
    async with house(running) as made:
        made.fields = {"tools": [LOOK]}
        await made.turn(user("What now?"))
        assert running.asked[-1]["tools"] == [LOOK, *SCHEMAS]
        (tape,) = made.store.lines.values()
        assert [(line.id, line.role, line.is_hidden) for line in tape] == [(1, "system", False), (2, "user", False)]
        assert [msgspec.json.decode(line.content or b"") for line in tape] == made.said[:2]
        assert all(line.tokens > 0 and line.at == NOW for line in tape)
        assert made.events(Offered) == [Offered("en", NAMES, "first")]
        await made.turn(user("And then?"))
        assert running.asked[-1]["tools"] == [LOOK, *SCHEMAS]
        assert [line.id for line in tape] == [1, 2, 3, 4]
        assert len(made.events(Offered)) == 1


async def test_what_the_client_never_saw_is_sent_again_where_it_was(running: Upstream) -> None:
    async with house(running, Spoken("", (SAVE,)), Spoken("It is noted."), Spoken("Done.")) as made:
        answer = await made.turn(user("Ship it."))
        assert answer["content"] == "It is noted."
        assert "tool_calls" not in answer
        _, second = running.asked
        assert second["messages"][-1]["role"] == "tool"
        await made.turn(user("And then?"))
        assert made.sent[: len(second["messages"])] == second["messages"]
        assert [each["role"] for each in made.sent[len(second["messages"]) :]] == ["assistant", "user"]
        assert len(made.events(Hidden)) == 1
        (tape,) = made.store.lines.values()
        assert [line.role for line in tape if line.is_hidden] == ["assistant", "tool"]
        assert [line.id for line in tape] == list(range(1, len(tape) + 1))
        document = await made.store.document(next(iter(made.store.lines))[0], "plan.md")
        assert document is not None
        assert document.text == "ship it"


async def test_calls_of_both_are_sent_again_with_both_results(running: Upstream) -> None:
    async with house(running, Spoken("Let me look.", (SAVE, THEIRS)), Spoken("Done.")) as made:
        made.fields = {"tools": [LOOK]}
        answer = await made.turn(user("Ship it."))
        (theirs,) = answer["tool_calls"]
        assert theirs["function"]["name"] == "look"
        await made.turn(result(theirs["id"], "a ship"))
        call, *results = made.sent[-3:]
        assert [each["function"]["name"] for each in call["tool_calls"]] == ["save_to_disk", "look"]
        assert [each["tool_call_id"] for each in results] == [each["id"] for each in call["tool_calls"]]
        assert results[-1]["content"] == "a ship"


async def test_a_request_that_can_carry_no_tools_has_what_was_hidden_all_the_same(running: Upstream) -> None:
    async with house(running, Spoken("", (SAVE,)), Spoken("It is noted."), Spoken("{}")) as made:
        await made.turn(user("Ship it."))
        await made.ask(user("As JSON?"), response_format={"type": "json_object"})
        assert "tools" not in running.asked[-1]
        assert [each["role"] for each in made.sent] == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_two_processes_put_back_the_same(running: Upstream) -> None:
    async with house(running, Spoken("", (SAVE,)), Spoken("It is noted."), Spoken("Done.")) as made:
        config = made.services.config
        one, other = made.services, replace(made.services, desks=desks(config, made.services, made.store))
        await made.turn(user("Ship it."))
        before = running.asked[-1]["messages"]
        made.services = other
        await made.turn(user("And then?"))
        assert made.sent[: len(before)] == before
        before = made.sent
        made.services = one
        await made.turn(user("And now?"))
        assert made.sent[: len(before)] == before


async def test_an_answer_made_anew_has_an_exchange_of_its_own(running: Upstream) -> None:
    spoken = [Spoken("", (SAVE,)), Spoken("One."), Spoken("", (SAVE,)), Spoken("Two."), Spoken("Well.")]
    async with house(running, *spoken) as made:
        await made.turn(user("Ship it."))
        first = running.asked[-1]["messages"]
        made.said.pop()
        await made.turn(headers=(("x-olvido-cache", "refresh"),))
        second = running.asked[-1]["messages"]
        await made.ask(user("And?"))
        assert made.sent[: len(second)] == second != first


@pytest.mark.note("SMMA 8/5")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_database_keeps_what_was_hidden_until_it_is_forgotten(
    running: Upstream, kind: str, tmp_path: Path
) -> None:
    config = settings(running.url, tools=FIRST)
    storage = config.storage.model_copy(update={"kind": kind, "path": tmp_path})
    built = await build(config.model_copy(update={"storage": storage}), encoding=encoding, writing=AT_ONCE)
    try:
        running.will(Spoken("Hello."))
        await ask(built, body(user("hi")), headers=(("x-olvido-mode", "off"),))
        running.will(*numbered([Spoken("", (SAVE,)), Spoken("It is noted."), Spoken("Done.")]))
        made = House(built, MemoryDesks(), running)
        await made.turn(user("Ship it."))
        before = made.sent
        await made.turn(user("And then?"))
        assert made.sent[: len(before)] == before
        scope = scope_of(built)
        lines = await built.storage.desks.tape(scope, "s")
        assert [(line.id, line.role, line.is_hidden) for line in lines] == [
            *((1, "system", False), (2, "user", False), (3, "assistant", True), (4, "tool", True)),
            *((5, "assistant", False), (6, "user", False)),
        ]
        said = Fact("f-1", "work", "ship", "ship it", "high", "explicit", "s", 1, NOW, NOW, links=(lines[1].link,))
        await built.library.forget(scope, [said])
        await made.ask(user("And now?"))
        assert [each["role"] for each in made.sent] == ["system", "user", "assistant", "user", "assistant", "user"]
        lines = await built.storage.desks.tape(scope, "s")
        assert [line.content is None for line in lines[1:4]] == [True, True, True]
    finally:
        await built.close()


# --- sections, pins --------------------------------------------------------------------------------------------------


async def put(made: House, name: str, text: str) -> None:
    scope = scope_of(made.services)
    now = await made.store.document(scope, name)
    await made.store.put(scope, name, text, version=now.version if now else 0, at=NOW, by="person")


@pytest.mark.note("SMMA 2/3", "SMMA 2/4", "SMMA 2/5", "SMMA 2/6", "SMMA 3.3/1", "SMMA 4/6", "SMMA 6/1")
async def test_sections_stand_in_the_head_with_the_rules_each_within_its_limit(running: Upstream) -> None:
    tools = {**FIRST, "project": "My Ship", "sections": {"agent_notes": 50}}
    async with house(running, tools=tools) as made:
        await put(made, "user_profile.md", "Ana likes tea.")
        await put(made, "project_context.md", "Another project.")
        await put(made, "project_context-my-ship.md", "A ship.")
        await put(made, "agent_notes.md", LONG)
        await made.turn(user("What now?"))
        head = made.sent[1]["content"]
        assert "You manage your own memory." in head
        assert "[user_profile]\nAna likes tea.\n[project_context]\nA ship.\n[agent_notes]\n" in head
        assert "Another project." not in head
        assert head.count("word") < 60
        assert head.endswith("\n\nWhat now?")
        # Between folds the head stays as it was.
        await put(made, "user_profile.md", "Ana likes coffee.")
        await made.ask(user("And then?"))
        assert made.sent[1]["content"] == head
    async with house(running, tools=tools) as made:
        await put(made, "project_context-other.md", "The other one.")
        await made.ask(user("What now?"), headers=(("x-olvido-project", "Other"),))
        assert "The other one." in made.sent[1]["content"]


@pytest.mark.note("SMMA 8/4")
async def test_a_person_pins_the_newest_question(running: Upstream) -> None:
    async with house(running) as made:
        await made.turn(user("What now?"), headers=(("x-olvido-pin", "1"),))
        await made.turn(user("And then?"))
        (tape,) = made.store.lines.values()
        assert made.events(Pin) == [Pin(tape[1].link)]


# --- the dashboard ---------------------------------------------------------------------------------------------------

TIGHT = {**FIRST, "limit": 11_000}


@pytest.mark.note("SMMA 3.2/1")
async def test_a_dashboard_is_shown_when_pressure_rises_and_stays_where_it_was(running: Upstream) -> None:
    async with house(running, tools=TIGHT) as made:
        made.fields = {"tools": [LOOK]}  # an agent's prompts are folded late
        await made.turn(user("What now?"))
        assert made.events(Board) == []
        await made.turn(user(LONG))
        (board,) = made.events(Board)
        assert board.level == "medium"
        shown = made.sent[-1]["content"]
        assert shown == f"{board.text}\n\n{LONG}"
        before = made.sent
        await made.turn(user("And then?"))
        assert made.sent[: len(before)] == before
        assert made.events(Board) == [board]
        assert "Status of your memory" not in made.sent[-1]["content"]


@pytest.mark.note("SMMA 3.2/1")
async def test_inside_a_loop_it_stands_behind_the_newest_result(running: Upstream) -> None:
    looks = [Spoken("", (THEIRS,)), Spoken("", (replace(THEIRS, id="call00002"),)), Spoken("Done.")]
    async with house(running, *looks, tools=TIGHT) as made:
        made.fields = {"tools": [LOOK]}
        for question in (user("Look."), None):
            answer = await made.turn(*([question] if question else []))
            made.said.append(result(answer["tool_calls"][0]["id"], LONG))
        await made.ask()
        boards = made.events(Board)
        assert [board.level for board in boards] == ["medium", "high"]
        assert [each["content"] for each in made.sent if each["role"] == "tool"] == [
            f"{LONG}\n\n{board.text}" for board in boards
        ]
        assert "ids" in boards[1].text or "id:" in boards[1].text
        assert "Status of your memory" not in made.sent[1]["content"]


async def test_a_question_that_is_asked_again_gets_no_dashboard_that_it_had_not(running: Upstream) -> None:
    async with house(running, tools=TIGHT) as made:
        await made.ask(user(LONG), headers=(("x-olvido-cache", "refresh"),))
        before = made.sent
        await made.ask(headers=(("x-olvido-cache", "refresh"),))
        assert made.sent == before
        assert len(made.events(Board)) == 1


@pytest.mark.note("SMMA 3.2/1")
async def test_it_is_always_shown_where_that_is_wished(running: Upstream) -> None:
    async with house(running, tools={**TIGHT, "dashboard": "always"}) as made:
        for question in ("What now?", "And then?"):
            await made.turn(user(question))
        assert [board.level for board in made.events(Board)] == ["low", "low"]
        assert all("Status of your memory" in made.sent[at]["content"] for at in (1, 3))


# --- what fails ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failing", ["since", "documents", "write"])
async def test_without_its_store_the_clients_own_request_is_sent(running: Upstream, failing: str) -> None:
    async with house(running) as made:
        made.store.fails = {failing}
        got = await made.ask(user("What now?"))
        assert got.status == 200
        assert got.plan == "fail-open;stage=desk"
        assert running.raw == [body(*made.said)]


async def test_an_offer_that_cannot_be_kept_is_none(running: Upstream) -> None:
    async with house(running) as made:
        await made.ask(user("What now?"), headers=(("x-olvido-tools", "off"),))
        store, writes = made.store, iter([False, True])
        write = store.write

        async def once(scope: str, session: str, lines: Sequence[Any], events: Sequence[Any] = ()) -> Any:
            store.fails = {"write"} if next(writes) else set()
            return await write(scope, session, lines, events)

        store.write = once  # type: ignore[method-assign]  # it fails every other time
        got = await made.ask(user("And?"))
        assert got.plan == "fail-open;stage=desk"
        assert running.raw[-1] == body(*made.said)


async def test_an_offer_that_has_ended_is_answered_with_a_sentence_and_the_schemas_stay(running: Upstream) -> None:
    async with house(running, Spoken("Well."), Spoken("", (SAVE,)), Spoken("Done.")) as made:
        await made.turn(user("What now?"))
        ((scope, session),) = made.store.lines
        events = [replace(made.store.all_events[scope, session][0], payload=Ended("person"), number=0)]
        await made.store.write(scope, session, (), events)
        await made.turn(user("Save it."))
        assert running.asked[-1]["tools"] == SCHEMAS
        assert made.sent[-1]["content"].startswith("Memory tools have ended")
        assert [each.result for each in made.events(Called)] == ["ended"]


@pytest.mark.note("SMMA 1/1")
async def test_a_mark_of_the_model_is_kept_for_the_next_requests(running: Upstream) -> None:
    prune = Call("prune_messages", '{"message_ids":[3]}')
    spoken = [Spoken("Well."), Spoken("", (prune,)), Spoken("Tidy."), Spoken("Done.")]
    async with house(running, *spoken) as made:
        await made.turn(user("What now?"))
        await made.turn(user("Tidy up."))
        (mark,) = made.events(Mark)
        assert (mark.kind, mark.first, mark.last) == ("prune", 3, 3)
        await made.turn(user("And then?"))
        assert made.sent[2]["content"] in ("Well.", "[3: pruned, recallable]")


async def test_a_request_with_tools_is_never_answered_by_intent(running: Upstream) -> None:
    async with house(running) as made:
        await made.ask(user("What now?"), temperature=0)
        assert total(made.services, "olvido_reuse_total", kind="intent", result="tools") == 1


@pytest.mark.note("5.1/2", "Caché 5.1/1")
async def test_a_repeated_call_of_a_listed_tool_is_answered_from_the_session(running: Upstream) -> None:
    looks = [Spoken("", (THEIRS,)), Spoken("A ship."), Spoken("", (replace(THEIRS, id="call00002"),)), Spoken("Still.")]
    async with house(running, *looks) as made:
        idempotent = made.services.config.reuse.tools.model_copy(update={"idempotent": ("look",)})
        config = made.services.config
        listed = Desks(
            config.memory.tools,
            is_a_store(made.store),
            counter=made.services.counter,
            executor=made.services.executor,
            idempotent=idempotent,
        )
        made.services = replace(made.services, desks=listed)
        made.fields = {"tools": [LOOK]}
        answer = await made.turn(user("Look."))
        await made.turn(result(answer["tool_calls"][0]["id"], "a ship"))
        answer = await made.turn(user("And again?"))
        assert answer["content"] == "Still."
        call, told = made.sent[-2:]
        assert told == result(call["tool_calls"][0]["id"], "a ship")
