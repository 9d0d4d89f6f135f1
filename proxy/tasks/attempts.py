"""Attempts with a deadline and a fallback.

A stage of ours that raises, hangs or is not warm yet must not cost the client its answer: `Attempts.run` then returns
the fallback, counts it and logs it (fail open). Cancellation (the client left) is not a failure and passes through.
"""

import asyncio
import logging
import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

from proxy.errors import OlvidoError
from proxy.types import Delivery, LedgerRow

log = logging.getLogger(__name__)

T = TypeVar("T")


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
