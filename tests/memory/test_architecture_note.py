"""What the architecture note asks of the parts together: its own examples, its rules for a prompt as a whole, and the
estimate that it ends with. What it asks of one part alone is tested with that part; proxy/memory/README.md has both."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import fields
from itertools import count, pairwise

import msgspec
import pytest

from proxy.config import Config
from proxy.config.builtin_profiles import BUILT_IN
from proxy.context.draft import Memory
from proxy.context.economics import Rates
from proxy.conversation.progress import Case
from proxy.memory.ageing import Decay
from proxy.memory.extract import extract
from proxy.pipeline import Services
from proxy.pipeline.chat import handle
from proxy.types import DOMAINS, ArchivedTurn, Fact, Incoming, Scope, Statement, Summary, TurnDigest, Utterance
from tests.builders import NOW, Said, assistant, body, calling, encoding, result, system, user
from tests.context.told import COLD, LEAN, WARM, Teller, Told, exchange, fact, profile, words
from tests.proxied import KEY, Upstream, in_front_of, run_upstream, serving, total

DAY = 86_400.0
STRICT = profile(LEAN, fold="strict")
SYSTEM = 400  # tokens: section 3.1
DELTA = 1_850  # tokens: section 3.2
NEWEST = 100  # tokens of the question, which the note counts as a part of the window


def conversation(turns: int, tokens: int = 400) -> list[Said]:
    """About `tokens` a turn, behind a system prompt, with a question at the end."""
    said: list[Said] = [system(words(SYSTEM - 4, "rule"))]
    for number in range(turns):
        said += exchange(number, tokens)
    return [*said, user(words(NEWEST, "next"))]


def shown(told: Told) -> str:
    return "\n".join(said.text for said in told.sent)


def window(told: Told) -> str:
    """Without the memory head."""
    return shown(told).rpartition("</memory>")[2]


# --- section 1: what is kept ------------------------------------------------------------------------------------------


@pytest.mark.note("1.1/4")
@pytest.mark.parametrize(
    ("said", "domain", "confidence", "holds"),
    [
        ("Trabajo en fintech, equipo de 5", "work", "high", "fintech"),
        ("Prefiero respuestas directas", "preferences", "medium", "respuestas directas"),
        ("Recordá que prefiero respuestas directas", "preferences", "high", "respuestas directas"),
        ("Decidí usar Kimi K2.5", "decisions", "high", "Kimi K2.5"),
    ],
)
def test_the_three_examples_of_facts_are_kept_in_the_users_words(
    said: str, domain: str, confidence: str, holds: str
) -> None:
    (found,) = extract(said)
    assert isinstance(found, Statement)
    assert (found.domain, found.confidence) == (domain, confidence)
    assert holds in found.value
    assert found.value in said


@pytest.mark.note("1.1/2", "1.2/2")
def test_a_fact_a_turn_and_a_summary_have_the_fields_of_the_note() -> None:
    def names(*kinds: type) -> set[str]:
        return {each.name for kind in kinds for each in fields(kind)}

    assert names(Fact) >= {"id", "domain", "confidence", "created_at", "last_confirmed_at", "source"}
    assert "value" in names(Fact)  # `fact` of the note
    assert DOMAINS == ("work", "preferences", "decisions", "personal", "projects")
    # `id`, `turn_number`, `content`, `timestamp` and `token_count` have shorter names.
    kept = names(ArchivedTurn, Utterance, TurnDigest)
    assert kept >= {"link", "session", "number", "role", "text", "at", "tokens", "continuity"}
    assert names(Summary) >= {"topic", "discussed", "outcome", "decisions", "open_questions"}


@pytest.mark.note("1.1/11")
def test_facts_grow_old_by_the_notes_days_unless_configured() -> None:
    memory = Config().memory
    ages = (memory.unconfirmed_after, memory.stale_after, memory.drop_low_after)
    assert ages == (90 * DAY, 180 * DAY, 30 * DAY)
    assert Decay() == Decay(*ages)


# --- section 2: what leaves the window --------------------------------------------------------------------------------


def kept(told: Told) -> int:
    """Complete turns in the prompt."""
    return len(told.state.open)


@pytest.mark.note("2.2/1", "9.1/2")
def test_folded_strictly_the_oldest_turn_leaves_as_soon_as_there_is_one_too_many() -> None:
    done = Teller(limit=4_000, rates=WARM).tell(*conversation(9, 100), profile=STRICT)
    assert [kept(told) for told in done] == [0, 1, 2, 3, 4, 5, 6, 6, 6, 6]
    assert "2: tea" not in window(done[-1])
    assert "3: tea" in window(done[-1])


@pytest.mark.note("2.2/2")
def test_above_three_quarters_of_the_limit_turns_are_summarised_without_waiting_for_a_profit() -> None:
    cheap = Rates(cached=0.1, write=1.0)  # a prompt that is far from its limit is left alone at such a price
    done = Teller(limit=4_000, rates=cheap).tell(*conversation(60, 300))
    turn = done[1].tokens - done[0].tokens
    unfolded = [before.tokens + turn for before in done]  # what the next prompt is if nothing leaves
    folded = [told.state.fold != before.state.fold for before, told in pairwise(done)]
    first = folded.index(True)  # of the limit: nothing has been saved yet that could pay for it
    assert not any(told.state.fold for told in done[: first + 1])
    after = list(zip(unfolded[first + 1 :], folded[first + 1 :], strict=False))[:-1]
    assert {is_folded for size, is_folded in after if size <= 3_000} == {False}
    assert {is_folded for size, is_folded in after if 3_000 + turn < size} == set()
    assert any(is_folded for size, is_folded in after if size > 3_000)


@pytest.mark.note("1.2/7", "2.2/4")
def test_who_asks_to_change_the_subject_has_the_window_emptied_into_summaries() -> None:
    said = conversation(5, 200)[:-1]
    told = Teller(limit=4_000, rates=COLD).tell(*said, user("Cambiemos de tema: ¿qué cocino hoy?"))[-1]
    assert kept(told) == 0
    assert told.state.fold is not None
    assert told.state.fold.summaries
    assert "4: tea" not in window(told)


@pytest.mark.note("2.4/3")
def test_a_summary_is_written_once_and_leaves_when_the_slots_are_full() -> None:
    done = Teller(limit=4_000, rates=COLD).tell(*conversation(30, 150), profile=STRICT)
    folds = [told.state.fold for told in done]
    every = [fold.summaries for fold in folds if fold]
    assert max(map(len, every)) <= 4
    written: dict[int, Summary] = {}
    for summaries in every:
        for summary in summaries:
            assert written.setdefault(summary.first_turn, summary) == summary
    assert [each.first_turn for each in every[-1]] == sorted(written)[-len(every[-1]) :]


# --- sections 3 and 6: how large a prompt is --------------------------------------------------------------------------


@pytest.mark.note("3.2/2")
def test_the_parts_of_the_delta_add_up_to_the_notes() -> None:
    summaries = LEAN.summaries.slots * LEAN.summaries.tokens
    pending = 300  # results of the call under way: sent whole, whatever they are
    assert LEAN.facts.tokens + summaries + LEAN.window.tokens + pending == DELTA


@pytest.mark.note("3.2/5", "6/1")
def test_twenty_turns_of_eight_thousand_tokens_are_sent_as_the_system_prompt_and_the_delta() -> None:
    known = Memory(standing=(fact("no hedging", name="f-1"),), facts=frozenset({"f-1"}))
    told = Teller(limit=4_000, rates=WARM).tell(*conversation(20), profile=STRICT, memory=known)[-1]
    assert told.managed.tokens.original >= 8_000
    assert SYSTEM < told.tokens <= SYSTEM + DELTA
    assert told.tokens <= 0.2 * told.managed.tokens.original + SYSTEM  # "80 % saved", the system prompt apart


@pytest.mark.note("0/1", "6/2", "7 NO/4")
@pytest.mark.parametrize("fold", ["economic", "strict"])
@pytest.mark.parametrize("rates", [WARM, COLD])
def test_a_prompt_does_not_grow_with_the_conversation(fold: str, rates: Rates) -> None:
    done = Teller(limit=4_000, rates=rates).tell(*conversation(60, 200), profile=profile(LEAN, fold=fold))
    sizes = [told.tokens for told in done]
    assert max(sizes) <= 4_000
    assert max(sizes[40:]) <= max(sizes[:40])
    assert done[-1].managed.tokens.original > 12_000


@pytest.mark.note("3.3/2")
def test_no_fact_is_repeated_that_the_messages_behind_it_say() -> None:
    teller = Teller(limit=4_000, rates=COLD)
    said = [system("be brief"), user("Prefiero té sin azúcar."), assistant("Bien.")]
    for number in range(12):
        said += exchange(number, 250)

    def known(asked: Case) -> Memory:
        stated = fact("té sin azúcar", asked.chain[1])
        return Memory(standing=(stated,), facts=frozenset({stated.id}))

    shows = []
    for told in teller.tell(*said, user("¿Y ahora?"), memory=known):
        whole = shown(told)
        shows.append((whole.count("Prefiero té sin azúcar."), whole.count("] té sin azúcar")))
    assert set(shows) == {(1, 0), (0, 1)}
    assert shows[-1] == (0, 1)


# --- section 4: what is not sent --------------------------------------------------------------------------------------


@pytest.mark.note("1.3/2")
def test_of_what_tools_have_answered_only_the_newest_is_sent_whole() -> None:
    agent = profile(BUILT_IN["agent"], tool_results={"keep": 1})
    said: list[Said] = [system("look things up"), user("what is in all of the files?")]
    for number in range(12):
        said += [calling(f"call-{number}"), result(f"call-{number}", words(500, f"file{number}"))]
    told = Teller(rates=COLD).ask(*said, profile=agent)
    results = [each.text for each in told.sent if each.role == "tool"]
    assert len(results) == 12  # none is orphaned
    assert results[-1] == words(500, "file11")
    assert all(len(each) < 400 for each in results[:-2])


@pytest.mark.note("4.1/5")
def test_where_a_prompt_is_too_large_summaries_leave_before_the_last_turns_do() -> None:
    teller = Teller(limit=1_000, rates=COLD)
    small = profile(LEAN, window={"tokens": 60})
    said: list[Said] = [system("be brief")]
    for number in range(10):
        said += exchange(number, 40)
    before = teller.tell(*said, user("and?"), profile=small)[-1]
    assert before.state.fold is not None
    assert before.state.fold.summaries
    assert kept(before)
    room = 1_000 - before.tokens + before.state.fold.head_tokens // 2
    after = teller.ask(*said, user(words(room)), profile=small)
    assert after.managed.tokens.sent <= 1_000
    assert after.state.fold is not None
    assert len(after.state.fold.summaries) < len(before.state.fold.summaries)
    assert kept(after) == kept(before)


@pytest.mark.note("4.1/4")
def test_a_question_alone_above_the_limit_is_sent_whole_and_said_to_be_over_it() -> None:
    done = Teller(limit=4_000, rates=WARM).tell(*conversation(5)[:-1], user(words(5_000)))
    assert done[-1].managed.kind == "over-budget"
    assert done[-1].sent[-1].text.endswith(words(5_000))
    assert done[-1].tokens < SYSTEM + 5_000 + 50


# --- section 8: the note's own example --------------------------------------------------------------------------------

DECISION = "Decidí usar Kubernetes en vez de docker-compose para el deployment."
QUESTION = "¿Cómo quedó lo que decidimos ayer sobre el deployment?"


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_upstream() as upstream:
        yield upstream


@pytest.fixture
async def services(running: Upstream) -> AsyncIterator[Services]:
    async with serving(in_front_of(running, reuse={"exact": {"enabled": False}})) as services:
        running.bodies()
        yield services


_numbers = count(1)


async def say(services: Services, session: str, at: float, said: Sequence[Said]) -> Said:
    """The answer, once what it says is remembered."""
    headers = (("authorization", f"Bearer {KEY}"), ("x-olvido-session", session))
    raw = body(*said, model="demo-chat")
    tenant = services.authenticator.tenant(headers)
    answer = await handle(Incoming(f"req_note{next(_numbers)}", headers, raw, at, tenant), services)
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    await services.tasks.drain(5.0)
    told: Said = msgspec.json.decode(answer.body)["choices"][0]["message"]
    return told


def scope_of(services: Services) -> str:
    return Scope(services.authenticator.tenant((("authorization", f"Bearer {KEY}"),))).id


async def remembered(services: Services) -> list[Fact]:
    found = []
    for scope in await services.library.facts.scopes():
        found += await services.library.facts.all(scope)
    return found


@pytest.mark.note("1.1/13", "1.2/6", "7 SÍ/1", "8/1", "8/2", "v2 Roadmap/3", "Capas/4", "Archivos/5")
async def test_what_was_decided_yesterday_is_in_the_prompt_of_who_asks_today(
    services: Services, running: Upstream
) -> None:
    rules = system("You are careful. " * 98)
    assert 390 <= len(encoding().encode(rules["content"])) <= 400
    yesterday = [rules, user(DECISION)]
    for number in range(6):
        yesterday.append(await say(services, "monday", NOW, yesterday))
        yesterday.append(user(f"Contame más del tema {number}. 200 words"))
    running.bodies()

    # Facts are there before any turn has left the window.
    (decided,) = await remembered(services)
    assert (decided.domain, decided.last_confirmed_at) == ("decisions", NOW)

    await say(services, "tuesday", NOW + DAY, [rules, user(QUESTION)])
    (sent,) = running.bodies()
    messages = msgspec.json.decode(sent)["messages"]
    assert messages[0] == rules
    assert "Kubernetes en vez de docker-compose" in messages[-1]["content"]
    assert messages[-1]["content"].endswith(QUESTION)
    tokens = len(encoding().encode("\n".join(said["content"] for said in messages)))
    assert tokens <= 490
    assert len(encoding().encode("\n".join(said["content"] for said in yesterday))) > 1_500

    # A question decides nothing; said again it is confirmed.
    assert await remembered(services) == [decided]
    await say(services, "tuesday", NOW + DAY, [rules, user(DECISION)])
    (again,) = await remembered(services)
    assert (again.id, again.last_confirmed_at) == (decided.id, NOW + DAY)


@pytest.mark.note("9.4/2")
async def test_a_prompt_above_its_limit_is_counted(services: Services) -> None:
    said = [user("hi"), assistant("hello"), user("word " * 5_000)]
    await say(services, "long", NOW, said)
    rows = await services.storage.ledger.recent(scope_of(services), 1)
    assert rows[0].plan == "over-budget"
    assert total(services, "olvido_plans_total", kind="over-budget") >= 1


@pytest.mark.note("9.4/1", "v2 SÍ/3")
async def test_the_ledger_tells_tokens_by_session(services: Services) -> None:
    for session in ("a", "b", "a"):
        await say(services, session, NOW, [user(f"hello {next(_numbers)}")])
    rows = await services.storage.ledger.recent(scope_of(services), 10)
    spent = [(row.session, row.tokens_sent > 0) for row in rows]
    assert sorted(spent) == [("a", True), ("a", True), ("b", True)]
