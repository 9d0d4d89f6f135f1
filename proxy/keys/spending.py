"""Days and months of UTC, by which budgets count."""

import time

DAY = 86_400


def days_of(now: float) -> tuple[int, int]:
    """Returns the day of a moment, and the first day of its month: days of UTC, since the epoch."""
    today = int(now // DAY)
    return today, today - time.gmtime(now).tm_mday + 1
