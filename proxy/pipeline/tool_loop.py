"""An answer in which the model calls tools of ours: round after round, spliced into one answer of which the client sees
no such call.

Only our calls: they are run, their results are sent behind the prompt, and the model is asked again. Only the client's:
the answer is the client's. Both in one turn: ours are run and hidden, the client gets its own. What was hidden is kept
before the client has the end of the answer, so that its next request gets it back. Beyond the caps (rounds, seconds,
dollars) the model is told that no call is left; calls that it makes all the same are left out.

Whatever fails, the client gets an answer: that of its own request, without our tools. If it has a text already, that
answer follows it; if it has calls already, the stream breaks off, as it would if any upstream failed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from proxy.desk.running import ToolRunner
from proxy.errors import UpstreamError
from proxy.pipeline import RequestContext
from proxy.pipeline.tool_rounds import Rounds, close, is_readable
from proxy.pipeline.tool_stream import Streamed
from proxy.pipeline.tool_turns import Turns, UnusableError
from proxy.protocol import headers as wire_headers
from proxy.protocol.answers import answers_of
from proxy.protocol.apis import as_completion
from proxy.protocol.spliced import Whole, WholeOne
from proxy.tasks import Offload
from proxy.types import Answer, Exchange, Headers

# Statuses by which an upstream may refuse our tools: it is asked once more without them.
MAY_BE_OURS = frozenset({400, 404, 413, 415, 422, 500, 501})

_object = msgspec.json.Decoder(dict[str, Any])


async def answered(context: RequestContext, exchange: Exchange, runner: ToolRunner) -> Answer:
    """Returns the upstream's answer, with the tools that `runner` runs in it. Raises UpstreamError if no upstream
    answered. It is never stored for reuse by intent: memory would have been changed for one question and not for the
    other."""
    rounds = Rounds(context, replace(exchange, miss=replace(exchange.miss, asked=None)))
    try:
        answer = await _answer(Turns(rounds, runner))
    except UpstreamError:
        rounds.report("upstream_error")
        raise
    except BaseException:
        rounds.report("client_gone", completion=None, raw_completion=None)
        raise
    return context.labelled(answer, rounds.sent)


async def _answer(turns: Turns) -> Answer:
    """Returns the answer to the client, as soon as it begins."""
    rounds = turns.rounds
    answer = await rounds.ask()
    assert answer is not None, "the first round has no messages to be checked"
    may_be_ours = answer.status in MAY_BE_OURS or (answer.status < 400 and not is_readable(answer))
    if may_be_ours and rounds.sent.plan.tools is not None:
        rounds.context.services.metrics.failed_open("tools", "refused" if answer.status >= 400 else "unreadable")
        await close(answer)
        return await _own(turns)
    if answer.status >= 400 or not is_readable(answer):
        return await rounds.pass_on(answer)
    if isinstance(answer.body, bytes):
        return await _whole(turns, answer)
    body = Streamed(turns, answer)
    await body.begin()
    return body.instead or replace(answer, body=body)


async def _own(turns: Turns) -> Answer:
    return await turns.rounds.pass_on(await turns.ask_own())


async def _whole(turns: Turns, answer: Answer) -> Answer:
    """Splices answers that are not streamed."""
    splice = Whole(turns.rounds.api, turns.rounds.exchange.request)
    following: Answer | None = answer
    try:
        while following is not None:
            answer = following
            round_ = await _read(turns, answer, splice)
            if round_ is None and not splice.rounds:
                return await turns.rounds.pass_on(answer)
            completion = None if round_ is None else round_.completion
            following = await turns.following(round_, completion, has_said=splice.has_said)
            if following is not None and round_ is not None:
                round_.end_round()
    except (UnusableError, UpstreamError):
        return await _own(turns)
    assert round_ is not None, "an answer that cannot be read is not usable"
    body = turns.rounds.context.attempts.call("tools", round_.closing, fallback=None)
    if body is None:
        return await _own(turns)
    if body is answer.body:
        return await turns.rounds.pass_on(answer)
    told = as_completion(turns.rounds.api, body) or body
    await turns.keep(answers_of(_object.decode(told)))
    turns.rounds.report("complete", raw_completion=told, completion=None, streamed=False)
    return replace(answer, body=body, headers=_without_stream(answer))


async def _read(turns: Turns, answer: Answer, splice: Whole) -> WholeOne | None:
    """Reads an answer that is not streamed; one that is, though it was not asked for, to its end first. None if it
    can't be read as a completion. Raises `UnusableError` for an error that has calls of ours."""
    body, rounds = answer.body, turns.rounds
    if not isinstance(body, bytes):
        try:
            async for _ in body:
                pass
        finally:
            await body.aclose()
        if rounds.api != "chat":
            return None  # nobody streams a message that was asked for whole
        completion: Mapping[str, Any] = rounds.deliveries[-1].completion or {}
        body = msgspec.json.encode(completion)
    read = body
    try:
        round_ = await Offload(rounds.context.services.executor, len(read))(lambda: splice.round(turns.whose, read))
    except (ValueError, RecursionError):
        return None
    if round_.failed:
        if round_.ours:  # an error beside calls that the client is not to see
            raise UnusableError
        return None
    if splice.rounds or round_.ours:
        await rounds.read_usage(read)
    return round_


def _without_stream(answer: Answer) -> Headers:
    """Returns the headers of an answer that came as a stream, and is told whole."""
    if not wire_headers.is_event_stream(answer.headers):
        return answer.headers
    kept = tuple((name, value) for name, value in answer.headers if name != "content-type")
    return (*kept, ("content-type", "application/json"))
