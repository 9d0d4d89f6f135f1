"""Running our own work: background tasks, attempts with a deadline and a fallback, threads.

`Tasks`: background tasks are kept, named, logged when they fail, drained at the end. Nothing else starts any.

`Attempts`: a stage of ours that raises, hangs or is not warm yet must not cost the client its answer: `Attempts.run`
then returns the fallback, counts it and logs it (fail open). Cancellation (the client left) is not a failure and passes
through.

`Offload`: CPU-heavy work runs in threads, light work on the event loop: a thread's round trip costs about 50 µs of CPU
itself.
"""

import asyncio
import logging
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic, perf_counter
from typing import Any, Protocol, TypeVar, cast

from proxy.errors import OlvidoError
from proxy.types import Delivery, LedgerRow

log = logging.getLogger(__name__)

T = TypeVar("T")

# Parsing, hashing and encoding this much JSON takes about a millisecond.
INLINE_BYTES = 256 * 1024
SAVED = 1.0  # seconds (fifty slices) that an idle user catches up on at most
SLICE = 0.02  # seconds of work before others have their turn
MOMENT = 0.001  # the same, on the event loop


class Tasks:
    """The background tasks of one server. A task without a reference could be garbage-collected mid-flight, and its
    exception shown only then."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Starts `work` in the background."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background task failed", extra={"task": task.get_name()}, exc_info=error)

    async def drain(self, seconds: float) -> int:
        """Waits up to `seconds` for all tasks, then cancels the rest. Returns how many were cancelled."""
        deadline = asyncio.get_running_loop().time() + seconds
        # Draining tasks may spawn others (a stream's end spawns its recording), so look again until none is left.
        while self._running and (left := deadline - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(set(self._running), timeout=left)
        late = set(self._running)
        for task in late:
            task.cancel()
        if late:
            await asyncio.gather(*late, return_exceptions=True)
        return len(late)


class Repeating:
    """Work that is done again and again, `seconds` apart, in a task of its own each time: in between there is nothing
    that would have to be drained. A failure is logged, and the next time is not put off by it."""

    def __init__(self, tasks: Tasks, work: Callable[[], Coroutine[Any, Any, None]], seconds: float, name: str) -> None:
        self._tasks = tasks
        self._work = work
        self._seconds = seconds
        self._name = name
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    def start(self, after: float = 0.0) -> None:
        """Begins, after so many seconds."""
        self._timer = asyncio.get_running_loop().call_later(after, self._begin)

    def stop(self) -> None:
        """Ends it; work that is under way comes to its end."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self) -> None:
        self._tasks.spawn(self._once(), name=self._name)

    async def _once(self) -> None:
        try:
            await self._work()
        finally:
            if not self._is_stopped:
                self.start(self._seconds)


class Noted(Protocol):
    """The trace of a request, as far as attempts and records are noted in it."""

    def stage(self, name: str, started: float, ended: float, error: str | None) -> None:
        """Notes a stage: when it started and ended (perf_counter), and why it failed, if it did."""

    def tool(self, name: str, started: float, ended: float, error: str | None) -> None:
        """Notes a tool that was run here, at the model's call."""

    def accounted(self, row: LedgerRow, delivery: Delivery | None) -> None:
        """Notes what the ledger says of the request; `delivery`: of its upstream, if it went to one."""

    def hold(self) -> None:
        """Makes the trace wait for more until `release`."""

    def release(self) -> None:
        """Ends that."""


