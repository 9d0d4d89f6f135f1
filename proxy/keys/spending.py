"""Days and months of UTC, by which budgets count, and what was spent in them."""

import time
from calendar import timegm
from dataclasses import dataclass

from proxy.types.keys import KeySums

DAY = 86_400
NOTHING = KeySums()


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums of a key or an end user over the present day and month."""

    day: KeySums = NOTHING
    month: KeySums = NOTHING


def days_of(now: float) -> tuple[int, int]:
    """Returns the day of a moment, and the first day of its month: days of UTC, since the epoch."""
    today = int(now // DAY)
    return today, today - time.gmtime(now).tm_mday + 1


def next_day(now: float) -> float:
    """Returns the seconds until the day ends."""
    return DAY - now % DAY


def next_month(now: float) -> float:
    """Returns the seconds until the month ends."""
    year, month = time.gmtime(now)[:2]
    return timegm((year + month // 12, month % 12 + 1, 1, 0, 0, 0)) - now
