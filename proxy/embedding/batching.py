"""Batches of texts: queries that come at the same moment share one run; those that come during a run share the next. No
timer: nobody waits for company.

A run takes a few texts from every waiting call, in turns, so that a question doesn't wait behind somebody's hundred
passages. When too many texts wait, further calls are refused at once: late vectors are worth nothing.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from proxy.embedding import EmbeddingError, EmbeddingUnavailable, Vectors
from proxy.tasks import Tasks

Run = Callable[[Sequence[str]], Awaitable[Vectors]]
RUN_TEXTS = 32  # in one run
CALL_TEXTS = 8  # of one call in one run
WAITING_TEXTS = 256  # about half a second of work


@dataclass(slots=True, eq=False)
class _Call:
    texts: Sequence[str]
    result: asyncio.Future[Vectors]
    rows: list[Vectors] = field(default_factory=list)
    taken: int = 0

    @property
    def left(self) -> int:
        return 0 if self.result.done() else len(self.texts) - self.taken

    def take(self, most: int) -> Sequence[str]:
        piece = self.texts[self.taken : self.taken + most]
        self.taken += len(piece)
        return piece


class Batcher:
    """A queue of texts in front of `run`, which gets different texts, at most RUN_TEXTS, one run at a time."""

    def __init__(self, run: Run, tasks: Tasks) -> None:
        self._run = run
        self._tasks = tasks
        self._calls: deque[_Call] = deque()
        self._running = False

    @property
    def waiting(self) -> int:
        """The number of texts that no run has taken yet."""
        return sum(call.left for call in self._calls)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns the vectors that `run` gives for the texts, at least one. Raises what `run` raises of EmbeddingError,
        and EmbeddingUnavailable when too many texts wait; a call that is cancelled leaves the queue."""
        if self.waiting >= WAITING_TEXTS:
            raise EmbeddingUnavailable("too many texts wait to be embedded")
        call = _Call(texts, asyncio.get_running_loop().create_future())
        self._calls.append(call)
        if not self._running:
            self._running = True
            self._tasks.spawn(self._work(), name="embed")
        return await call.result

    async def _work(self) -> None:
        try:
            while pieces := self._next():
                await self._do(pieces)
        finally:
            self._running = False
            while self._calls:  # none, unless this task was cancelled
                _refuse(self._calls.popleft(), EmbeddingUnavailable("embedding was stopped"))

    def _next(self) -> list[tuple[_Call, Sequence[str]]]:
        pieces: list[tuple[_Call, Sequence[str]]] = []
        room = RUN_TEXTS
        while self._calls and room:
            call = self._calls.popleft()
            if call.left:
                piece = call.take(min(CALL_TEXTS, room))
                pieces.append((call, piece))
                room -= len(piece)
        # Behind those that this run has no room for.
        self._calls.extend(call for call, _ in pieces if call.left)
        return pieces

    async def _do(self, pieces: list[tuple[_Call, Sequence[str]]]) -> None:
        texts = list(dict.fromkeys(text for _, piece in pieces for text in piece))
        try:
            vectors = await self._run(texts)
        except EmbeddingError as error:
            for call, _ in pieces:
                _refuse(call, error)
            return
        except BaseException:
            for call, _ in pieces:
                _refuse(call, EmbeddingUnavailable("embedding was stopped"))
            raise
        row_of = dict(zip(texts, vectors, strict=True))
        for call, piece in pieces:
            call.rows += [row_of[text] for text in piece]
            if len(call.rows) == len(call.texts) and not call.result.done():
                call.result.set_result(np.stack(call.rows))


def _refuse(call: _Call, error: EmbeddingError) -> None:
    if not call.result.done():
        call.result.set_exception(error)
