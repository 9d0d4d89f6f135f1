"""Limits kept: whose they are, what is told to whom they refuse, and that no failure of ours refuses anybody."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proxy.errors import OutOfQuota, TooMany
from proxy.keys.book import KeyBook
from proxy.keys.limiting import LAG, READ, Limiter
from proxy.storage.base import StorageError
from proxy.storage.shared.counters import SqliteCounters
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.types import Scope
from proxy.types.keys import KeySums, Use
from tests.builders import TENANT, config, ledger_row
from tests.stores import AtOnce

DAY = 86_400
NOON = 20_785 * DAY + 43_200.0
OTHER = "f" * 32


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


class Sums(SqliteKeys):
    is_away = False
    reads = 0

    async def sums(self, tenant: str, since: int, until: int) -> KeySums:
        self.reads += 1
        if self.is_away:
            raise StorageError("away")
        return await super().sums(tenant, since, until)


class House:
    """A limiter over a ledger, with a clock that a test moves."""

    def __init__(self, keys: Mapping[str, Any] | None = None, users: Mapping[str, Any] | None = None) -> None:
        settings = config(limits={"keys": keys or {}, "users": users or {}})
        database = AtOnce()
        self.clock = Clock()
        self.sums = Sums(database)
        self.ledger = SqliteLedger(database)
        self.refused: list[tuple[str, str]] = []
        self.failed: list[str] = []
        self.limiter = Limiter(
            KeyBook(settings, b"s" * 32, self.sums),
            settings.limits.users.limits(),
            SqliteCounters(),
            self.sums,
            SqliteAccounts(database),
            on_refused=lambda whose, limit: self.refused.append((whose, limit)),
            on_failed=self.failed.append,
            clock=self.clock,
        )
        self._asked = 0

    async def ask(self, scope: str = f"{TENANT}/", *, tokens: int = 10, dollars: float = 0.01) -> str:
        self._asked += 1
        tenant, _, user = scope.partition("/")
        use = Use(f"r{self._asked}", self.clock.now, 1, tokens, dollars)
        self.room = dict(await self.limiter.admit(Scope(tenant, user), use))
        return use.id

    def end(self, request_id: str, *, scope: str = f"{TENANT}/", tokens: int = 10, dollars: float = 0.01) -> None:
        """As the row of the ledger is written."""
        at = self.clock.now
        row = ledger_row(request_id=request_id, scope=scope, at=at, cost=dollars, tokens_billed=tokens)
        self.ledger.append(row)
        self.limiter.settle(request_id, tokens, dollars)


def test_where_nothing_is_limited_nobody_is_asked_anything() -> None:
    limiter = House().limiter
    assert not limiter.is_on
    assert not limiter.is_limited(Scope(TENANT))
    assert House(keys={"requests_per_minute": 0, "dollars_per_day": 0}).limiter.is_on is False
    of_users = House(users={"requests_per_minute": 3}).limiter
    assert of_users.is_on
    assert not of_users.is_limited(Scope(TENANT))
    assert of_users.is_limited(Scope(TENANT, "ana"))


async def test_a_rate_is_a_keys_own_and_is_told_in_openais_words() -> None:
    house = House(keys={"requests_per_minute": 2})
    for _ in range(2):
        await house.ask()
    with pytest.raises(TooMany) as refused:
        await house.ask()
    error = refused.value
    assert (error.status, error.type, error.code) == (429, "requests", "rate_limit_exceeded")
    assert error.message == (
        "Rate limit reached for this API key on requests per min: Limit 2, Used 2, Requested 1. Please try again in "
        "1m2s."
    )
    headers = dict(error.headers)
    assert headers["retry-after"] == "62"
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert house.refused == [("key", "requests_per_minute")]
    await house.ask(f"{OTHER}/")
    house.clock.now += 62
    await house.ask()
    assert house.room["x-ratelimit-remaining-requests"] == "1"


async def test_tokens_of_a_minute_are_those_that_came_once_they_are_known() -> None:
    house = House(keys={"tokens_per_minute": 100})
    first = await house.ask(tokens=90)
    with pytest.raises(TooMany) as refused:
        await house.ask(tokens=90)
    assert refused.value.type == "tokens"
    house.end(first, tokens=5)
    await house.ask(tokens=90)
    with pytest.raises(TooMany, match="alone is above it") as too_large:
        await house.ask(tokens=101)
    assert dict(too_large.value.headers)["x-should-retry"] == "false"


async def test_a_budget_has_what_was_spent_and_what_is_under_way() -> None:
    house = House(keys={"dollars_per_day": 1.0})
    house.ledger.append(ledger_row(request_id="before", scope=f"{TENANT}/someone", at=NOON - 600, cost=0.7))
    await house.ask(dollars=0.2)
    with pytest.raises(OutOfQuota) as refused:
        await house.ask(dollars=0.2)
    error = refused.value
    assert (error.status, error.type, error.code) == (429, "insufficient_quota", "insufficient_quota")
    assert error.message == (
        "You exceeded the quota of this API key: $1 per day, of which $0.9000 is used. It begins anew in 12h0m. "
        "This request may cost $0.2000: a shorter one, or a smaller max_tokens, may still pass."
    )
    assert dict(error.headers) == {"retry-after": str(DAY // 2), "x-should-retry": "false"}
    await house.ask(dollars=0.1)
    with pytest.raises(OutOfQuota, match=r"of which \$1\.0000 is used\. It begins anew in 12h0m\.$"):
        await house.ask(dollars=0.1)
    house.clock.now += DAY
    await house.ask(dollars=0.2)


async def test_what_a_request_turns_out_to_be_beyond_its_estimate_needs_room_too() -> None:
    house = House(keys={"dollars_per_day": 1.0, "tokens_per_minute": 1_000}, users={"dollars_per_day": 0.5})
    scope = f"{TENANT}/ana"
    small = await house.ask(scope, tokens=10, dollars=0.1)
    assert await house.limiter.raised(small, 5, 0.05) == ()  # it is less
    room = dict(await house.limiter.raised(small, 600, 0.4))
    assert room["x-ratelimit-remaining-tokens"] == "400"
    other = await house.ask(f"{TENANT}/ben", tokens=10, dollars=0.1)
    with pytest.raises(TooMany, match=r"Used 600, Requested 500\."):
        await house.limiter.raised(other, 500, 0.1)
    assert not house.limiter.is_counted(other)
    third = await house.ask(scope, tokens=10, dollars=0.05)
    with pytest.raises(OutOfQuota, match="this end user"):
        await house.limiter.raised(third, 10, 0.2)
    assert house.refused == [("key", "tokens_per_minute"), ("user", "dollars_per_day")]
    # Nothing of those that were refused is left, of the first all is.
    await house.ask(f"{TENANT}/ben", tokens=400, dollars=0.5)
    house.clock.now += 62
    with pytest.raises(OutOfQuota, match="this API key"):
        await house.ask(f"{TENANT}/cid", tokens=1, dollars=0.11)
    house.end(small, scope=scope, tokens=600, dollars=0.1)
    await house.ask(f"{TENANT}/cid", tokens=1, dollars=0.11)


async def test_a_request_that_has_passed_is_not_refused_by_its_rate_once_more() -> None:
    house = House(keys={"requests_per_minute": 1, "tokens_per_minute": 1_000})
    only = await house.ask(tokens=10)
    await house.limiter.raised(only, 900, 0.0)
    with pytest.raises(TooMany, match="on requests per min"):
        await house.ask(tokens=10)


async def test_a_clock_that_is_put_back_neither_stops_anybody_nor_lets_everybody_through() -> None:
    house = House(keys={"requests_per_minute": 2, "dollars_per_day": 1.0})
    for _ in range(2):
        house.end(await house.ask(dollars=0.2), dollars=0.2)
    house.clock.now -= 3_600
    for _ in range(2):
        house.end(await house.ask(dollars=0.25), dollars=0.25)
        house.clock.now += READ + 2 * LAG  # it is looked at once more
    with pytest.raises(TooMany, match="on requests per min"):
        await house.ask(dollars=0.1)
    house.clock.now += 61
    with pytest.raises(OutOfQuota, match=r"of which \$0\.9000 is used"):
        await house.ask(dollars=0.25)
    house.end(await house.ask(dollars=0.1), dollars=0.1)


async def test_of_a_hundred_at_once_no_two_take_the_same_room() -> None:
    house = House(keys={"dollars_per_day": 1.0})
    found = await asyncio.gather(*(house.ask(dollars=0.1) for _ in range(100)), return_exceptions=True)
    assert sum(isinstance(each, str) for each in found) == 10
    assert house.sums.reads == 2  # of the day and the month, once for all


async def test_what_has_ended_counts_once_whether_the_sums_have_it_or_not() -> None:
    house = House(keys={"dollars_per_day": 1.0})
    for _ in range(4):
        house.end(await house.ask(dollars=0.2), dollars=0.2)
    await house.ask(dollars=0.2)
    with pytest.raises(OutOfQuota):
        await house.ask(dollars=0.2)
    house.clock.now += READ + LAG + 0.1  # they are in the sums by now, which are read anew
    with pytest.raises(OutOfQuota):
        await house.ask(dollars=0.2)


async def test_answers_from_memory_count_as_requests_and_cost_nothing() -> None:
    house = House(keys={"dollars_per_day": 0.1, "requests_per_minute": 5})
    for _ in range(5):
        house.limiter.settle(await house.ask(dollars=0.1), 0, 0.0)
    with pytest.raises(TooMany):
        await house.ask(dollars=0.1)


async def test_a_request_that_comes_to_nothing_gives_its_room_back() -> None:
    house = House(keys={"dollars_per_day": 0.1})
    house.limiter.release(await house.ask(dollars=0.1))
    await house.ask(dollars=0.1)
    house.limiter.release("unknown")


async def test_an_end_user_has_limits_beside_those_of_its_key() -> None:
    house = House(keys={"requests_per_minute": 3}, users={"requests_per_minute": 2, "dollars_per_month": 1.0})
    ana, ben = f"{TENANT}/ana", f"{TENANT}/ben"
    await house.ask(ana)
    await house.ask(ana)
    assert house.room["x-ratelimit-limit-requests"] == "2"
    with pytest.raises(TooMany, match="this end user"):
        await house.ask(ana)
    await house.ask(ben)  # what was refused is counted for nobody
    with pytest.raises(TooMany, match="this API key"):
        await house.ask(ben)
    assert house.refused == [("user", "requests_per_minute"), ("key", "requests_per_minute")]
    house.clock.now += 62
    house.ledger.append(ledger_row(request_id="spent", scope=ana, at=NOON - 3 * DAY, cost=1.0))
    with pytest.raises(OutOfQuota, match="this end user"):
        await house.ask(ana)
    await house.ask(ben)


async def test_sums_that_cannot_be_read_are_those_of_the_last_look_and_refuse_nobody_who_is_new() -> None:
    house = House(keys={"dollars_per_day": 1.0, "requests_per_minute": 50})
    house.ledger.append(ledger_row(request_id="before", scope=f"{TENANT}/", at=NOON, cost=0.95))
    with pytest.raises(OutOfQuota):
        await house.ask(dollars=0.1)
    house.sums.is_away = True
    house.clock.now += 10
    with pytest.raises(OutOfQuota):
        await house.ask(dollars=0.1)
    await house.ask(f"{OTHER}/", dollars=0.1)
    assert house.failed == ["StorageError", "StorageError"]
