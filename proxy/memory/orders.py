"""Commands to forget that storage has not carried out yet: what they name is hidden from all readers until it has."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.lru import Lru
from proxy.memory.forgetting import forgotten, rests
from proxy.memory.reunion import reunited
from proxy.storage.recollection import FactStore, Wiped, WipeStore
from proxy.types import Fact, Forgetting

log = logging.getLogger(__name__)

RETRIED_WITHIN = 600.0  # seconds within which a client may send a command again
MOST_MEANT = 1_000  # commands, and scopes with recent ones, in memory
MOST_RECENT = 32  # commands of a scope


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A command to forget, with the time and the messages of its request."""

    what: tuple[Forgetting, ...]
    at: float  # seconds since the epoch, of its request: later facts are not meant
    chain: tuple[bytes, ...] = ()  # links of the request's messages up to the command, which is the last

    @property
    def is_wipe(self) -> bool:
        """Tells whether the command wipes all memory."""
        return any(each.what == "" for each in self.what)

    def means(self, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Selects those of `facts`, all facts of a scope, that the command removes."""
        known = tuple(fact for fact in facts if fact.created_at <= self.at)
        return tuple({fact.id: fact for each in self.what for fact in forgotten(known, each)}.values())

    def leaves(self, meant: Iterable[Fact]) -> tuple[Fact, ...]:
        """Returns the remainders of the facts `meant`, which say more than the command names."""
        return () if self.is_wipe else tuple(rests(meant, self.what))


class Orders:
    """The pending and recent commands of all scopes."""

    def __init__(self) -> None:
        self._given: dict[str, list[Order]] = {}  # by scope
        self._recent: Lru[str, tuple[Order, ...]] = Lru(MOST_MEANT)  # by scope, carried out or not
        # By scope and link of the command: its time, and the facts it meant. Sent again, it must not mean the next
        # nearest ones to its words.
        self._meant: Lru[tuple[str, bytes], tuple[float, dict[str, Fact]]] = Lru(MOST_MEANT)

    def __len__(self) -> int:
        return sum(map(len, self._given.values()))

    def give(self, scope: str, order: Order) -> None:
        """Registers a command as pending."""
        self._given.setdefault(scope, []).append(order)
        recent = [each for each in self._recent.get(scope, ()) if order.at - each.at <= RETRIED_WITHIN]
        self._recent.put(scope, (*recent[-MOST_RECENT:], order))

    def since(self, scope: str, at: float) -> tuple[Forgetting, ...]:
        """Returns the commands given in this scope after `at`, as far back as a request may last."""
        return tuple(what for order in self._recent.get(scope, ()) if order.at > at for what in order.what)

    def done(self, scope: str, order: Order) -> None:
        """Removes a command from the pending ones."""
        given = self._given.get(scope, [])
        if order in given:
            given.remove(order)
        if not given:
            self._given.pop(scope, None)

    def means(self, scope: str, order: Order, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Selects those of `facts`, all facts of the scope, that the command removes; a retry selects the same."""
        known = {fact.id: fact for fact in facts}
        if order.is_wipe or not order.chain:
            return order.means(known.values())
        before = self._meant_before(scope, order)
        meant = order.means((before | known).values())
        if not meant:
            log.info("an order to forget names nothing that is known, or not which of several facts")
        self._meant.put((scope, order.chain[-1]), (order.at, before | {fact.id: fact for fact in meant}))
        return tuple(fact for fact in meant if fact.id in known)

    def spared(self, scope: str, facts: Sequence[Fact]) -> Sequence[Fact]:
        """Returns `facts`, all facts of the scope, without those that pending commands remove."""
        for order in self._given.get(scope, ()):
            meant = {fact.id for fact in self.means(scope, order, facts)}
            facts = [fact for fact in facts if fact.id not in meant]
        return facts

    def _meant_before(self, scope: str, order: Order) -> dict[str, Fact]:
        while self._meant:
            key, (at, _) = next(iter(self._meant.items()))
            if order.at - at <= RETRIED_WITHIN:
                break
            del self._meant[key]
        _, meant = self._meant.get((scope, order.chain[-1]), (0.0, {}))
        return meant


_LOOKS = 3  # attempts to read the facts without one being learnt in the meantime


async def undo(wipes: WipeStore, facts: FactStore, wiped: Wiped, now: float) -> None:
    """Queues the restoration of a wipe. Facts that others have ended since are restored as superseded; those learnt
    after the wipe may be superseded by restored ones."""
    scope = wiped.scope
    for _ in range(_LOOKS):
        groups = [*await wipes.facts(scope, now, wiped.until), await facts.all(scope)]
        rows = await asyncio.to_thread(reunited, groups)  # compares each with each
        if await facts.all(scope) == groups[-1]:
            break
    wipes.restore(scope, now, wiped.until)
    if rows:
        facts.put(scope, rows)
