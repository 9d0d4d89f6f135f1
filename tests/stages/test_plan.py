"""What the upstream shall see: all of it, and what it will cost."""

from collections.abc import Iterator

import pytest

from proxy.stages.plan import MOST_COUNTED, plan
from proxy.tokens import Calibration, RoughCounter
from proxy.types import ChatRequest, Plan
from tests.builders import Executor, assistant, chat, counter, identity, user

SMALL = chat(user("hello world"), assistant("hi"), user("tell me more"))
LARGE = chat(user("word " * 20_000))
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


async def planned(request: ChatRequest, executor: Executor, *, calibration: Calibration | None = None) -> Plan:
    return await plan(
        request,
        identity(request),
        upstream="kimi",
        counter=counter(),
        calibration=calibration or Calibration(),
        executor=executor,
    )


async def test_a_request_is_left_as_it_is(executor: Executor) -> None:
    made = await planned(SMALL, executor)
    assert (made.kind, made.messages, made.reason) == ("untouched", None, "")


async def test_it_costs_its_messages_and_what_is_no_message(executor: Executor) -> None:
    request = chat(user("hello world"), assistant("hi"), tools=TOOLS)
    made = await planned(request, executor)
    expected = sum(counter().message(each) for each in request.messages) + counter().overhead(request)
    assert made.tokens_original == made.tokens_sent == expected
    assert made.rough == RoughCounter().request(request)  # what the upstream's own count will be compared with


async def test_once_this_upstream_has_told_what_it_counts_a_rough_count_is_enough(executor: Executor) -> None:
    learnt = Calibration()
    learnt.observe("kimi", LARGE.model, rough=1_000, measured=1_500)
    made = await planned(LARGE, executor, calibration=learnt)
    assert made.rough == RoughCounter().request(LARGE)
    assert made.tokens_original == made.tokens_sent == round(1.5 * made.rough)
    assert executor.submitted == 0


async def test_and_not_by_what_another_counted(executor: Executor) -> None:
    learnt = Calibration()
    learnt.observe("other", SMALL.model, rough=1_000, measured=1_500)
    learnt.observe("kimi", "another model", rough=1_000, measured=1_500)
    assert await planned(SMALL, executor, calibration=learnt) == await planned(SMALL, executor)


async def test_a_large_request_is_counted_off_the_event_loop(executor: Executor) -> None:
    await planned(LARGE, executor)
    assert executor.submitted == 1
    assert await planned(LARGE, executor) == await planned(LARGE, executor)


async def test_so_are_large_tools(executor: Executor) -> None:
    request = chat(tools=[{"type": "function", "function": {"name": "look", "description": "word " * 4_000}}])
    made = await planned(request, executor)
    assert executor.submitted == 1
    assert made.tokens_sent == counter().message(request.messages[0]) + counter().overhead(request)


async def test_of_a_request_beyond_every_context_a_rough_count_is_enough(executor: Executor) -> None:
    huge = chat(user("word " * (MOST_COUNTED // 5)))
    made = await planned(huge, executor)
    assert made.tokens_original == made.tokens_sent == made.rough == RoughCounter().request(huge)
    assert executor.submitted == 1
