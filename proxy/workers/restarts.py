"""How long the supervisor waits before it starts a worker again."""

STEADY = 10.0  # seconds: a worker that lived so long is started again at once
FIRST = 0.5  # seconds after a second early death in a row
LONGEST = 30.0  # seconds


def early_deaths(before: int, lived: float) -> int:
    """Returns the number of early deaths in a row, `before` until now, after a worker that lived so many seconds."""
    return 0 if lived >= STEADY else before + 1


def pause(early: int) -> float:
    """Returns the seconds to wait after so many early deaths in a row: none after the first, twice as long each time
    from then on."""
    return min(LONGEST, FIRST * 2.0 ** min(early - 2, 16)) if early > 1 else 0.0
