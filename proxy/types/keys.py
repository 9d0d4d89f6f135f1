"""Keys that this proxy gives out, and what they may use; what stands in the way of a request that may not."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal

Per = Literal["minute", "day", "month"]
Unit = Literal["requests", "tokens", "dollars"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a key or an end user. None: not said, so what stands behind it holds; 0: there is none. Days and months
    are those of UTC."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    dollars_per_day: float | None = None
    dollars_per_month: float | None = None

    def over(self, others: "Limits") -> "Limits":
        """Returns these limits, and of `others` those that these do not say."""
        own = {each.name: said for each in fields(self) if (said := getattr(self, each.name)) is not None}
        return replace(others, **own)

    def items(self) -> Iterator[tuple[Unit, Per, float]]:
        """Yields the limits that there are."""
        for unit, per, name in _NAMES:
            if limit := getattr(self, name):
                yield unit, per, limit

    @property
    def has_rates(self) -> bool:
        """True if something is limited by the minute."""
        return bool(self.requests_per_minute or self.tokens_per_minute)

    @property
    def has_budget(self) -> bool:
        """True if something is limited by the day or the month."""
        return bool(self.tokens_per_day or self.tokens_per_month or self.dollars_per_day or self.dollars_per_month)

    @property
    def has_dollars(self) -> bool:
        """True if dollars are limited."""
        return bool(self.dollars_per_day or self.dollars_per_month)


_NAMES: tuple[tuple[Unit, Per, str], ...] = (
    ("requests", "minute", "requests_per_minute"),
    ("tokens", "minute", "tokens_per_minute"),
    ("tokens", "day", "tokens_per_day"),
    ("tokens", "month", "tokens_per_month"),
    ("dollars", "day", "dollars_per_day"),
    ("dollars", "month", "dollars_per_month"),
)

KeySource = Literal["configured", "created"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that this proxy has given out, without the key itself."""

    id: str  # 16 hex digits; another key of the same name has another one
    name: str  # its owner; a later key of the same name has the same memory
    hash: bytes  # keyed, of the key
    team: str = ""
    limits: Limits = Limits()
    created_at: float = 0.0  # Unix seconds; 0: it is in the configuration
    revoked_at: float = 0.0  # 0: it holds
    last_used_at: float = 0.0  # to the minute; 0: never, or not known
    source: KeySource = "created"

    @property
    def is_active(self) -> bool:
        """True until it is revoked."""
        return not self.revoked_at


@dataclass(frozen=True, slots=True)
class TenantName:
    """The name of a tenant, for people: that of its key, and the team that this belongs to."""

    name: str
    team: str = ""


@dataclass(frozen=True, slots=True)
class KeySums:
    """Sums of a tenant over some days, of all its end users."""

    requests: int = 0
    tokens: int = 0  # prompt and completion tokens that an upstream was asked for
    dollars: float = 0.0
    saved: float = 0.0  # dollars against pass-through; below 0 if memory cost more than it saved


@dataclass(frozen=True, slots=True)
class Use:
    """The use that a request makes of what is limited: estimated while it is under way, then as it came."""

    id: str  # of the request
    at: float  # when it came, Unix seconds
    requests: int = 1
    tokens: int = 0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class Counted:
    """The use of one key or end user, as it is counted just now over all processes that share the counts."""

    seconds: tuple[tuple[int, int, int], ...] = ()  # (second, requests, tokens) of the last minute, oldest first
    tokens: int = 0  # of requests that no sum has yet: under way, or ended a moment ago
    dollars: float = 0.0  # of the same
