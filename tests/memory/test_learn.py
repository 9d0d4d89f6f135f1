"""What is remembered of a request once it is answered."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory import ingesting, learn
from proxy.memory.commands import commands
from proxy.memory.extract import extract
from proxy.memory.learn import QUEUED_AT_ONCE, Learner
from proxy.memory.library import Library
from proxy.observe.metrics import Metrics
from proxy.protocol.message import message
from proxy.storage.shared.learnt import LocalOpenTurns
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Attempts, Tasks
from proxy.types import (
    ArchivedTurn,
    Directives,
    Exchange,
    Forgetting,
    PathState,
    Plan,
    PromptTokens,
    ReuseMiss,
    SessionSource,
    Statement,
    Vector,
)
from tests import stores
from tests.builders import NOW, Said, assistant, calling, chat, identity, incoming, links, result, user
from tests.examples import examples
from tests.stores import AtOnce

STATE = PathState(1, 1.0, 0, 0, 9, 9, 9, 9.0, 9.0)
MANAGED = Plan("untouched", PromptTokens(9, 9), state=STATE)
UNMANAGED = Plan("untouched", PromptTokens(9, 9))
ALLERGIC = user("Remember that I'm allergic to nuts.")


class Archive(SqliteArchive):
    """Tells what was added."""

    def __init__(self) -> None:
        super().__init__(AtOnce(), stores.FOR_EVER)
        self.added: list[tuple[ArchivedTurn, bool]] = []

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        self.added.append((turn, vectors is not None))
        super().add(scope, turn, vectors)


@dataclass
class House:
    facts: SqliteFacts = field(default_factory=stores.facts)
    archive: Archive = field(default_factory=Archive)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    tasks: Tasks = field(default_factory=Tasks)
    metrics: Metrics = field(default_factory=Metrics)
    is_on: bool = True  # contexts are managed
    on_learnt: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        self.library = Library(self.facts, self.archive, stores.states(), stores.wipes(), self.executor, self.tasks)
        self.open_turns = LocalOpenTurns()
        self.learner = Learner(
            self.library,
            self.executor,
            self.tasks,
            self.open_turns,
            is_on=self.is_on,
            on_learnt=lambda _: self.on_learnt(),
        )

    async def learn(
        self,
        *said: Said,
        answer: Mapping[str, Any] | None = None,
        plan: Plan = MANAGED,
        directives: Directives | None = None,
        known: int = 0,
        at: float = NOW,
        source: SessionSource = "header",
    ) -> tuple[bytes, ...]:
        """The links of what was said."""
        request = chat(*said)
        who = replace(identity(request), known=known, session_source=source)
        exchange = Exchange(
            replace(incoming(), received_at=at),
            request,
            who,
            directives or Directives(),
            ReuseMiss("absent"),
            plan,
            "up",
            started=0.0,
        )
        chain = links(who.scope.id, [*said, *([answer] if answer else [])])
        attempts = Attempts(self.metrics.failed_open)
        self.learner.delivered(exchange, chain, [message(answer)] if answer else [], attempts)
        assert await self.tasks.drain(5.0) == 0
        assert (list(attempts.failed), self.learner.pending) == ([], 0)
        return chain

    async def values(self) -> list[str]:
        return [each.value for each in await self.facts.all(SCOPE) if each.superseded_by is None]

    def turns(self) -> list[int]:
        return [turn.number for turn, _ in self.archive.added]


SCOPE = identity(chat()).memory


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    yield opened
    opened.executor.shutdown()


async def test_the_state_is_kept_before_anything_is_waited_for(house: House) -> None:
    request = chat(user("hi"))
    exchange = Exchange(
        incoming(), request, identity(request), Directives(), ReuseMiss("absent"), MANAGED, "up", started=0.0
    )
    chain = identity(request).chain
    house.learner.delivered(exchange, chain, [], Attempts(house.metrics.failed_open))
    assert await house.library.paths.last(SCOPE, (*chain, b"next")) == (STATE, 1)
    await house.tasks.drain(5.0)


async def test_who_wants_to_know_is_told_of_a_request_once_its_turns_are_queued(house: House) -> None:
    told: list[list[int]] = []
    house.on_learnt = lambda: told.append(house.turns())
    await house.learn(ALLERGIC, answer=assistant("Noted."))
    await house.learn(user("no"), answer=assistant("k"), directives=Directives(remember=False))
    assert told == [[1]]
    assert len(await house.values()) == 1


async def test_a_turn_is_archived_once_it_is_over_and_once_only(house: House) -> None:
    said = [user("one"), assistant("1"), user("two"), calling("c"), result("c")]
    await house.learn(*said[:1], answer=said[1])
    assert house.turns() == [1]
    await house.learn(*said[:3], answer=said[3])  # it calls a tool: the turn goes on
    assert house.turns() == [1]
    chain = await house.learn(*said, answer=assistant("2"))
    assert house.turns() == [1, 2]
    shelf = await house.library.shelf(SCOPE)
    assert all(link in shelf.index for link in (chain[0], chain[1], chain[2], chain[5]))


class Queue(Archive):
    """Tells how many turns were waiting at most."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = self.most = 0

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        super().add(scope, turn, vectors)
        self.waiting += 1
        self.most = max(self.most, self.waiting)

    async def flush(self) -> None:
        self.waiting = 0


