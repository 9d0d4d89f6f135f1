"""A streamed answer whose tools the proxy runs, on its way to the client: what may pass is passed with the bytes in
which it arrived."""

from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from proxy.errors import UpstreamBroken, UpstreamError
from proxy.pipeline.tool_rounds import close, is_readable
from proxy.pipeline.tool_turns import Turns, UnusableError
from proxy.protocol.answers import answers_of
from proxy.protocol.spliced import Stream, as_stream, completion_in
from proxy.protocol.splicing import added
from proxy.types import Answer, Outcome


class Streamed:
    """The body of such an answer. Iterate it once, after `begin`; `aclose` it in any case."""

    def __init__(self, turns: Turns, answer: Answer) -> None:
        self.instead: Answer | None = None  # that is to be given, since nothing of this one has been
        self._turns = turns
        self._attempts = turns.rounds.context.attempts
        self._stream = Stream(turns.rounds.api, turns.rounds.exchange.request)
        self._ready: deque[bytes] = deque()  # for the client
        self._has_begun = False  # something was ready
        self._is_over = False
        self._error: UpstreamError | None = None  # by which it ends
        self._open(answer)

    async def begin(self) -> None:
        """Waits for the first bytes: until then another answer can take the place of this one. Raises UpstreamError."""
        try:
            while not (self._ready or self._is_over):
                await self._advance()
        except BaseException:
            await close(self._answer)
            raise
        if self._error is not None and not self._ready:
            raise self._error

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._is_over:
                raise StopAsyncIteration
            await self._advance()
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Ends the answer; one that is not complete by now counts as left by the client."""
        await close(self._answer)
        self._report("client_gone")

    def _open(self, answer: Answer) -> None:
        self._answer = answer
        self._reader = self._stream.round(self._turns.whose)
        assert not isinstance(answer.body, bytes), "it was made a stream"
        self._chunks = aiter(answer.body)
        self._is_read = False  # to its end

    async def _advance(self) -> None:
        """Reads what comes next, or, at the end of a round, decides what follows."""
        if self._is_read:
            await self._ended()
            return
        try:
            chunk = await anext(self._chunks, None)
        except UpstreamError as error:
            await self._ended(error)
            return
        self._is_read = chunk is None
        read = self._reader.end if chunk is None else partial(self._reader.feed, chunk)
        piece = self._attempts.call("tools", read, fallback=None)
        if piece is None:
            await self._ended(UpstreamBroken("the upstream's answer could not be read"), is_sound=False)
        elif piece:
            self._put(piece)

    def _put(self, piece: bytes) -> None:
        self._ready.append(piece)
        self._has_begun = True

    async def _ended(self, error: UpstreamError | None = None, *, is_sound: bool = True) -> None:
        """Ends a round. `error`: it was cut off."""
        await close(self._answer)
        rounds, reader, splice = self._turns.rounds, self._reader, self._stream.splice
        if is_sound and reader.is_untouched:
            await rounds.pass_on(self._answer)
            self._end(error)
            return
        delivery = rounds.deliveries[-1]
        usage = _usage(delivery.completion or delivery.partial)
        completion = None if error is not None or reader.failed else delivery.completion
        try:
            following = await self._following(completion)
        except UpstreamError as failure:
            self._report("upstream_broken")
            if self._has_begun:
                self._put(self._stream.error_event(rounds.api, failure))
            self._end(failure)
            return
        if self.instead is not None:
            self._end()
        elif following is not None:
            splice.end_round(usage)
            self._open(await self._as_stream(following))
        else:
            await self._close(added(splice.usage, usage))

    async def _following(self, completion: Mapping[str, Any] | None) -> Answer | None:
        """Returns the answer of a further round, or to the client's own request if the rounds came to nothing; None if
        there is none to be spliced. Raises UpstreamError if the stream has to break off."""
        turns = self._turns
        try:
            return await turns.following(self._reader, completion, has_said=self._stream.splice.has_said)
        except (UnusableError, UpstreamError):
            if turns.rounds.is_own or self._stream.splice.has_calls:
                raise UpstreamBroken("the upstream broke off the answer before it was complete") from None
        answer = await turns.ask_own()
        if not self._has_begun:
            self.instead = await turns.rounds.pass_on(answer)
            return None
        if answer.status >= 400 or not is_readable(answer) or answer.api != turns.rounds.api:
            await close(answer)
            raise UpstreamBroken("the upstream could not complete the answer")
        return answer

    async def _close(self, usage: Mapping[str, Any] | None) -> None:
        """Ends the answer as it should end. What was hidden is kept first."""
        await self._turns.keep(answers_of(self._stream.splice.answer.completion()))
        closing = self._attempts.call("tools", self._reader.closing, fallback=b"")
        self._report("complete", {} if usage is None else {"usage": usage})
        if closing:
            self._put(closing)
        self._end()

    async def _as_stream(self, answer: Answer) -> Answer:
        """Returns an answer that came in one piece, as the stream that it would have been."""
        if not isinstance(answer.body, bytes):
            return answer
        rounds, body = self._turns.rounds, answer.body
        await rounds.read_usage(body)
        read = self._attempts.call("tools", partial(completion_in, rounds.api, body), fallback=None)
        rounds.deliveries[-1] = replace(rounds.deliveries[-1], completion=read, raw_completion=None)
        asked = rounds.exchange.request.wants_usage_chunk
        work = partial(as_stream, rounds.api, body, include_usage=asked)
        return replace(answer, body=_Once(self._attempts.call("tools", work, fallback=b"")))

    def _end(self, error: UpstreamError | None = None) -> None:
        self._is_over, self._error = True, error

    def _report(self, outcome: Outcome, more: Mapping[str, Any] = MappingProxyType({})) -> None:
        answer = self._stream.splice.answer
        said = {**answer.completion(), **more} if answer.started else None
        is_whole = outcome == "complete" and answer.complete
        told = {"completion": said} if is_whole else {"completion": None, "partial": said}
        self._turns.rounds.report(outcome, raw_completion=None, streamed=True, **told)


class _Once:
    """A body of one piece."""

    def __init__(self, piece: bytes) -> None:
        self._pieces = [piece]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._pieces:
            raise StopAsyncIteration
        return self._pieces.pop()

    async def aclose(self) -> None:
        """Closes nothing: it was read at once."""


def _usage(completion: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    usage = (completion or {}).get("usage")
    return usage if isinstance(usage, dict) else None
