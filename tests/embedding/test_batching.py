"""Texts of several callers share runs, and nobody waits for somebody's hundred."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.embedding import EmbeddingUnavailable, Vectors
from proxy.embedding.batching import CALL_TEXTS, RUN_TEXTS, WAITING_TEXTS, Batcher
from proxy.tasks import Tasks
from tests.embedding.engines import FakeEngine, unavailable, until, vectors
from tests.examples import examples


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    tasks = Tasks()
    yield tasks
    await tasks.drain(0)


async def test_queries_of_one_moment_share_a_run(tasks: Tasks) -> None:
    engine = FakeEngine()
    batcher = Batcher(engine.vectors, tasks)
    texts = [f"query {number}" for number in range(8)]
    rows = await asyncio.gather(*(batcher.embed([text]) for text in texts))
    assert engine.runs == [texts]
    np.testing.assert_array_equal(np.concatenate(rows), vectors(texts))


async def test_queries_that_come_during_a_run_share_the_next(tasks: Tasks) -> None:
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    first = asyncio.gather(batcher.embed(["first"]))
    await until(lambda: engine.runs)
    others = asyncio.gather(*(batcher.embed([text]) for text in ("a", "b", "a")))
    await until(lambda: batcher.waiting == 3)
    engine.gate.set()
    await first
    rows = await others
    assert engine.runs == [["first"], ["a", "b"]]
    np.testing.assert_array_equal(np.concatenate(rows), vectors(["a", "b", "a"]))


async def test_a_question_does_not_wait_behind_a_hundred_passages(tasks: Tasks) -> None:
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    long = [asyncio.gather(batcher.embed([f"{call} {number}" for number in range(40)])) for call in range(5)]
    await until(lambda: engine.runs)
    question = asyncio.gather(batcher.embed(["question"]))
    await until(lambda: batcher.waiting == 5 * 40 - RUN_TEXTS + 1)
    engine.gate.set()
    await question
    assert any("question" in run for run in engine.runs[:3])  # of eight that the passages take
    for call, rows in enumerate(await asyncio.gather(*long)):
        np.testing.assert_array_equal(rows[0], vectors([f"{call} {number}" for number in range(40)]))
    assert max(map(len, engine.runs)) <= RUN_TEXTS
    assert {len([text for text in engine.runs[0] if text.startswith("0 ")])} == {CALL_TEXTS}


async def test_a_full_queue_refuses_at_once_and_takes_texts_again_when_there_is_room(tasks: Tasks) -> None:
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    running = asyncio.gather(batcher.embed(["running"]))
    await until(lambda: engine.runs)
    waiting = asyncio.gather(batcher.embed([str(number) for number in range(WAITING_TEXTS)]))
    await until(lambda: batcher.waiting == WAITING_TEXTS)
    with pytest.raises(EmbeddingUnavailable, match="too many"):
        await batcher.embed(["one more"])
    engine.gate.set()
    await running
    await waiting
    assert len(await batcher.embed(["one more"])) == 1


async def test_a_call_that_is_cancelled_leaves_the_queue(tasks: Tasks) -> None:
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    running = asyncio.gather(batcher.embed(["running"]))
    await until(lambda: engine.runs)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await batcher.embed(["given up"])
    assert batcher.waiting == 0
    kept = asyncio.gather(batcher.embed(["kept"]))
    engine.gate.set()
    await running
    await kept
    assert engine.runs == [["running"], ["kept"]]


async def test_a_caller_who_leaves_during_the_run_takes_nothing_from_the_others(tasks: Tasks) -> None:
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    leaving = asyncio.gather(batcher.embed(["leaving"]))
    staying = asyncio.gather(batcher.embed(["staying"]))
    await until(lambda: engine.runs)
    leaving.cancel()
    engine.gate.set()
    assert len(await staying) == 1
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_a_run_that_fails_fails_its_calls_and_no_later_one(tasks: Tasks) -> None:
    engine = FakeEngine(unavailable)
    batcher = Batcher(engine.vectors, tasks)
    failed = await asyncio.gather(batcher.embed(["a"]), batcher.embed(["b"] * 20), return_exceptions=True)
    assert [str(error) for error in failed] == ["not today", "not today"]
    engine.give = vectors
    assert len(await batcher.embed(["a"])) == 1


async def test_calls_still_there_when_the_work_is_stopped_are_refused() -> None:
    tasks = Tasks()
    engine = FakeEngine()
    engine.gate.clear()
    batcher = Batcher(engine.vectors, tasks)
    running = asyncio.gather(batcher.embed(["running"]), return_exceptions=True)
    await until(lambda: engine.runs)
    waiting = asyncio.gather(batcher.embed(["waiting"]), return_exceptions=True)
    await until(lambda: batcher.waiting)
    await tasks.drain(0)
    assert [type(result) for result in [*await running, *await waiting]] == [EmbeddingUnavailable] * 2


@settings(max_examples=examples(40))
@given(calls=st.lists(st.lists(st.text(max_size=2), min_size=1, max_size=70), min_size=1, max_size=8))
async def test_every_call_gets_the_vectors_of_its_texts_in_order(calls: Sequence[Sequence[str]]) -> None:
    async def run(texts: Sequence[str]) -> Vectors:
        assert len(set(texts)) == len(texts) <= RUN_TEXTS
        return vectors(texts)

    tasks = Tasks()
    batcher = Batcher(run, tasks)
    fitting = [call for index, call in enumerate(calls) if sum(map(len, calls[:index])) < WAITING_TEXTS]
    for call, rows in zip(fitting, await asyncio.gather(*(batcher.embed(call) for call in fitting)), strict=True):
        np.testing.assert_array_equal(rows, vectors(call))
    await tasks.drain(1)
