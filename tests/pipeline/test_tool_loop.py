"""Answers in which the model calls tools of ours: the client gets one answer that knows nothing of them, whatever
happens in whichever round."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import UpstreamError
from proxy.pipeline import Services
from proxy.pipeline.tool_loop import answered
from proxy.protocol.accumulate import Accumulator
from proxy.protocol.chains import links_after
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import message
from proxy.protocol.sse import SseParser
from proxy.types import Answer, Round, ToolCall, Usage
from tests.builders import body, messages, result, system, user
from tests.embedding.engines import until
from tests.examples import examples
from tests.looping import (
    LOOK,
    REMEMBER,
    SCHEMAS,
    THEIRS,
    Recorder,
    Runner,
    Step,
    Upstream,
    asked,
    house,
    opened,
    read,
    run_rounds,
    said,
)
from tests.spoken import STYLES, Spoken, Style, joined, numbered, stream

OVER_SOCKETS = settings(max_examples=examples(40))
STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_rounds() as upstream:
        yield upstream


def question(*, streamed: bool, **fields: Any) -> bytes:
    streaming: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
    return body(system("Be brief."), user("What now?"), tools=[LOOK], **streaming, **fields)


def completion(raw: bytes) -> dict[str, Any]:
    if not raw.startswith(b"data:"):
        whole: dict[str, Any] = msgspec.json.decode(raw)
        return whole
    accumulator = Accumulator()
    for event in SseParser().feed(raw):
        accumulator.feed(event.data or b"")
    assert accumulator.complete
    return accumulator.completion()


def told(raw: bytes) -> dict[str, Any]:
    given: dict[str, Any] = completion(raw)["choices"][0]["message"]
    return {name: value for name, value in given.items() if value is not None and name != "role"}


def finish(raw: bytes) -> str:
    reason: str = completion(raw)["choices"][0]["finish_reason"]
    return reason


def rounds_of(*spoken: Spoken) -> list[Spoken]:
    return numbered(spoken)


OURS = Spoken("", (REMEMBER,))
OURS_WITH_TEXT = Spoken("Let me note that.", (REMEMBER,))
ANSWER = Spoken("It is noon.")


# --- the rounds as they should be ------------------------------------------------------------------------------------


@STREAMED
@pytest.mark.parametrize("spoken", [ANSWER, Spoken("", (THEIRS,)), Spoken("One moment.", (THEIRS, THEIRS))])
async def test_an_answer_without_calls_of_ours_is_passed_to_the_byte(
    running: Upstream, spoken: Spoken, streamed: bool
) -> None:
    (only,) = numbered([spoken])
    running.will(only)
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        answer, raw = await asked(services, question(streamed=streamed), runner)
    assert raw == (stream(only) if streamed else only.body)
    assert answer.status == 200
    assert (runner.ran, runner.kept) == ([], [])
    assert (recorder.one.outcome, recorder.one.rounds) == ("complete", ())
    assert len(running.asked) == 1


@pytest.mark.note("Rumi Tools/4")
@STREAMED
async def test_of_calls_of_ours_alone_the_client_gets_the_answer_that_follows_them(
    running: Upstream, streamed: bool
) -> None:
    first, second = rounds_of(OURS, ANSWER)
    running.will(first, second)
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
        context, _ = opened(services, question(streamed=streamed))
    assert told(raw) == {"content": "It is noon."}
    assert finish(raw) == "stop"
    assert completion(raw)["usage"] == {"prompt_tokens": 20, "completion_tokens": 6}
    # The model gets its own message and the result, behind the bytes that it got before.
    once, again = running.asked
    more = [first.message, {"role": "tool", "tool_call_id": first.calls[0].id, "content": "result 1 of remember"}]
    assert again == {**once, "messages": [*once["messages"], *more]}
    assert once["tools"] == [LOOK, *SCHEMAS]
    prefix, _, _ = running.raw[0].partition(b'],"tools"')
    assert running.raw[1].startswith(prefix)
    assert runner.ran == [([first.calls[0].id], 1)]
    # Kept: what stands between the question and the answer, which the client has as the model gave it.
    (hidden,) = runner.kept
    link = context.identity.chain[-1]
    assert (hidden.link, hidden.answer) == (link, links_after(link, [message(second.message)])[0])
    assert said(hidden.before) == more
    assert (hidden.instead, hidden.after, hidden.calls, hidden.tokens) == (b"", (), (), 13)
    # Recorded: one delivery, the sum of both rounds.
    delivery = recorder.one
    assert (delivery.outcome, delivery.usage) == ("complete", Usage(20, 6))
    assert delivery.rounds == (Round("up", Usage(10, 3)), Round("up", Usage(10, 3)))


@pytest.mark.note("SMMA 6/3")
@STREAMED
@pytest.mark.parametrize("order", [(REMEMBER, THEIRS), (THEIRS, REMEMBER)], ids=["ours first", "theirs first"])
async def test_of_both_in_one_turn_ours_are_run_and_hidden(
    running: Upstream, order: Sequence[Any], streamed: bool
) -> None:
    (both,) = rounds_of(Spoken("Well,", tuple(order)))
    running.will(both)
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    ours = next(call for call in both.calls if call.name == "remember")
    theirs = next(call for call in both.calls if call.name == "look")
    assert told(raw) == {"content": "Well,", "tool_calls": [theirs.json]}
    assert finish(raw) == "tool_calls"
    assert runner.ran == [([ours.id], 1)]
    (hidden,) = runner.kept
    assert hidden.calls == (theirs.id,)
    assert said([hidden.instead]) == [both.message]
    assert said(hidden.after) == [{"role": "tool", "tool_call_id": ours.id, "content": "result 1 of remember"}]
    assert hidden.before == ()
    assert recorder.one.rounds == ()
    assert len(running.asked) == 1


@STREAMED
async def test_a_turn_of_both_behind_one_of_ours_alone(running: Upstream, streamed: bool) -> None:
    first, second = rounds_of(OURS_WITH_TEXT, Spoken("Now look.", (REMEMBER, THEIRS, THEIRS), reasoning="Hm."))
    running.will(first, second)
    runner = Runner()
    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {
        "content": "Let me note that.\n\nNow look.",
        "reasoning_content": "Hm.",
        "tool_calls": [call.json for call in second.calls[1:]],
    }
    (hidden,) = runner.kept
    assert [each["role"] for each in said(hidden.before)] == ["assistant", "tool"]
    assert said([hidden.instead]) == [second.message]
    assert [each["tool_call_id"] for each in said(hidden.after)] == [second.calls[0].id]
    assert hidden.calls == tuple(call.id for call in second.calls[1:])


@STREAMED
async def test_an_answer_that_follows_a_text_is_kept_as_the_model_gave_it(running: Upstream, streamed: bool) -> None:
    first, second = rounds_of(OURS_WITH_TEXT, ANSWER)
    running.will(first, second)
    runner = Runner()
    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {"content": "Let me note that.\n\nIt is noon."}
    (hidden,) = runner.kept
    assert said([hidden.instead]) == [second.message]


@STREAMED
async def test_reasoning_goes_back_with_the_calls_and_is_kept_with_the_answer(
    running: Upstream, streamed: bool
) -> None:
    first, second = rounds_of(Spoken("", (REMEMBER,), reasoning="First"), Spoken("Noon.", reasoning="then"))
    running.will(first, second)
    runner = Runner()
    async with house(running.url, recorder=Recorder(), dialect="deepseek") as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {"content": "Noon.", "reasoning_content": "First\n\nthen"}
    assert running.asked[1]["messages"][-2]["reasoning_content"] == "First"
    assert said([runner.kept[0].instead]) == [second.message]


@pytest.mark.note("Caché 5.1/1")
@STREAMED
async def test_a_result_that_the_session_has_answers_the_clients_own_tool(running: Upstream, streamed: bool) -> None:
    known = Spoken("", (type(THEIRS)("get_time", '{"known":1}'),))
    running.will(*rounds_of(known, ANSWER))
    runner = Runner()
    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {"content": "It is noon."}
    assert running.asked[1]["messages"][-1]["content"] == "result 1 of get_time"


@STREAMED
async def test_usage_is_summed_for_us_where_the_client_has_not_asked_for_it(running: Upstream, streamed: bool) -> None:
    running.will(*rounds_of(OURS, ANSWER))
    recorder = Recorder()
    raw = body(user("hi"), stream=streamed)
    async with house(running.url, recorder=recorder) as services:
        _, got = await asked(services, raw, Runner())
    assert recorder.one.usage == Usage(20, 6)
    assert not streamed or b"usage" not in got


# --- caps ------------------------------------------------------------------------------------------------------------


@STREAMED
@pytest.mark.parametrize(
    ("settings", "ran"),
    [
        pytest.param({"rounds": 3}, 3, id="rounds"),
        pytest.param({"timeout": 1e-9}, 1, id="seconds"),
        pytest.param({"spend": 0.000_04}, 2, id="dollars"),
    ],
)
async def test_ours_for_ever_ends_at_the_cap_and_the_client_gets_what_was_said(
    running: Upstream, settings: dict[str, Any], ran: int, streamed: bool
) -> None:
    running.will(OURS_WITH_TEXT)
    runner = Runner(running=_at_once)
    async with house(running.url, recorder=Recorder(), tools=settings) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
        assert counted(services, "stripped") == 1
    assert len(runner.ran) == ran
    assert len(running.asked) == ran + 1
    contents = [each["content"] for each in running.asked[-1]["messages"] if each["role"] == "tool"]
    assert ["No more memory calls" in each for each in contents] == [False] * (ran - 1) + [True]
    assert told(raw) == {"content": "\n\n".join(["Let me note that."] * (ran + 1))}
    assert finish(raw) == "stop"
    (hidden,) = runner.kept
    assert said([hidden.instead]) == [{"role": "assistant", "content": "Let me note that."}]


async def _at_once(calls: Sequence[ToolCall], _round: int) -> Sequence[str]:
    return ["done"] * len(calls)


def counted(services: Any, ended: str) -> float:
    name = "olvido_memory_tool_rounds_total"
    return services.metrics.registry.get_sample_value(name, {"result": ended}) or 0.0


@STREAMED
async def test_ours_for_ever_with_nothing_said_gets_the_answer_to_the_clients_own_request(
    running: Upstream, streamed: bool
) -> None:
    running.will(OURS, OURS, OURS, ANSWER)
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder, tools={"rounds": 2}) as services:
        answer, raw = await asked(services, question(streamed=streamed), runner)
        assert (counted(services, "continued"), counted(services, "failed")) == (2, 1)
    assert raw == (stream(ANSWER) if streamed else ANSWER.body)
    assert running.raw[-1] == question(streamed=streamed)
    assert runner.kept == []
    assert dict(answer.headers)["x-olvido-plan"] == "fail-open;stage=tools"
    assert recorder.exchange.plan.messages is None
    assert recorder.one.usage == Usage(40, 12)


@STREAMED
async def test_in_the_last_round_the_clients_calls_stay(running: Upstream, streamed: bool) -> None:
    first, second = rounds_of(OURS, Spoken("", (REMEMBER, THEIRS)))
    running.will(first, second)
    runner = Runner()
    async with house(running.url, recorder=Recorder(), tools={"rounds": 1}) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {"tool_calls": [second.calls[1].json]}
    assert runner.ran == [([first.calls[0].id], 1)]
    (hidden,) = runner.kept
    assert hidden.after == ()
    assert hidden.calls == (second.calls[1].id,)


# --- failures, in every round -----------------------------------------------------------------------------------------

BAD = [pytest.param(Step(status=status), id=str(status)) for status in (400, 401, 404, 422, 429, 500, 503)] + [
    pytest.param(Step(ANSWER, fault="cut", events=0), id="cut before anything"),
    pytest.param(Step(ANSWER, fault="reset", events=0), id="reset before anything"),
    pytest.param(Step(OURS, fault="cut", events=2), id="cut in a call of ours"),
    pytest.param(Step(OURS, fault="error event", events=2), id="error in a call of ours"),
    pytest.param(Step(OURS, fault="gzip"), id="coded"),
    pytest.param(Step(OURS, fault="garbage"), id="garbage"),
    pytest.param(Step(Spoken("")), id="empty"),
]


@STREAMED
@pytest.mark.parametrize("bad", BAD)
async def test_a_later_round_that_fails_gives_way_to_the_clients_own_request(
    running: Upstream, bad: Step, streamed: bool
) -> None:
    running.will(Step(OURS), bad, Step(ANSWER))
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
        assert counted(services, "failed") == 1
    assert told(raw) == {"content": "It is noon."}
    assert finish(raw) == "stop"
    assert running.raw[-1] == question(streamed=streamed)
    assert runner.kept == []
    assert (recorder.one.outcome, recorder.one.status) == ("complete", 200)
    assert len(recorder.one.rounds) == 3
    assert (recorder.one.completion or completion(recorder.one.raw_completion or b""))["id"] == "chatcmpl-1"


@pytest.mark.parametrize("bad", [each for each in BAD if each.id != "empty"])
async def test_where_a_text_was_said_that_answer_follows_it(running: Upstream, bad: Any) -> None:
    running.will(Step(OURS_WITH_TEXT), bad, Step(ANSWER))
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        _, raw = await asked(services, question(streamed=True), runner)
    assert told(raw)["content"] == "Let me note that.\n\nIt is noon."
    assert b"remember" not in raw
    assert finish(raw) == "stop"
    assert runner.kept == []
    assert recorder.one.outcome == "complete"


async def test_where_calls_of_the_clients_were_passed_the_stream_breaks_off(running: Upstream) -> None:
    first, second = rounds_of(OURS, Spoken("", (THEIRS,)))
    running.will(Step(first), Step(second, fault="cut", events=3))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        answer = await answered(*opened(services, question(streamed=True)), Runner())
        heard: list[bytes] = []
        with pytest.raises(UpstreamError):
            await listen(answer, heard)
        got = b"".join(heard)
    assert got.rstrip().endswith(b'"code":"upstream_broken"}}')
    assert b"[DONE]" not in got
    assert recorder.one.outcome == "upstream_broken"
    assert len(running.asked) == 2


@pytest.mark.note("SMMA 9/1")
@STREAMED
@pytest.mark.parametrize("status", [400, 404, 422, 500])
async def test_an_upstream_that_may_refuse_our_tools_is_asked_without_them(
    running: Upstream, status: int, streamed: bool
) -> None:
    running.will(Step(status=status), Step(ANSWER))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        _, raw = await asked(services, question(streamed=streamed), Runner())
    assert raw == (stream(ANSWER) if streamed else ANSWER.body)
    assert running.raw[-1] == question(streamed=streamed)
    assert recorder.one.outcome == "complete"


@STREAMED
@pytest.mark.parametrize("status", [401, 403, 429, 502, 503])
async def test_other_errors_are_the_clients(running: Upstream, status: int, streamed: bool) -> None:
    running.will(Step(status=status))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        answer, raw = await asked(services, question(streamed=streamed), Runner())
    assert (answer.status, raw) == (status, b'{"error":{"message":"not today","type":"x"}}')
    assert (recorder.one.outcome, recorder.one.status) == ("upstream_error", status)
    assert len(running.asked) == 1


@STREAMED
async def test_an_error_of_the_clients_own_request_is_its_answer(running: Upstream, streamed: bool) -> None:
    running.will(Step(OURS), Step(status=503), Step(status=429))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        answer, _ = await asked(services, question(streamed=streamed), Runner())
    assert answer.status == 429
    assert (recorder.one.outcome, recorder.one.status) == ("upstream_error", 429)
    assert recorder.one.usage == Usage(10, 3)


async def test_an_error_beside_calls_of_ours_gives_way_to_the_clients_own_request(running: Upstream) -> None:
    running.will(Step(OURS, fault="error beside"), Step(ANSWER))
    async with house(running.url) as services:
        _, raw = await asked(services, question(streamed=False), runner := Runner())
    assert told(raw) == {"content": "It is noon."}
    assert (runner.ran, [each.get("tools") for each in running.asked]) == ([], [[LOOK, *SCHEMAS], [LOOK]])


async def test_and_without_them_is_the_clients(running: Upstream) -> None:
    running.will(Step(ANSWER, fault="error beside"))
    async with house(running.url) as services:
        _, raw = await asked(services, question(streamed=False), Runner())
    assert (completion(raw)["error"]["code"], len(running.asked)) == (502, 1)


@STREAMED
async def test_if_nobody_answers_it_either_the_client_is_told_so(running: Upstream, streamed: bool) -> None:
    running.will(Step(OURS), Step(OURS, fault="reset", events=0))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        with pytest.raises(UpstreamError):
            await asked(services, question(streamed=streamed), Runner())
    assert recorder.one.outcome in ("upstream_error", "upstream_broken")


async def test_a_first_round_that_breaks_off_does_so_for_the_client_too(running: Upstream) -> None:
    running.will(Step(ANSWER, fault="cut", events=3))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        with pytest.raises(UpstreamError):
            await asked(services, question(streamed=True), Runner())
    assert recorder.one.outcome == "upstream_broken"
    assert len(running.asked) == 1


async def _raises(_calls: Sequence[ToolCall], _round: int) -> Sequence[str]:
    raise ValueError("ours")


async def _hangs(_calls: Sequence[ToolCall], _round: int) -> Sequence[str]:
    await asyncio.Event().wait()
    raise AssertionError


async def _too_few(_calls: Sequence[ToolCall], _round: int) -> Sequence[str]:
    return []


@STREAMED
@pytest.mark.parametrize("failing", [_raises, _hangs, _too_few])
async def test_tools_that_fail_give_way_to_the_clients_own_request(
    running: Upstream, failing: Any, streamed: bool
) -> None:
    running.will(OURS, ANSWER)
    runner = Runner(running=failing)
    async with house(running.url, recorder=Recorder(), tools={"timeout": 0.05}) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert raw == (stream(ANSWER) if streamed else ANSWER.body)
    assert running.raw[-1] == question(streamed=streamed)


@STREAMED
async def test_tools_that_fail_beside_the_clients_calls_leave_these(running: Upstream, streamed: bool) -> None:
    (both,) = rounds_of(Spoken("", (REMEMBER, THEIRS)))
    running.will(both)
    runner = Runner(running=_raises)
    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), runner)
    assert told(raw) == {"tool_calls": [both.calls[1].json]}
    assert runner.kept == []


@STREAMED
async def test_an_exchange_that_cannot_be_kept_costs_no_answer(running: Upstream, streamed: bool) -> None:
    running.will(*rounds_of(OURS, ANSWER))

    async def broken(_hidden: Any) -> bool:
        raise OSError("disk full")

    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), Runner(keeps=broken))
    assert told(raw) == {"content": "It is noon."}


async def listen(answer: Answer, heard: list[bytes]) -> None:
    assert not isinstance(answer.body, bytes)
    try:
        async for chunk in answer.body:
            heard.append(chunk)  # noqa: PERF401 (somebody looks while it goes on)
    finally:
        await answer.body.aclose()


def datas(heard: Sequence[bytes]) -> list[dict[str, Any]]:
    events = SseParser().feed(b"".join(heard))
    return [msgspec.json.decode(each.data) for each in events if each.data and not each.data.startswith(b"[")]


async def test_it_is_kept_before_the_client_has_the_end(running: Upstream) -> None:
    running.will(*rounds_of(OURS, ANSWER))
    keeping, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(_hidden: Any) -> bool:
        keeping.set()
        await go_on.wait()
        return True

    got: list[bytes] = []
    async with house(running.url, recorder=Recorder()) as services:
        answer = await answered(*opened(services, question(streamed=True)), Runner(keeps=slowly))
        listening = services.tasks.spawn(listen(answer, got), name="listen")
        await keeping.wait()
        assert [each["choices"][0]["delta"].get("content") for each in datas(got)] == ["", "It ", "is ", "noo", "n."]
        assert b"stop" not in b"".join(got)
        go_on.set()
        await listening
    assert b"".join(got).endswith(b"[DONE]\n\n")


@STREAMED
async def test_calls_that_share_an_id_are_told_apart_where_they_are_run(running: Upstream, streamed: bool) -> None:
    running.will(Spoken("", (REMEMBER, REMEMBER)), OURS, ANSWER)  # of one id, all of them
    runner = Runner()
    async with house(running.url, recorder=Recorder(), dialect="vllm") as services:
        await asked(services, question(streamed=streamed), runner)
    assert runner.ran == [(["call00001", "call00001-2"], 1), (["call00001-3"], 2)]
    results = [each["tool_call_id"] for each in running.asked[-1]["messages"] if each["role"] == "tool"]
    assert results == ["call00001"] * 3


@STREAMED
async def test_messages_that_the_dialect_does_not_take_are_not_sent(running: Upstream, streamed: bool) -> None:
    twice = Spoken("", (REMEMBER, REMEMBER))  # of one id
    running.will(twice, ANSWER)
    async with house(running.url, recorder=Recorder()) as services:
        _, raw = await asked(services, question(streamed=streamed), Runner())
    assert raw == (stream(ANSWER) if streamed else ANSWER.body)
    assert running.raw[-1] == question(streamed=streamed)


@STREAMED
async def test_a_further_round_is_retried_and_falls_back(running: Upstream, streamed: bool) -> None:
    running.will(Step(OURS), Step(status=503), Step(status=503), Step(ANSWER))
    recorder = Recorder()
    stand_in = {"name": "stand-in", "base_url": f"{running.url}/v1", "dialect": "openai", "models": ["nobody"]}
    settings: dict[str, Any] = {"retries": 1, "fallback": "stand-in", "models": ["m"], "more": [stand_in]}
    async with house(running.url, recorder=recorder, **settings) as services:
        _, raw = await asked(services, question(streamed=streamed), Runner())
    assert told(raw) == {"content": "It is noon."}
    assert recorder.one.upstream == "stand-in"
    assert recorder.one.retries == 1
    assert [each.upstream for each in recorder.one.rounds] == ["up", "stand-in"]
    assert running.asked[1]["messages"] == running.asked[3]["messages"]


@pytest.mark.parametrize("second", [Step(ANSWER, as_stream=False), Step(ANSWER, as_stream=True)])
@STREAMED
async def test_a_further_round_may_come_in_another_form(running: Upstream, second: Step, streamed: bool) -> None:
    running.will(Step(OURS_WITH_TEXT), second)
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        answer, raw = await asked(services, question(streamed=streamed), Runner())
    assert told(raw) == {"content": "Let me note that.\n\nIt is noon."}
    kind = "text/event-stream" if streamed else "application/json"
    assert dict(answer.headers)["content-type"] == kind
    assert recorder.one.outcome == "complete"


# --- a client that leaves ---------------------------------------------------------------------------------------------


@STREAMED
@pytest.mark.parametrize("before", [(), (OURS,), (OURS, OURS)], ids=["first", "second", "third"])
async def test_a_client_that_leaves_ends_the_round_under_way(
    running: Upstream, before: Sequence[Spoken], streamed: bool
) -> None:
    running.will(*before, Step(ANSWER, fault="hang", events=2))
    recorder, runner = Recorder(), Runner()
    async with house(running.url, recorder=recorder) as services:
        going = services.tasks.spawn(asked(services, question(streamed=streamed), runner), name="ask")
        await until(lambda: running.hanging == 1)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        await until(lambda: running.left == 1)
    assert recorder.one.outcome == "client_gone"
    assert recorder.one.completion is None
    assert len(runner.ran) == len(before)
    assert runner.kept == []


@STREAMED
async def test_a_client_that_leaves_while_tools_run_ends_the_answer(running: Upstream, streamed: bool) -> None:
    running.will(OURS, ANSWER)
    recorder, begun = Recorder(), asyncio.Event()

    async def running_for_ever(calls: Sequence[ToolCall], round_: int) -> Sequence[str]:
        begun.set()
        return await _hangs(calls, round_)

    async with house(running.url, recorder=recorder) as services:
        runner = Runner(running=running_for_ever)
        going = services.tasks.spawn(asked(services, question(streamed=streamed), runner), name="ask")
        await begun.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
    assert recorder.one.outcome == "client_gone"
    assert recorder.one.completion is None
    assert len(running.asked) == 1


async def test_a_client_that_leaves_in_the_middle_of_a_stream_is_said_to_have_left(running: Upstream) -> None:
    running.will(Step(OURS), Step(ANSWER))
    recorder = Recorder()
    async with house(running.url, recorder=recorder) as services:
        answer = await answered(*opened(services, question(streamed=True)), Runner())
        assert not isinstance(answer.body, bytes)
        await anext(aiter(answer.body))
        await answer.body.aclose()
    assert recorder.one.outcome == "client_gone"
    assert recorder.one.completion is None


# --- the ledger -------------------------------------------------------------------------------------------------------


@STREAMED
async def test_the_ledger_has_one_row_with_the_sum_and_calibration_sees_the_first_round(
    running: Upstream, streamed: bool
) -> None:
    first = Spoken("", (REMEMBER,), usage={"prompt_tokens": 1_000, "completion_tokens": 3})
    second = Spoken("It is noon.", usage={"prompt_tokens": 5_000, "completion_tokens": 3})
    running.will(first, second)
    async with house(running.url) as services:
        context, exchange = opened(services, question(streamed=streamed))
        await read(await answered(context, exchange, Runner()))
        await services.tasks.drain(5)
        await services.storage.flush()
        rows = await services.storage.ledger.recent(context.identity.scope.id)
        factor = services.shared.calibrations.exact.factor("up", "m")
    (row,) = rows
    assert (row.tokens_sent, row.tokens_completion, row.tokens_original) == (6_000, 6, 2_000)
    assert row.cost == pytest.approx((6_000 * 1.0 + 6 * 4.0) / 1e6)
    assert factor == 0.5  # 1,000 measured where 2,000 were counted


# --- any loop, in every dialect ---------------------------------------------------------------------------------------

_texts = st.sampled_from(["Noted.", "one two\n", " so", ""])
_loops = st.tuples(
    st.lists(st.tuples(_texts, st.integers(1, 3)), max_size=4),  # texts of rounds of ours alone, and how many calls
    st.sampled_from(["It is noon.", "And now?"]),
    st.lists(st.sampled_from([REMEMBER, THEIRS]), max_size=4),
    st.booleans(),  # the model thinks
)


@dataclass(frozen=True, slots=True)
class House:
    """One event loop, and for each dialect a proxy, for all examples."""

    runner: asyncio.Runner
    services: dict[str, Services]


@pytest.fixture(scope="module")
def every(running: Upstream) -> Iterator[House]:
    with asyncio.Runner() as runner, ExitStack() as stack:
        built = {}
        for dialect in DIALECTS:
            entering = house(running.url, dialect=dialect)
            built[dialect] = runner.run(entering.__aenter__())
            stack.callback(lambda each: runner.run(each.__aexit__(None, None, None)), entering)
        yield House(runner, built)


@pytest.mark.note("SMMA 9/1")
@OVER_SOCKETS
@given(_loops, st.sampled_from(sorted(DIALECTS)), st.booleans(), st.sampled_from(STYLES))
def test_what_is_sent_and_what_is_put_back_is_valid_in_every_dialect(
    every: House, running: Upstream, loop: Any, dialect: str, streamed: bool, style: Style
) -> None:
    hidden_rounds, text, calls, thinks = loop
    thought = "Hm." if thinks else ""
    rounds = [Spoken(each, (REMEMBER,) * many, thought) for each, many in hidden_rounds]
    rounds = numbered([*rounds, Spoken(text, tuple(calls), thought)])
    if calls and not any(call.name == "look" for call in calls):
        rounds = numbered([*rounds, Spoken(text, (), thought)])
    running.will(*[Step(each, style=style) for each in rounds])
    recorder, runner = Recorder(), Runner(running=_at_once)
    services = replace(every.services[dialect], recorder=recorder)  # type: ignore[arg-type]  # all that the loop asks of one
    _, raw = every.runner.run(asked(services, question(streamed=streamed), runner))
    for body_ in running.asked:
        assert violations(messages(*body_["messages"]), DIALECTS[dialect], len(body_["tools"])) == ()
    assert len(running.asked) == len(rounds)
    theirs = [call.json for call in rounds[-1].calls if call.name == "look"]
    assert told(raw).get("tool_calls", []) == theirs
    assert told(raw)["content"] == joined([each.text for each in rounds])
    assert len(runner.kept) == (len(rounds) > 1 or len(theirs) < len(rounds[-1].calls))
    for hidden in runner.kept:
        answer = said([hidden.instead]) if hidden.instead else [completion(raw)["choices"][0]["message"]]
        assert hidden.answer == links_after(hidden.link, [message(completion(raw)["choices"][0]["message"])])[0]
        results = [result(call) for call in hidden.calls]
        put_back = [*said(hidden.before), *answer, *said(hidden.after), *results]
        following = [*running.asked[0]["messages"], *put_back, *([] if results else [user("And?")])]
        assert violations(messages(*following), DIALECTS[dialect]) == ()
        # To the byte what the provider's cache has of the last round.
        sent = running.asked[-1]["messages"]
        assert following[: len(sent)] == sent
