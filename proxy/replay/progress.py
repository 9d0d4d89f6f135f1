"""Progress of a long work on a terminal: percent done, and the time that is left. A pipe and a file get nothing."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

EVERY = 0.2  # seconds between two lines
SURE = 2.0  # seconds after which the pace so far says something
_CLEAR = "\r\x1b[K"


class Progress:
    """A line on `out` that is written anew. `clock`: monotonic seconds."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._is_shown = out.isatty()
        self._begun: float | None = None
        self._told = float("-inf")

    def say(self, what: str) -> None:
        """Shows that something is under way whose end is not known."""
        if self._is_shown:
            self._write(f"{_CLEAR}{what} …")

    @contextmanager
    def saying(self, what: str) -> Iterator[None]:
        """Shows `what` for as long as the block takes, then clears the line."""
        self.say(what)
        try:
            yield
        finally:
            if self._is_shown:
                self._write(_CLEAR)

    def __call__(self, done: int, of: int) -> None:
        """Shows that `done` of `of` is done; at the end the line is cleared."""
        if not self._is_shown:
            return
        now = self._clock()
        self._begun = now if self._begun is None else self._begun
        if done >= of:
            self._write(_CLEAR)
        elif now - self._told >= EVERY:
            self._told = now
            self._write(f"{_CLEAR}{done / of:4.0%}{self._left(now - self._begun, done, of)}")

    def _left(self, seconds: float, done: int, of: int) -> str:
        if seconds < SURE or not done:
            return ""
        left = seconds / done * (of - done)
        return f", about {duration(left)} left"

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def duration(seconds: float) -> str:
    """Renders a time that nobody needs to know exactly."""
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02} min"
