"""The judge: about which misses it is asked, what it is sent, what counts as a yes, and what it may cost."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.reuse import IntentReuse, Judge
from proxy.reuse.judging import (
    CERTAIN,
    DAY,
    FAILURES,
    HIGHEST,
    JUDGEABLE,
    MINUTE,
    MOST_STRIKES,
    SECOND_THOUGHT,
    STEP,
    Judging,
    Reply,
    Reports,
    Result,
    question,
    raised,
    says_same,
)
from proxy.reuse.partitions import Partitions
from proxy.reuse.verdict import REASONS
from proxy.storage.reuse import MOST_JUDGED
from proxy.storage.shared.learnt import LocalLastServed
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.types import (
    Asked,
    Candidate,
    Continuity,
    Directives,
    Identity,
    Incoming,
    Json,
    Judgement,
    ReuseDecision,
    ReuseEntry,
    ReuseHit,
    ReuseMiss,
    Vector,
)
from tests import stores
from tests.builders import NOW, assistant, chat, completion, identity, incoming, ledger_row, user
from tests.reuse.test_intent import ASKED, House, opening, reason, said

REFUSED = "How do I decalcify a coffee machine?"
SCOPE = opening(chat()).scope.id
COST = 0.001
YES, NO = '{"same": true}', '{"same": false}'


@dataclass
class Scripted:
    """Answers as it is told, and errs at every `errs`-th question."""

    text: str | None = YES  # None: it fails
    errs: int = 0
    cost: float = COST
    settings: Mapping[str, Json] = field(default_factory=lambda: {"model": "small"})
    asked: list[dict[str, Any]] = field(default_factory=list)
    gate: asyncio.Event | None = None

    def most(self, body: bytes) -> float:
        assert body
        return 2 * COST

    async def ask(self, incoming: Incoming, identity: Identity, body: bytes) -> Reply | None:
        self.asked.append(msgspec.json.decode(body))
        if self.gate is not None:
            await self.gate.wait()
        if self.text is None:
            return None
        errs = self.errs and len(self.asked) % self.errs == 0
        return Reply(completion({YES: NO, NO: YES}[self.text] if errs else self.text), self.cost)


@dataclass
class Judged(House):
    """Reuse by intent with a judge."""

    config: IntentReuse = field(
        default_factory=lambda: IntentReuse(
            judge=Judge(upstream="up", model="small", max_spend=1.0, max_per_minute=100)
        )
    )
    model: Scripted = field(default_factory=Scripted)
    told: list[Result] = field(default_factory=list)
    ledger: Any = field(default_factory=lambda: stores.storage().ledger)
    _judging: Judging | None = None

    @property
    def judging(self) -> Judging:
        if self._judging is None:
            assert self.config.judge is not None
            self._judging = Judging(
                self.config.judge,
                self.model,
                self.intent.partitions,
                self.ledger,
                breakers=self.shared.breakers,
                told=self.told.append,
                tasks=self.tasks,
            )
        return self._judging

    async def considered(self, request: Any, **how: Any) -> ReuseHit | ReuseMiss:
        """Asks; if it is a miss the judge may rule on, waits for that."""
        result = await self.ask(request, **how)
        if isinstance(result, ReuseMiss):
            who = how.get("who") or opening(chat(user(request)) if isinstance(request, str) else request)
            self.judging.consider(incoming(at=self.now), who, result)
            await self.tasks.drain(10.0)
        return result


@pytest.fixture
async def house() -> AsyncIterator[Judged]:
    opened = Judged()
    yield opened
    opened.executor.shutdown()


# --- a ruling and what follows ----------------------------------------------------------------------------------------


async def test_a_yes_makes_the_next_such_question_a_hit(house: Judged) -> None:
    await house.answered(ASKED, "With vinegar.")
    missed = await house.considered(REFUSED)
    assert reason(missed) in JUDGEABLE
    hit = await house.considered(REFUSED)
    assert said(hit).endswith("With vinegar.")
    assert house.told == ["same"]
    served, refused = await house.store.recent(SCOPE)
    assert (served.result, served.guards) == ("hit", "judged same by small")
    assert refused.result == reason(missed)


async def test_a_no_is_remembered_and_not_asked_again(house: Judged) -> None:
    house.model.text = NO
    await house.answered(ASKED)
    first, second = [await house.considered(REFUSED) for _ in range(2)]
    assert reason(first) == reason(second) in JUDGEABLE
    assert isinstance(second, ReuseMiss)
    assert second.doubt is None
    assert (len(house.model.asked), house.told) == (1, ["different"])
    assert (await house.store.recent(SCOPE))[0].guards.endswith("judged different by small")


async def test_rulings_outlive_the_process(house: Judged) -> None:
    await house.answered(ASKED, "With vinegar.")
    await house.considered(REFUSED)
    later = Judged(store=house.store, answers=house.answers)
    assert said(await later.ask(REFUSED)).endswith("With vinegar.")


async def test_without_a_judge_nothing_is_asked_and_its_rulings_count_no_more(house: Judged) -> None:
    await house.answered(ASKED)
    await house.considered(REFUSED)
    without = Judged(config=IntentReuse(), store=house.store, answers=house.answers)
    missed = await without.ask(REFUSED)
    assert isinstance(missed, ReuseMiss)
    assert missed.doubt is None


async def test_a_wrong_yes_that_is_reported_is_used_no_more_and_not_asked_for_again(house: Judged) -> None:
    await house.answered(ASKED)
    await house.considered(REFUSED)
    hit = await house.ask(REFUSED)
    assert isinstance(hit, ReuseHit)
    await house.intent.reports.wrong(hit.entry_id, NOW + 1)
    assert reason(await house.considered(REFUSED)) == "absent"
    house.now = NOW + 60
    await house.answered(ASKED)  # the entry comes again, with its strike
    assert reason(await house.considered(REFUSED)) == "reported"
    assert len(house.model.asked) == 1


async def test_of_a_judge_that_errs_one_time_in_five_the_wrong_ones_end_with_a_report(house: Judged) -> None:
    house.model = Scripted(NO, errs=5)
    hits = []
    for number in range(20):
        person = f"p{number}"
        request = chat(user(ASKED))
        await house.answered(request, "With vinegar.", who=opening(request, person=person))
        asking = chat(user(REFUSED))
        who = opening(asking, person=person)
        await house.considered(asking, who=who)
        again = await house.considered(asking, who=who)
        if isinstance(again, ReuseHit):
            hits.append(person)
            await house.intent.reports.wrong(again.entry_id, NOW + 1)
            assert isinstance(await house.considered(asking, who=who), ReuseMiss)
    assert (len(hits), house.told.count("same"), house.told.count("different")) == (4, 4, 16)
    assert len(house.model.asked) == 20


@pytest.mark.parametrize("ends", ["struck", "evicted", "answered anew", "expired"])
async def test_rulings_end_with_what_they_are_about(house: Judged, ends: str) -> None:
    await house.answered(ASKED, "With vinegar.")
    await house.considered(REFUSED)
    hit = await house.ask(REFUSED)
    assert isinstance(hit, ReuseHit)
    entry = await house.store.get(SCOPE, hit.entry_id)
    assert entry is not None
    assert entry.judged
    if ends == "struck":
        house.intent.partitions.raise_threshold(SCOPE, entry, 0.5, NOW, evict=False)
    elif ends == "evicted":
        house.intent.partitions.evict(SCOPE, entry, NOW)
    elif ends == "expired":
        house.now = NOW + house.config.ttl + 1
    else:
        house.now = NOW + 1
        vector = (await house.embedder.embed([ASKED]))[0]
        house.intent.partitions.add(SCOPE, replace(entry, created_at=NOW + 1, judged=()), vector)
    assert isinstance(await house.ask(REFUSED), ReuseMiss)


# --- about what it is asked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "cosine", "directives", "is_asked"),
    [
        (REFUSED, 0.97, Directives(), True),
        (REFUSED, 0.8, Directives(), True),
        (REFUSED, 0.79, Directives(), False),
        (REFUSED, 0.97, Directives(store=False), False),
        (REFUSED, 0.97, Directives(lookup=False), False),
        (REFUSED, 0.97, Directives(lookup=False, store=False), False),
        ("How do I descale 2 coffee machines?", 0.97, Directives(), False),  # numbers are no matter of opinion
        ("What time is it right now?", 0.97, Directives(), False),  # the gate
        ("¿Cómo descalcifico una cafetera?", 0.97, Directives(), False),  # another partition
    ],
)
async def test_only_a_near_neighbour_that_the_comparison_refused_is_asked_about(
    house: Judged, question: str, cosine: float, directives: Directives, *, is_asked: bool
) -> None:
    house.embedder.cosines[question] = cosine + 1e-6
    await house.answered(ASKED)
    await house.considered(question, directives=directives)
    assert bool(house.model.asked) == is_asked


async def test_nobody_elses_neighbour_is_asked_about_and_no_ruling_is_used_elsewhere(house: Judged) -> None:
    mine, theirs = (opening(chat(user(REFUSED)), person=name) for name in ("me", "them"))
    await house.answered(ASKED, who=mine)
    await house.considered(REFUSED, who=theirs)
    assert house.model.asked == []
    await house.answered(ASKED, who=theirs)
    await house.considered(REFUSED, who=mine)
    assert isinstance(await house.ask(REFUSED, who=mine), ReuseHit)
    assert isinstance(await house.ask(REFUSED, who=theirs), ReuseMiss)
    assert isinstance(await house.ask(REFUSED, who=mine, upstream="another"), ReuseMiss)


@pytest.mark.parametrize(("before", "is_asked"), [("What is a Nespresso?", True), ("What is a moka pot?", False)])
async def test_other_contexts_are_another_question(house: Judged, before: str, *, is_asked: bool) -> None:
    def after(first: str, question: str) -> Any:
        return chat(user(first), assistant("Sure."), user(question))

    await house.answered(after("What is a Nespresso?", ASKED))
    await house.considered(after(before, REFUSED))
    assert bool(house.model.asked) == is_asked


async def test_of_one_entry_there_are_so_many_rulings(house: Judged) -> None:
    await house.answered(ASKED)
    ((entry, _),) = (await house.store.changes(SCOPE, (await _partition(house)), 0, NOW)).entries
    for number in range(MOST_JUDGED):
        ruling = Judgement(f"r-{number}", False, "small", entry.created_at, 0)
        house.intent.partitions.judge(SCOPE, replace(entry, judged=()), ruling)
    await house.considered(REFUSED)
    assert house.model.asked == []


async def _partition(house: Judged) -> str:
    result = await house.ask(ASKED)
    assert isinstance(result, ReuseHit)
    entry = await house.store.get(SCOPE, result.entry_id)
    assert entry is not None
    return entry.partition


def test_what_is_certain_is_a_reason_of_the_comparison() -> None:
    assert CERTAIN < REASONS
    assert "hit" not in JUDGEABLE


# --- what it is sent, and what it says --------------------------------------------------------------------------------


@given(st.text(), st.text())
def test_both_questions_are_strings_of_an_object_whatever_they_say(asked: str, earlier: str) -> None:
    body = msgspec.json.decode(question({"model": "small"}, asked, earlier))
    assert body.keys() == {"model", "messages"}
    system, pair = body["messages"]
    assert (system["role"], pair["role"]) == ("system", "user")
    assert msgspec.json.decode(pair["content"]) == {"first": earlier, "second": asked}
    assert system == msgspec.json.decode(question({}, "", ""))["messages"][0]


@pytest.mark.parametrize(
    ("said", "same"),
    [
        (completion(YES), True),
        (completion(' {"same":\n true } '), True),
        (completion(NO), False),
        (completion("yes"), False),
        (completion("true"), False),
        (completion(f"```json\n{YES}\n```"), False),
        (completion(f"{YES} because"), False),
        (completion('{"same": "true"}'), False),
        (completion('{"same": 1}'), False),
        (completion('{"same": true, "same": false}'), False),
        (completion('{"same": false, "same": true}'), False),
        (completion('{"same": true, "why": ""}'), False),
        (completion('{"Same": true}'), False),
        (completion(f"[{YES}]"), False),
        (completion(""), False),
        (completion(None), False),
        (completion(YES, finish_reason="length"), False),
        (completion(YES, refusal="no"), False),
        (completion(YES, tool_calls=[{"id": "x"}]), False),
        ({"choices": []}, False),
        ({}, False),
    ],
)
def test_anything_but_a_clean_yes_is_a_no(said: Mapping[str, Any], *, same: bool) -> None:
    assert says_same(said) == same


# --- limits -----------------------------------------------------------------------------------------------------------


def limited(**limits: Any) -> Judged:
    return Judged(config=IntentReuse(judge=Judge(upstream="up", model="small", **limits)))


async def ask_of(house: Judged, people: range) -> None:
    """Each of them asks, and has the neighbour refused: a pair of its own scope."""
    for number in people:
        request = chat(user(ASKED))
        await house.answered(request, who=opening(request, person=f"p{number}"))
        asking = chat(user(REFUSED))
        await house.considered(asking, who=opening(asking, person=f"p{number}"))


async def ask_about(house: Judged, many: int, **how: Any) -> None:
    """So many questions of one scope, which have one neighbour."""
    await house.answered(ASKED)
    for number in range(many):
        await house.considered(f"How do I decalcify a {'very ' * number}old coffee machine?", **how)


async def test_no_more_is_spent_on_a_scope_in_a_day_than_is_allowed() -> None:
    house = limited(max_spend=5 * COST)
    await ask_about(house, 8)
    assert len(house.model.asked) * COST <= 5 * COST
    assert house.told == ["same"] * 4 + ["capped"] * 4  # a fifth might have cost twice what it does
    house.now = NOW - NOW % DAY + DAY
    await house.considered(REFUSED)
    assert house.told[-1] == "same"


async def test_one_scopes_spending_is_not_anothers() -> None:
    house = limited(max_spend=2 * COST)
    await ask_of(house, range(5))
    assert house.told == ["same"] * 5


async def test_what_was_spent_before_the_start_counts() -> None:
    house = limited(max_spend=5 * COST)
    house.ledger.append(ledger_row(request_id="r1", scope=SCOPE, at=NOW - 1, reuse_reason="judge", cost=4 * COST))
    await ask_about(house, 1)
    assert house.told == ["capped"]


async def test_many_at_once_keep_within_the_limit_too() -> None:
    house = limited(max_spend=5 * COST)
    house.model.gate = asyncio.Event()
    await house.answered(ASKED)
    results = [await house.ask(f"How do I decalcify a {'very ' * number}old coffee machine?") for number in range(8)]
    for result in results:
        assert isinstance(result, ReuseMiss)
        house.judging.consider(incoming(), opening(chat()), result)
    await asyncio.sleep(0)
    house.model.gate.set()
    await house.tasks.drain(10.0)
    assert len(house.model.asked) == 2  # each might have cost two


async def test_a_minute_has_so_many_questions() -> None:
    house = limited(max_per_minute=3)
    await ask_of(house, range(5))
    assert house.told == ["same"] * 3 + ["capped"] * 2
    house.now += MINUTE
    await ask_of(house, range(5, 6))
    assert house.told[-1] == "same"


async def test_a_pair_is_asked_about_once_at_a_time(house: Judged) -> None:
    house.model.gate = asyncio.Event()
    await house.answered(ASKED)
    result = await house.ask(REFUSED)
    assert isinstance(result, ReuseMiss)
    for _ in range(3):
        house.judging.consider(incoming(), opening(chat(user(REFUSED))), result)
    house.model.gate.set()
    await house.tasks.drain(10.0)
    assert house.told == ["same"]


async def test_a_judge_that_fails_is_left_alone_and_nothing_is_remembered() -> None:
    house = limited(max_per_minute=100)
    house.model.text = None
    await ask_about(house, FAILURES + 4)
    assert len(house.model.asked) == FAILURES
    assert house.told == ["failed"] * FAILURES
    result = await house.ask("How do I decalcify a old coffee machine?")
    assert isinstance(result, ReuseMiss)
    assert result.doubt is not None
    assert result.doubt.entry.judged == ()


# --- reports ----------------------------------------------------------------------------------------------------------

QUESTION = "How do I descale a kettle?"
AGAIN = "How can I descale a kettle?"
VECTOR: Vector = np.array([1, 0], np.float32)
WHO = identity(chat())
WHOSE = WHO.scope.id
ENTRY = ReuseEntry("r-1", "p", QUESTION, (), "key", NOW, NOW + 60)


@dataclass
class Reported:
    store: SqliteReuse = field(default_factory=stores.reuse)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.partitions = Partitions(self.store, ThreadPoolExecutor(1))
        self.reports = Reports(IntentReuse(), self.partitions, self.store, self.told.append, LocalLastServed())
        self.partitions.add(WHOSE, ENTRY, VECTOR)

    async def entry(self) -> ReuseEntry:
        entry = await self.store.get(WHOSE, ENTRY.id)
        assert entry is not None
        return entry

    def counted(self, kind: str) -> int:
        return self.told.count(kind)


@pytest.fixture
def reported() -> Reported:
    return Reported()


def asking(question: str, *, follows_reuse: bool = True) -> Asked:
    return Asked("r-2", "q", "en", question, (QUESTION,), follows_reuse)


def continuing(continuity: Continuity) -> Identity:
    return replace(WHO, continuity=continuity)


@pytest.mark.parametrize(
    ("question", "follows_reuse", "continuity", "after", "told"),
    [
        (AGAIN, True, "continued", 1.0, "rephrased"),
        (QUESTION, True, "continued", 1.0, "rephrased"),
        (AGAIN, False, "continued", 1.0, None),  # somebody else's question, under a session's name that many use
        ("How do I descale a coffee machine?", True, "continued", 1.0, None),
        (AGAIN, True, "continued", SECOND_THOUGHT + 1, None),
        (QUESTION, False, "regenerated", 1.0, "regenerated"),
    ],
)
async def test_the_next_question_tells_whether_the_answer_was_right(
    question: str, follows_reuse: bool, continuity: Continuity, after: float, told: str | None, reported: Reported
) -> None:
    reported.reports.served(WHO, Candidate(ENTRY, 0.9), NOW)
    asked = asking(question, follows_reuse=follows_reuse)
    assert await reported.reports.second_thought(continuing(continuity), asked, NOW + after) == told
    entry = await reported.entry()
    assert (entry.strikes, entry.served) == (int(told is not None), 1)
    if told is not None:
        assert reported.counted(told) == 1
        assert entry.min_cosine == pytest.approx(0.9 + STEP)


async def test_only_the_next_question_does(reported: Reported) -> None:
    reported.reports.served(WHO, Candidate(ENTRY, 0.9), NOW)
    assert await reported.reports.second_thought(WHO, asking("What is a black hole?"), NOW) is None
    assert await reported.reports.second_thought(WHO, asking(AGAIN), NOW) is None


async def test_the_last_strike_ends_an_entry(reported: Reported) -> None:
    for _ in range(MOST_STRIKES):
        assert not (await reported.entry()).is_evicted
        reported.reports.served(WHO, Candidate(await reported.entry(), 0.9), NOW)
        await reported.reports.second_thought(WHO, asking(AGAIN), NOW)
    assert (await reported.entry()).is_evicted


async def test_a_report_ends_it_at_once_above_the_cosine_that_went_wrong(reported: Reported) -> None:
    reported.store.log(WHOSE, ReuseDecision("req_1", NOW, "hit", ENTRY.id, 0.93, AGAIN, QUESTION))
    reported.store.log(WHOSE, ReuseDecision("req_2", NOW, "unmatched", ENTRY.id, 0.98, "another", QUESTION))
    ended = await reported.reports.wrong(ENTRY.id, NOW)
    assert ended is not None
    assert ended.is_evicted
    assert ended.min_cosine == pytest.approx(0.93 + STEP)


async def test_a_report_that_comes_twice_is_one(reported: Reported) -> None:
    once = await reported.reports.wrong(ENTRY.id, NOW)
    assert await reported.reports.wrong(ENTRY.id, NOW + 1) == once
    assert reported.counted("wrong") == 1


async def test_of_an_entry_that_nobody_knows_there_is_none(reported: Reported) -> None:
    assert await reported.reports.wrong("r-unknown", NOW) is None


# --- thresholds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("min_cosine", "cosine", "needs"),
    [
        (0.0, 0.5, 0.5 + STEP),  # more than what went wrong
        (0.9, 0.5, 0.9 + STEP),  # reported for the second time, never less than before
        (0.9, 0.95, 0.95 + STEP),
        (0.0, 0.98, HIGHEST),
        (0.0, 1.0, HIGHEST),
        (HIGHEST, 1.0, HIGHEST),
    ],
)
def test_an_entry_that_went_wrong_needs_more(min_cosine: float, cosine: float, needs: float) -> None:
    assert raised(replace(ENTRY, min_cosine=min_cosine), cosine) == pytest.approx(needs)


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_no_report_lowers_a_threshold_and_none_shuts_out_an_identical_question(cosines: list[float]) -> None:
    known = ENTRY
    for cosine in cosines:
        needs = raised(known, cosine)
        assert known.min_cosine <= needs < 1
        assert needs > cosine or needs == HIGHEST
        known = replace(ENTRY, min_cosine=needs)
