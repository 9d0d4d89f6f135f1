"""Limits of keys and end users, kept: each request is counted before it goes on, and settled as its row is written.

Fails open: sums that cannot be read are taken to be those of the last look, and where nothing can be counted the
request goes on. Where no limit is set nobody is asked anything.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from proxy.errors import OutOfQuota, TooMany
from proxy.keys.book import KeyBook
from proxy.keys.limits import Refusal, Standing, decide, standing
from proxy.keys.spending import DAY, Spent, days_of
from proxy.lru import Lru
from proxy.storage.accounts import Accounts
from proxy.storage.base import StorageError
from proxy.storage.keys import KeyStore
from proxy.storage.shared import Counters
from proxy.tasks import within
from proxy.types import Bucket, Headers, Scope
from proxy.types.keys import KeySums, Limits, Use

READ = 1.0  # seconds that sums are used for
LAG = 1.0  # seconds in which a row that was queued is surely in the sums
DEADLINE = 0.25  # seconds that a request waits for sums
MOST_OWNERS = 20_000
PATIENCE = 60.0  # seconds of a wait, above which a client need not try again by itself

Whose = Literal["key", "user"]
_MINUTES = {"minute": "min", "day": "day", "month": "month"}


@dataclass(frozen=True, slots=True)
class _Owner:
    """Somebody whose limits a request is under."""

    whose: Whose
    name: str  # tenant, or scope
    limits: Limits


@dataclass(slots=True)
class _Known:
    """Sums as they were read last."""

    spent: Spent
    day: int
    read_at: float
    lock: asyncio.Lock


class Limiter:
    """The limits of this proxy. `on_refused` is called with whose limit it was and which, `on_failed` with the reason
    why sums could not be read."""

    def __init__(
        self,
        book: KeyBook,
        users: Limits,
        counters: Counters,
        store: KeyStore,
        accounts: Accounts,
        *,
        on_refused: Callable[[Whose, str], object] = lambda _whose, _limit: None,
        on_failed: Callable[[str], object] = lambda _reason: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._users = users
        self._has_users = any(True for _ in users.items())
        self._counters = counters
        self._store = store
        self._accounts = accounts
        self._on_refused = on_refused
        self._on_failed = on_failed
        self._clock = clock
        self._known: Lru[str, _Known] = Lru(MOST_OWNERS)
        self._under_way: dict[str, tuple[Use, list[_Owner]]] = {}

    @property
    def is_on(self) -> bool:
        """True if anything is limited."""
        return self._has_users or self._book.limits_any

    def is_limited(self, scope: Scope) -> bool:
        """True if the scope is under a limit."""
        return bool(self.is_on and self._owners(scope))

    def counts_dollars(self, scope: Scope) -> bool:
        """True if the scope is under a budget in dollars."""
        return any(owner.limits.has_dollars for owner in self._owners(scope))

    async def admit(self, scope: Scope, use: Use) -> Headers:
        """Counts a request and returns the headers of its answer: the room that is left. Raises TooMany or
        OutOfQuota, and counts it for nobody then."""
        owners = self._owners(scope)
        found: Standing | None = None
        for number, owner in enumerate(owners):
            spent, since = await self._spent(owner, use.at)
            counted = await self._counters.add(owner.name, use, since)
            refusal = decide(owner.limits, counted, spent, use)
            if refusal is not None:
                for each in owners[: number + 1]:
                    self._counters.withdraw(each.name, use)
                self._on_refused(owner.whose, f"{refusal.unit}_per_{refusal.per}")
                raise refused(refusal, owner.whose, standing(owner.limits, counted, use.at))
            found = standing(owner.limits, counted, use.at).tighter(found)
        if owners:
            self._under_way[use.id] = use, owners
        return () if found is None else found.headers()

    def is_counted(self, request_id: str) -> bool:
        """True if a request is under way under a limit."""
        return request_id in self._under_way

    async def raised(self, request_id: str, tokens: int, dollars: float) -> Headers:
        """Counts what a request under way may come to beyond its estimate, and returns the headers of its answer; none
        if it may not. Raises TooMany or OutOfQuota, and counts nothing of it then."""
        use, owners = self._under_way[request_id]
        more = replace(use, requests=0, tokens=max(0, tokens - use.tokens), dollars=max(0.0, dollars - use.dollars))
        whole = replace(use, tokens=use.tokens + more.tokens, dollars=use.dollars + more.dollars)
        found: Standing | None = None
        for number, owner in enumerate(owners if more.tokens or more.dollars else ()):
            spent, since = await self._spent(owner, use.at)
            counted = await self._counters.add(owner.name, more, since)
            # The request itself has passed already.
            refusal = decide(replace(owner.limits, requests_per_minute=0), counted, spent, whole)
            if refusal is not None:
                for at, each in enumerate(owners):
                    self._counters.withdraw(each.name, whole if at <= number else use)
                self._under_way.pop(request_id, None)
                self._on_refused(owner.whose, f"{refusal.unit}_per_{refusal.per}")
                raise refused(refusal, owner.whose, standing(owner.limits, counted, use.at))
            found = standing(owner.limits, counted, use.at).tighter(found)
        self._under_way[request_id] = whole, owners
        return () if found is None else found.headers()

    def settle(self, request_id: str, tokens: int, dollars: float) -> None:
        """Ends a request with what it came to; one that is not under way is no matter."""
        if (found := self._under_way.pop(request_id, None)) is not None:
            use, owners = found
            now = self._clock()
            for owner in owners:
                self._counters.settle(owner.name, use, tokens, dollars, now)

    def release(self, request_id: str) -> None:
        """Ends a request that has come to nothing, if it is under way still."""
        self.settle(request_id, 0, 0.0)

    def _owners(self, scope: Scope) -> list[_Owner]:
        """Returns those whose limits a request of a scope is under."""
        owners = [_Owner("key", scope.tenant, self._book.limits(scope.tenant))]
        if scope.user and self._has_users:
            owners.append(_Owner("user", scope.id, self._users))
        return [owner for owner in owners if owner.limits.has_rates or owner.limits.has_budget]

    async def _spent(self, owner: _Owner, now: float) -> tuple[Spent, float]:
        """Returns the sums of an owner, and since when requests that have ended may be missing in them."""
        if not owner.limits.has_budget:
            return Spent(), now
        today, first = days_of(now)
        known = self._known.get(owner.name)
        if known is None:
            known = _Known(Spent(), today, float("-inf"), asyncio.Lock())
            self._known.put(owner.name, known)
        async with known.lock:
            # A clock that was put back has read in what is the future now.
            if not now - READ <= known.read_at <= now + READ or known.day != today:
                began = self._clock()
                try:
                    known.spent = await within(DEADLINE, self._read(owner, today, first))
                    known.read_at, known.day = began, today
                except (StorageError, TimeoutError) as error:
                    self._on_failed("deadline" if isinstance(error, TimeoutError) else type(error).__name__)
            return known.spent, known.read_at - LAG

    async def _read(self, owner: _Owner, today: int, first: int) -> Spent:
        if owner.whose == "key":
            month = await self._store.sums(owner.name, first, today)
            day = month if first == today else await self._store.sums(owner.name, today, today)
            return Spent(day, month)
        found = await self._accounts.buckets(first * DAY, (today + 1) * DAY, 86_400, owner.name)
        return Spent(_added([each for each in found if each.at >= today * DAY]), _added(found))


def _added(buckets: list[Bucket]) -> KeySums:
    """Returns the sums of buckets as those of a key."""
    sums = [each.sums for each in buckets]
    tokens = sum(each.tokens_billed + each.tokens_completion for each in sums)
    dollars = sum(each.cost - each.quality + each.unmanaged_cost for each in sums)
    return KeySums(sum(each.requests for each in sums), tokens, dollars)


def refused(refusal: Refusal, whose: Whose, room: Standing) -> TooMany | OutOfQuota:
    """Returns the error for the client, in OpenAI's words and shape."""
    unit, per = refusal.unit, _MINUTES[refusal.per]
    who = "this API key" if whose == "key" else "this end user"
    wait = round(refusal.wait + 0.5)
    headers: Headers = (("retry-after", str(wait)), *room.headers())
    if wait > PATIENCE or refusal.is_too_large:
        headers = (*headers, ("x-should-retry", "false"))
    if unit == "dollars":
        text = (
            f"You exceeded the quota of {who}: ${refusal.limit:g} per {per}, of which ${refusal.used:.4f} is used. It "
            f"begins anew in {_long(refusal.wait)}."
        )
        if refusal.used < refusal.limit:
            text += (
                f" This request may cost ${refusal.asked:.4f}: a shorter one, or a smaller max_tokens, may still pass."
            )
        return OutOfQuota(text, headers=headers)
    text = (
        f"Rate limit reached for {who} on {unit} per {per}: Limit {refusal.limit:,.0f}, Used {refusal.used:,.0f}, "
        f"Requested {refusal.asked:,.0f}."
    )
    if refusal.is_too_large:
        return TooMany(f"{text} The request alone is above it.", kind=unit, headers=headers)
    return TooMany(f"{text} Please try again in {_long(refusal.wait)}.", kind=unit, headers=headers)


def _long(seconds: float) -> str:
    """Returns a duration as people read it, rounded up."""
    whole = round(seconds + 0.5)
    hours, minutes = whole // 3_600, whole % 3_600 // 60
    return f"{hours}h{minutes}m" if hours else f"{minutes}m{whole % 60}s" if minutes else f"{whole}s"
