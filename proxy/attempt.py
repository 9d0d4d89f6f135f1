"""Attempts: the deadline, timing and fallback of every stage of ours.

A stage of ours that raises, hangs or is not warm yet must not cost the client its answer: `Attempts.run` then returns
the fallback, counts it and logs it (fail open). Cancellation (the client left) is not a failure and passes through.
"""

import asyncio
import logging
import types
from collections.abc import Callable, Coroutine, Generator, Mapping
from functools import partial
from time import perf_counter
from typing import Any, TypeVar, cast

from proxy.errors import OlvidoError

log = logging.getLogger(__name__)

T = TypeVar("T")


class Attempts:
    """The attempts of one request: seconds of each stage, and reasons of those that failed open."""

    __slots__ = ("_on_fail_open", "_patience", "failed", "seconds")

    def __init__(self, on_fail_open: Callable[[str, str], None], patience: float = 1.0) -> None:
        self._on_fail_open = on_fail_open  # (stage, reason) → None: the metric
        self._patience = patience  # factor of every deadline
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, str] = {}

    async def run(self, stage: str, work: Coroutine[Any, Any, T], *, fallback: T, deadline: float) -> T:
        """Returns the result of `work`, or `fallback` if it raises or takes longer than `deadline` seconds. An
        OlvidoError is an answer to the client (a 400, say), not a failure of ours, and passes through."""
        started = perf_counter()
        try:
            try:
                waits_for = work.send(None)
            except StopIteration as finished:
                return cast(T, finished.value)  # most stages need not wait, and then need no deadline (10 µs)
            async with asyncio.timeout(deadline * self._patience):
                return await _rest_of(work, waits_for)
        except OlvidoError:
            raise
        except Exception as error:  # noqa: BLE001 (fail open is the purpose: any failure of ours becomes the fallback)
            reason = "deadline" if isinstance(error, TimeoutError) else type(error).__name__
            self._fail_open(stage, reason, error)
            return fallback
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - started

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
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - started

    def _fail_open(self, stage: str, reason: str, error: Exception) -> None:
        self.failed[stage] = reason
        self._on_fail_open(stage, reason)
        # The traceback shows our own lines; an exception's text could quote a message, so it stays out of the log.
        log.warning("fail open", extra={"stage": stage, "reason": reason, "where": _where(error)})

    def timings(self) -> Mapping[str, float]:
        """Returns the seconds of each stage."""
        return dict(self.seconds)


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