async def test_a_very_long_history_is_written_bit_by_bit() -> None:
    house = House(archive=(queue := Queue()))
    await house.learn(*[said for number in range(1_200) for said in (user(f"q{number}"), assistant("yes"))], user("q"))
    assert len(queue.added) == 1_200
    assert queue.most <= QUEUED_AT_ONCE
    house.executor.shutdown()


async def test_a_turn_that_calls_is_held_until_it_is_over_where_a_conversation_is_sent_bit_by_bit(house: House) -> None:
    said = [user("one"), assistant("1"), user("two"), calling("c"), result("c")]
    who = identity(chat(user("one")))
    await house.learn(*said[:3], answer=said[3])
    held = await house.open_turns.get(who.memory, who.session)
    assert held is not None
    assert [each.data for each in held.messages] == said[2:4]
    await house.learn(*said)  # no answer came
    assert await house.open_turns.get(who.memory, who.session) == held
    await house.learn(*said, answer=assistant("2"))
    assert await house.open_turns.get(who.memory, who.session) is None


async def test_a_history_that_is_new_is_archived_whole(house: House) -> None:
    await house.learn(user("one"), assistant("1"), user("two"), assistant("2"), user("three"))
    assert house.turns() == [1, 2]


async def test_an_answer_that_did_not_come_is_no_turn(house: House) -> None:
    await house.learn(user("one"))
    assert house.turns() == []


async def test_of_what_is_not_managed_only_what_no_request_had_is_archived_and_none_indexed(house: House) -> None:
    said = [user("one"), assistant("1"), user("two")]
    await house.learn(*said, answer=assistant("2"), plan=UNMANAGED, known=2)
    assert house.turns() == [2]
    assert len((await house.library.shelf(SCOPE)).index) == 0


@pytest.mark.note("Capas/4", "Flush/1", "Flush/4", "Decisiones/5", "Rumi Sesión/1", "Rumi ADR/3")
@pytest.mark.parametrize(
    ("said", "known", "expected"),
    [
        ([ALLERGIC], 0, 1),
        ([ALLERGIC], 1, 0),  # an earlier request said so, and it was learnt then
        ([assistant("Remember that I'm allergic to nuts."), user("ok")], 0, 0),
        ([user("Am I allergic to nuts?")], 0, 0),
        ([ALLERGIC, assistant("ok"), ALLERGIC], 0, 1),
    ],
)
async def test_what_the_user_states_is_learnt(said: list[Said], known: int, expected: int, house: House) -> None:
    await house.learn(*said, answer=assistant("Noted."), known=known)
    assert len(await house.values()) == expected


@pytest.mark.parametrize(
    ("opening", "learnt"),
    [
        ("You are a pirate and I am your mate Tom.", []),
        ("Sos un pirata y yo soy tu grumete Tom.", []),
        ("Is chess hard to learn?", ["I'm allergic to nuts"]),
    ],
)
async def test_nothing_is_learnt_of_what_is_said_in_a_role_play(opening: str, learnt: list[str], house: House) -> None:
    await house.learn(user(opening), assistant("Aye."), user("I'm allergic to nuts."), answer=assistant("Arr."))
    assert sorted(await house.values()) == learnt


async def test_the_same_request_again_teaches_nothing_new(house: House) -> None:
    await house.learn(ALLERGIC, answer=assistant("Noted."))
    before = await house.facts.all(SCOPE)
    await house.learn(ALLERGIC, answer=assistant("Noted."))
    assert await house.facts.all(SCOPE) == before


