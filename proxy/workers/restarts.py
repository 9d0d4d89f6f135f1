"""The time that the supervisor waits before it starts a worker again."""

STEADY = 10.0  # seconds: a worker that served so long is started again at once
FIRST = 0.5  # seconds after a second early death in a row
LONGEST = 30.0  # seconds


def early_deaths(before: int, served: float) -> int:
    """Returns the number of early deaths in a row, `before` until now, after a worker that served so many seconds: to
    start may take long, and says nothing."""
    return 0 if served >= STEADY else before + 1


def pause(early: int) -> float:
    """Returns the seconds to wait after so many early deaths in a row: none after the first, twice as long each time
    from then on."""
    return min(LONGEST, FIRST * 2.0 ** min(early - 2, 16)) if early > 1 else 0.0