class Attempts:
    """The attempts of one request: seconds of each stage, and reasons of those that failed open."""

    __slots__ = ("_on_fail_open", "_patience", "failed", "seconds", "trace")

    def __init__(
        self, on_fail_open: Callable[[str, str], None], patience: float = 1.0, trace: Noted | None = None
    ) -> None:
        self._on_fail_open = on_fail_open  # (stage, reason) → None: the metric
        self._patience = patience  # factor of every deadline
        self.trace = trace  # None: the request is not traced
        self.seconds: dict[str, float] = {}  # of each stage
        self.failed: dict[str, str] = {}

    async def run(self, stage: str, work: Coroutine[Any, Any, T], *, fallback: T, deadline: float) -> T:
        """Returns the result of `work`, or `fallback` if it raises or takes longer than `deadline` seconds. An
        OlvidoError is an answer to the client (a 400, say), not a failure of ours, and passes through."""
        started = perf_counter()
        try:
            return await within(deadline * self._patience, work)
        except OlvidoError:
            raise
        except Exception as error:  # noqa: BLE001 (fail open is the purpose: any failure of ours becomes the fallback)
            reason = "deadline" if isinstance(error, TimeoutError) else type(error).__name__
            self._fail_open(stage, reason, error)
            return fallback
        finally:
            ended = perf_counter()
            self.seconds[stage] = self.seconds.get(stage, 0.0) + ended - started
            if self.trace is not None:
                self.trace.stage(stage, started, ended, self.failed.get(stage))

    def call(self, stage: str, work: Callable[[], T], *, fallback: T) -> T:
        """Returns the result of a short pure function, or `fallback` if it raises. It needs no deadline."""
        started = perf_counter()
        try:
            return work()
        except OlvidoError:
            raise
        except Exception as error:  # noqa: BLE001 (as above)
            self._fail_open(stage, type(error).__name__, error)
            return fallback
        finally:
            ended = perf_counter()
            self.seconds[stage] = self.seconds.get(stage, 0.0) + ended - started
            if self.trace is not None:
                self.trace.stage(stage, started, ended, self.failed.get(stage))

    def _fail_open(self, stage: str, reason: str, error: Exception) -> None:
        self.failed[stage] = reason
        self._on_fail_open(stage, reason)
        # The traceback shows our own lines; an exception's text could quote a message, so it stays out of the log.
        log.warning("fail open", extra={"stage": stage, "reason": reason, "where": _where(error)})


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of `work`. Raises TimeoutError if it takes longer than `seconds`."""
    try:
        waits_for = work.send(None)
    except StopIteration as finished:
        return cast(T, finished.value)  # most work need not wait, and then needs no deadline (10 µs)
    async with asyncio.timeout(seconds):
        return await _rest_of(work, waits_for)


@types.coroutine
def _rest_of(work: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Runs the rest of a coroutine after its first step: PEP 380's `yield from`."""
    while True:
        try:
            sent = yield waits_for
        except GeneratorExit:
            work.close()
            raise
        except BaseException as error:  # noqa: BLE001 (cancellation above all)
            step = partial(work.throw, error)
        else:
            step = partial(work.send, sent)
        try:
            waits_for = step()
        except StopIteration as finished:
            return cast(T, finished.value)


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


class Offload:
    """Runs functions on the event loop or in a thread, by the size of their input in bytes."""

    __slots__ = ("_executor", "_inline")

    def __init__(self, executor: Executor, size: int, *, inline_bytes: int = INLINE_BYTES) -> None:
        self._executor = executor
        self._inline = size <= inline_bytes

    async def __call__(self, work: Callable[[], T]) -> T:
        """Returns the result of `work`, run where its size belongs."""
        if self._inline:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class FairQueue:
    """A fair queue for one resource: whoever has used it for the least time is next, so heavy users never hold up light
    ones. An idle user catches up on at most `saved` seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic, saved: float = SAVED) -> None:
        self._clock = clock
        self._saved = saved
        self._had: dict[str, float] = {}  # seconds of use, of users above `_least`
        self._least = -saved  # seconds of use that every user is assumed to have had
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in order of arrival
        self._taken = False

    @asynccontextmanager
    async def turn(self, whose: str) -> AsyncIterator[None]:
        """Holds the resource for `whose` inside the block; waits until it is free."""
        if self._taken:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((whose, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # granted, and not wanted any more
                    self._next()
                raise
        self._taken = True
        had = self._so_far(whose)
        self._least = max(self._least, had - self._saved)
        began = self._clock()
        try:
            yield
        finally:
            self._had[whose] = had + self._clock() - began
            self._next()

    def _so_far(self, whose: str) -> float:
        return max(self._had.get(whose, 0.0), self._least)

    def _next(self) -> None:
        self._had = {whose: had for whose, had in self._had.items() if had > self._least}
        self._waiting = [each for each in self._waiting if not each[1].done()]
        self._taken = bool(self._waiting)
        if self._waiting:
            which = min(range(len(self._waiting)), key=lambda at: self._so_far(self._waiting[at][0]))
            self._waiting.pop(which)[1].set_result(None)


async def in_slices(
    executor: Executor, steps: Generator[None, None, T], queue: FairQueue, whose: str, *, seconds: float = SLICE
) -> T:
    """Returns the result of `steps`, run in threads in slices of `seconds`, by turns with other work in the same queue,
    so that it never takes all threads at once. A step is never interrupted."""
    done: tuple[T] | None = None
    while done is None:
        async with queue.turn(whose):
            done = await asyncio.get_running_loop().run_in_executor(executor, _advance, steps, seconds)
    return done[0]


async def in_place(steps: Generator[None, None, T], *, seconds: float = MOMENT) -> T:
    """Returns the result of short `steps`, run on the event loop: whatever else is due comes first after `seconds`. A
    thread's round trip and its struggle for the interpreter would cost more than they do."""
    until = monotonic() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(T, end.value)
        if monotonic() >= until:
            await asyncio.sleep(0)
            until = monotonic() + seconds


def _advance(steps: Generator[None, None, T], seconds: float) -> tuple[T] | None:
    """Runs steps for `seconds`, in the thread. Returns the result; None if there is more to do."""
    until = monotonic() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return (end.value,)
        if monotonic() >= until:
            return None
