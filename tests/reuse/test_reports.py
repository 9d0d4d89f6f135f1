"""Strikes: who gives them, what they cost an entry, and what is none."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.model import IntentReuse
from proxy.reuse.partitions import Partitions
from proxy.reuse.reports import HIGHEST, MOST_STRIKES, SECOND_THOUGHT, STEP, Reports, raised
from proxy.storage.shared.local import LocalLastServed
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.types import Asked, Candidate, Continuity, Identity, ReuseDecision, ReuseEntry, Vector
from tests import stores
from tests.builders import NOW, chat, identity

QUESTION = "How do I descale a kettle?"
AGAIN = "How can I descale a kettle?"
VECTOR: Vector = np.array([1, 0], np.float32)
WHO = identity(chat())
SCOPE = WHO.scope.id
ENTRY = ReuseEntry("r-1", "p", QUESTION, (), "key", NOW, NOW + 60)


@dataclass
class House:
    store: SqliteReuse = field(default_factory=stores.reuse)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.partitions = Partitions(self.store, ThreadPoolExecutor(1))
        self.reports = Reports(IntentReuse(), self.partitions, self.store, self.told.append, LocalLastServed())
        self.partitions.add(SCOPE, ENTRY, VECTOR)

    async def entry(self) -> ReuseEntry:
        entry = await self.store.get(SCOPE, ENTRY.id)
        assert entry is not None
        return entry

    def counted(self, kind: str) -> int:
        return self.told.count(kind)


@pytest.fixture
def house() -> House:
    return House()


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
    question: str, follows_reuse: bool, continuity: Continuity, after: float, told: str | None, house: House
) -> None:
    house.reports.served(WHO, Candidate(ENTRY, 0.9), NOW)
    asked = asking(question, follows_reuse=follows_reuse)
    assert await house.reports.second_thought(continuing(continuity), asked, NOW + after) == told
    entry = await house.entry()
    assert (entry.strikes, entry.served) == (int(told is not None), 1)
    if told is not None:
        assert house.counted(told) == 1
        assert entry.min_cosine == pytest.approx(0.9 + STEP)


async def test_only_the_next_question_does(house: House) -> None:
    house.reports.served(WHO, Candidate(ENTRY, 0.9), NOW)
    assert await house.reports.second_thought(WHO, asking("What is a black hole?"), NOW) is None
    assert await house.reports.second_thought(WHO, asking(AGAIN), NOW) is None


async def test_the_last_strike_ends_an_entry(house: House) -> None:
    for _ in range(MOST_STRIKES):
        assert not (await house.entry()).is_evicted
        house.reports.served(WHO, Candidate(await house.entry(), 0.9), NOW)
        await house.reports.second_thought(WHO, asking(AGAIN), NOW)
    assert (await house.entry()).is_evicted


async def test_a_report_ends_it_at_once_above_the_cosine_that_went_wrong(house: House) -> None:
    house.store.log(SCOPE, ReuseDecision("req_1", NOW, "hit", ENTRY.id, 0.93, AGAIN, QUESTION))
    house.store.log(SCOPE, ReuseDecision("req_2", NOW, "unmatched", ENTRY.id, 0.98, "another", QUESTION))
    ended = await house.reports.wrong(ENTRY.id, NOW)
    assert ended is not None
    assert ended.is_evicted
    assert ended.min_cosine == pytest.approx(0.93 + STEP)


async def test_a_report_that_comes_twice_is_one(house: House) -> None:
    once = await house.reports.wrong(ENTRY.id, NOW)
    assert await house.reports.wrong(ENTRY.id, NOW + 1) == once
    assert house.counted("wrong") == 1


async def test_of_an_entry_that_nobody_knows_there_is_none(house: House) -> None:
    assert await house.reports.wrong("r-unknown", NOW) is None


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
