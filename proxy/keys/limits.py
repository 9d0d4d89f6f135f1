"""Decision whether a request may go on under the limits of a key or an end user. Pure.

A minute is any sixty seconds: uses are counted by the second, and of the seconds before the present one sixty count. A
budget is of a day or a month of UTC: what the ledger's sums have, and what they do not have yet (requests under way by
their estimates, those that ended a moment ago as they came). The request itself is counted before it is decided, so of
many at once no two take the same room. Hence

    spent <= limit + what admitted requests cost beyond their estimates

and within any minute never more requests than the limit. Where the clock was put back, what was counted by the old one
counts no more: else nobody could ask until the new one has come as far.
"""

from dataclasses import dataclass

from proxy.keys.spending import Spent, next_day, next_month
from proxy.types import Headers
from proxy.types.keys import Counted, Limits, Per, Unit, Use

WINDOW = 61  # whole seconds that a minute may touch
ROUNDING = 1e-9  # share of a budget by which sums of floats may be off


@dataclass(frozen=True, slots=True)
class Refusal:
    """The limit that a request would exceed."""

    unit: Unit
    per: Per
    limit: float
    used: float  # without the request
    asked: float  # by the request
    wait: float  # seconds until there may be room

    @property
    def is_too_large(self) -> bool:
        """True if no wait helps: the request alone is above the limit."""
        return self.asked > self.limit


@dataclass(frozen=True, slots=True)
class Standing:
    """The room that is left by the minute, the request included, for the headers of its answer."""

    limits: Limits
    requests: int = 0  # used
    tokens: int = 0
    reset: float = 0.0  # seconds until nothing is used any more

    def headers(self) -> Headers:
        """Returns `x-ratelimit-*` as OpenAI names them."""
        told: list[tuple[str, str]] = []
        for unit, limit, used in (
            ("requests", self.limits.requests_per_minute, self.requests),
            ("tokens", self.limits.tokens_per_minute, self.tokens),
        ):
            if limit:
                told += [
                    (f"x-ratelimit-limit-{unit}", str(limit)),
                    (f"x-ratelimit-remaining-{unit}", str(max(0, limit - used))),
                    (f"x-ratelimit-reset-{unit}", f"{self.reset:.0f}s"),
                ]
        return tuple(told)

    def tighter(self, other: "Standing | None") -> "Standing":
        """Returns the one of both that leaves less room."""
        return self if other is None or self.room <= other.room else other

    @property
    def room(self) -> float:
        """The least share of a limit that is left; 1 without one."""
        pairs = (
            (self.limits.requests_per_minute, self.requests),
            (self.limits.tokens_per_minute, self.tokens),
        )
        return min((1 - used / limit for limit, used in pairs if limit), default=1.0)


def with_room(headers: Headers, room: Headers) -> Headers:
    """Returns the headers of an answer with those of `room`, in place of the upstream's own of the same names, which
    tell of a key that is not the client's."""
    names = {name for name, _ in room}
    return (*(each for each in headers if each[0] not in names), *room) if room else headers


def decide(limits: Limits, counted: Counted, spent: Spent, use: Use) -> Refusal | None:
    """Returns the limit that forbids the request; None if none does. `counted` includes `use`."""
    now = use.at
    for unit, per, limit in limits.items():
        asked = getattr(use, unit)
        if per == "minute":
            total = sum(_amounts(counted, unit, now))
            if total > limit:
                return Refusal(unit, per, limit, total - asked, asked, _wait(counted, unit, limit, use))
            continue
        sums, until = (spent.day, next_day) if per == "day" else (spent.month, next_month)
        used = getattr(sums, unit) + getattr(counted, unit) - asked
        if used >= limit * (1 - ROUNDING) or used + asked > limit * (1 + ROUNDING):
            return Refusal(unit, per, limit, used, asked, until(now))
    return None


def standing(limits: Limits, counted: Counted, now: float) -> Standing:
    """Returns the room that is left."""
    last = max((second for second, *_ in _recent(counted, now)), default=int(now) - WINDOW)
    return Standing(
        limits,
        round(sum(_amounts(counted, "requests", now))),
        round(sum(_amounts(counted, "tokens", now))),
        max(0.0, last + WINDOW - now),
    )


def _amounts(counted: Counted, unit: Unit, now: float) -> list[float]:
    """Returns what each second has that still counts."""
    at = 1 if unit == "requests" else 2
    return [each[at] for each in _recent(counted, now)]


def _recent(counted: Counted, now: float) -> list[tuple[int, int, int]]:
    """Returns the seconds that still count, oldest first. Clocks of several machines may differ by less than a
    minute."""
    return sorted(each for each in counted.seconds if -WINDOW < each[0] - int(now) < WINDOW)


def _wait(counted: Counted, unit: Unit, limit: float, use: Use) -> float:
    """Returns the seconds until as much has left the minute as the request needs; the whole minute if it needs more
    than there is."""
    at = 1 if unit == "requests" else 2
    left = sum(_amounts(counted, unit, use.at)) - limit
    for each in _recent(counted, use.at):
        left -= each[at]
        if left <= 0:
            return max(1.0, each[0] + WINDOW - use.at)
    return float(WINDOW)
