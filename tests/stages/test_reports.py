"""Strikes: who gives them, what they cost an entry, and what is none."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from proxy.config.model import IntentReuse
from proxy.observe.metrics import Metrics
from proxy.reuse.feedback import MOST_STRIKES, SECOND_THOUGHT, STEP
from proxy.stages.reports import Reports
from proxy.storage.partitions import Partitions
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
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.partitions = Partitions(self.store, ThreadPoolExecutor(1))
        self.reports = Reports(IntentReuse(), self.partitions, self.store, self.metrics)
        self.partitions.add(SCOPE, ENTRY, VECTOR)

    async def entry(self) -> ReuseEntry:
        entry = await self.store.get(SCOPE, ENTRY.id)
        assert entry is not None
        return entry

    def counted(self, kind: str) -> float:
        return float(self.metrics.registry.get_sample_value("olvido_reuse_reports_total", {"kind": kind}) or 0)


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
    assert house.reports.second_thought(continuing(continuity), asked, NOW + after) == told
    entry = await house.entry()
    assert (entry.strikes, entry.served) == (int(told is not None), 1)
    if told is not None:
        assert house.counted(told) == 1
        assert entry.min_cosine == pytest.approx(0.9 + STEP)


async def test_only_the_next_question_does(house: House) -> None:
    house.reports.served(WHO, Candidate(ENTRY, 0.9), NOW)
    assert house.reports.second_thought(WHO, asking("What is a black hole?"), NOW) is None
    assert house.reports.second_thought(WHO, asking(AGAIN), NOW) is None


async def test_the_last_strike_ends_an_entry(house: House) -> None:
    for _ in range(MOST_STRIKES):
        assert not (await house.entry()).is_evicted
        house.reports.served(WHO, Candidate(await house.entry(), 0.9), NOW)
        house.reports.second_thought(WHO, asking(AGAIN), NOW)
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