async def test_of_a_conversation_that_goes_on_only_what_is_new_is_read(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def told(parts: Sequence[str], before: str = "") -> tuple[Forgetting, ...]:
        heard.append(parts[0])
        return commands(parts, before)

    monkeypatch.setattr(ingesting, "commands", told)
    said: list[Said] = []
    for number in range(4):
        said.append(user(f"Question {number}?"))
        await house.learn(*said, answer=assistant("Yes."), known=max(0, len(said) - 1))
        said.append(assistant("Yes."))
    assert heard == [f"Question {number}?" for number in range(4)]


SAYINGS = [
    ALLERGIC,
    user("I live in Cork."),
    user("I moved to Galway last week."),
    user("You are a pirate and I am your mate Tom."),
    user("Summarise the text that I send you next."),
    user("Forget that I live in Cork."),
    user("I have two sons."),
    user("Forget that."),
    user("Forget everything."),
    user("Is chess hard?"),
]


@given(st.lists(st.sampled_from(SAYINGS), max_size=7))
@settings(max_examples=examples(40), deadline=None)
def test_reading_on_teaches_the_same_as_reading_all_of_it_again(told: list[Said]) -> None:
    async def learnt(*, anew: bool) -> tuple[list[Any], list[int]]:
        house, said, known = House(), [], 0
        try:
            for each in told:
                said.append(each)
                await house.learn(*said, answer=assistant("Well."), known=known)
                said.append(assistant("Well."))
                known = len(said)
                if anew:
                    (await house.library.shelf(SCOPE)).heard.clear()
            facts = [(fact.value, fact.superseded_by is None, fact.turn) for fact in await house.facts.all(SCOPE)]
            return facts, house.turns()
        finally:
            house.executor.shutdown()

    assert asyncio.run(learnt(anew=False)) == asyncio.run(learnt(anew=True))


async def test_a_fact_knows_the_message_that_said_it(house: House) -> None:
    chain = await house.learn(user("Hi"), assistant("Hello"), ALLERGIC, answer=assistant("Noted."))
    (fact,) = await house.facts.all(SCOPE)
    assert (fact.links, fact.turn, fact.session) == ((chain[2],), 2, "s")


@pytest.mark.parametrize(
    ("directives", "keeps"),
    [
        (Directives(), True),
        (Directives(mode="meter"), True),
        (Directives(mode="off"), False),
        (Directives(remember=False), False),
        (Directives(store=False), True),  # that is about answers
    ],
)
async def test_nothing_is_kept_of_who_wants_nothing_kept(directives: Directives, keeps: bool, house: House) -> None:
    chain = await house.learn(ALLERGIC, answer=assistant("Noted."), directives=directives)
    assert bool(await house.values()) == bool(house.turns()) == keeps
    assert (await house.library.paths.last(SCOPE, (*chain, b"next")) is not None) == keeps


async def test_where_contexts_are_not_managed_only_what_a_named_session_goes_on_with_is_kept() -> None:
    house = House(is_on=False)
    await house.learn(ALLERGIC, answer=assistant("Noted."), plan=UNMANAGED, source="chain")
    assert (await house.values(), house.turns()) == ([], [])
    await house.learn(ALLERGIC, answer=assistant("Noted."), plan=UNMANAGED)
    assert (await house.values(), house.turns()) == ([], [1])
    house.executor.shutdown()


async def test_what_is_forgotten_is_not_learnt_again_from_a_history_that_has_it(house: House) -> None:
    said = [ALLERGIC, assistant("Noted.")]
    await house.learn(said[0], answer=said[1])
    await house.library.forget(SCOPE, await house.facts.all(SCOPE))
    house.archive.added.clear()
    await house.learn(*said, user("And now?"), answer=assistant("What?"))
    assert await house.values() == []
    assert house.turns() == [2]


async def test_who_sends_only_what_is_new_waits_until_what_was_answered_is_kept(house: House) -> None:
    request = chat(user("one"))
    exchange = Exchange(
        incoming(), request, identity(request), Directives(), ReuseMiss("absent"), MANAGED, "up", started=0.0
    )
    await house.learner.settled(exchange.identity)  # nothing to wait for
    chain = links(exchange.identity.scope.id, [user("one"), assistant("1")])
    house.learner.delivered(exchange, chain, [message(assistant("1"))], Attempts(house.metrics.failed_open))
    await house.learner.settled(exchange.identity)
    assert house.turns() == [1]
    await house.tasks.drain(5.0)


async def test_a_message_that_wants_something_forgotten_is_not_kept(house: House) -> None:
    await house.learn(user("Forget that I'm allergic to nuts."), answer=assistant("Done."))
    assert house.turns() == []


async def test_what_is_learnt_does_not_hold_up_the_answer(house: House) -> None:
    request = chat(ALLERGIC)
    exchange = Exchange(
        incoming(), request, identity(request), Directives(), ReuseMiss("absent"), MANAGED, "up", started=0.0
    )
    house.learner.delivered(exchange, identity(request).chain, [], Attempts(house.metrics.failed_open))
    assert house.learner.pending == 1
    assert await house.facts.all(SCOPE) == []
    await asyncio.sleep(0)
    await house.tasks.drain(5.0)
    assert len(await house.values()) == 1


def delivered(house: House, text: str, person: str, attempts: Attempts) -> None:
    request = chat(user(text))
    who = identity(request, person=person)
    exchange = Exchange(incoming(), request, who, Directives(), ReuseMiss("absent"), MANAGED, "up", started=0.0)
    house.learner.delivered(exchange, who.chain, [], attempts)


async def test_who_sends_much_keeps_nobody_else_waiting(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def told(*parts: str) -> tuple[Statement, ...]:
        order.append(parts[0])
        return extract(*parts)

    monkeypatch.setattr(ingesting, "extract", told)
    attempts = Attempts(house.metrics.failed_open)
    for number in range(10):
        delivered(house, f"I live at number {number}.", "many", attempts)
    delivered(house, "I live in Cork.", "one", attempts)
    assert await house.tasks.drain(5.0) == 0
    assert order.index("I live in Cork.") <= 2
    assert len(order) == 11


async def test_what_a_scope_has_too_much_of_is_not_learnt_and_counted(house: House) -> None:
    attempts = Attempts(house.metrics.failed_open)
    for number in range(learn.WAITING + 1):
        delivered(house, f"I live at number {number}.", "many", attempts)
    assert await house.tasks.drain(30.0) == 0
    assert attempts.failed == {"learn": "Overrun"}
    assert house.learner.pending == 0


# --- what was forgotten, and is said again ----------------------------------------------------------------------------

NOTED = assistant("Noted.")


async def forgotten(house: House, *, loses: bool) -> None:
    """It is said, forgotten ten seconds later, and the process may begin anew."""
    await house.learn(ALLERGIC, answer=NOTED)
    await house.library.forget(SCOPE, await house.facts.all(SCOPE), at=NOW + 10)
    if loses:
        house.__post_init__()
    assert await house.values() == []


@pytest.mark.parametrize("loses", [False, True], ids=["at once", "after a restart"])
@pytest.mark.parametrize("known", [0, 1], ids=["as if it were new", "its message is known"])
@pytest.mark.parametrize("plan", [MANAGED, UNMANAGED], ids=["managed", "unmanaged"])
async def test_said_again_by_the_newest_message_it_is_learnt_again(
    known: int, plan: Plan, loses: bool, house: House
) -> None:
    await forgotten(house, loses=loses)
    await house.learn(ALLERGIC, answer=NOTED, known=known, at=NOW + 20, plan=plan)
    assert await house.values() == ["I'm allergic to nuts"]
    turn = links(SCOPE, [ALLERGIC, NOTED])[-1]
    assert await house.archive.known(SCOPE, [turn]) == {turn}
    await house.library.forget(SCOPE, await house.facts.all(SCOPE), at=NOW + 30)
    await house.learn(ALLERGIC, NOTED, user("And now?"), answer=NOTED, at=NOW + 40)
    assert await house.values() == []


@pytest.mark.parametrize("loses", [False, True], ids=["at once", "after a restart"])
@pytest.mark.parametrize("plan", [MANAGED, UNMANAGED], ids=["managed", "unmanaged"])
@pytest.mark.parametrize(
    ("said", "at"),
    [
        ([ALLERGIC, NOTED, user("What may I eat?")], NOW + 20),  # a history that is sent again
        ([ALLERGIC, NOTED], NOW + 20),
        ([ALLERGIC], NOW + 10),  # it was under way when it was forgotten
        ([ALLERGIC], NOW + 5),
    ],
)
async def test_in_a_history_or_from_before_it_is_not(
    said: list[Said], at: float, plan: Plan, loses: bool, house: House
) -> None:
    await forgotten(house, loses=loses)
    await house.learn(*said, answer=NOTED, at=at, plan=plan)
    assert await house.values() == []
    shelf = await house.library.shelf(SCOPE)
    await house.library.indexes.read(SCOPE, shelf)
    assert links(SCOPE, [ALLERGIC])[0] not in shelf.index


async def test_nor_is_a_command_that_is_given_again_kept(house: House) -> None:
    command = user("Forget that I'm allergic to nuts.")
    await house.learn(ALLERGIC, answer=NOTED)
    chain = await house.learn(command, answer=NOTED)
    await house.library.forget(SCOPE, await house.facts.all(SCOPE), chain[:1], at=NOW + 10)
    await house.learn(command, answer=NOTED, at=NOW + 20)
    assert house.library.has_forgotten(SCOPE, chain[:1])
