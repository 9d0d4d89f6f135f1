"""Carrying out commands to forget, until storage has done so.

A command to forget ("forget that …", "olvidá …") depends on no plan, cache or mode: every one is obeyed, before
anything else is done with its request. It is recorded durably before its request goes on; where storage is slow or
unavailable, what is known of it is hidden at once, and the command stays pending in this process, which retries until
it is done. For a scope that no upstream has answered yet nothing is stored: what the request itself says is forgotten
when it has been answered (`pipeline/record.py`), before any of it is learnt.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection

from proxy.memory.commands import Order
from proxy.memory.library import Library
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

DEADLINE = 30.0  # seconds of one attempt, and of waiting for what is being learnt
PATIENCE = 0.5  # seconds that a command waits for earlier requests of the scope that are being learnt from
PAUSES = (0.1, 0.5, 2.0, 10.0)  # seconds between two attempts; the last one repeats


class Obedience:
    """The executor of commands to forget, which retries until storage has carried them out."""

    def __init__(
        self,
        library: Library,
        tasks: Tasks,
        learning: Callable[[str], Collection[asyncio.Event]],
        *,
        is_answered: Callable[[str], Awaitable[bool]],
        pauses: tuple[float, ...] = PAUSES,
        patience: float = 1.0,
    ) -> None:
        """`learning`: of a scope, what is set when what has been said is learnt. `is_answered`: has an upstream
        answered this scope before? If not, nothing is kept of it, and nothing is made for it."""
        self._library = library
        self._tasks = tasks
        self._learning = learning
        self._is_answered = is_answered
        self._pauses = pauses
        self._patience = patience  # factor of what a command waits for what was said before it

    async def obey(self, scope: str, order: Order) -> None:
        """Carries out a command; returns when it is durable. It goes on if the caller stops waiting."""
        await self.begin(scope, order).wait()

    def begin(self, scope: str, order: Order) -> asyncio.Event:
        """Hides what the command names, starts carrying it out, and returns an event that is set when it is durable."""
        self._library.hide(scope, order)
        recorded = asyncio.Event()
        self._tasks.spawn(self._until_done(scope, order, recorded), name="forget")
        return recorded

    async def _until_done(self, scope: str, order: Order, recorded: asyncio.Event) -> None:
        try:
            late = await self._learnt(self._learning(scope), PATIENCE * self._patience)
            await self._carried_out(scope, order, recorded)
            if late:
                await self._learnt(late, DEADLINE)
                await self._carried_out(scope, order, recorded)
        finally:
            self._library.orders.done(scope, order)

    async def _learnt(self, learning: Collection[asyncio.Event], seconds: float) -> list[asyncio.Event]:
        """Waits for these requests to be learnt from; returns those that are not after `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for each in learning:
                    await each.wait()
        return [each for each in learning if not each.is_set()]

    async def _carried_out(self, scope: str, order: Order, recorded: asyncio.Event) -> None:
        for pause in itertools.chain(self._pauses, itertools.repeat(self._pauses[-1])):
            try:
                async with asyncio.timeout(DEADLINE):
                    if await self._is_answered(scope.partition("~")[0]):
                        await self._library.carry_out(scope, order, recorded.set)
                    recorded.set()
            except Exception as error:  # noqa: BLE001 (whatever ails storage: it is tried again)
                log.warning("a command to forget waits for storage", extra={"why": type(error).__name__})
                await asyncio.sleep(pause)
            else:
                return
