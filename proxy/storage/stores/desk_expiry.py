"""The end of tapes and events, as the retention of every kind of database knows it."""

from collections.abc import Iterator

from proxy.storage.stores.job_expiry import Leaving


def leaving(now: float, tapes: float) -> Iterator[Leaving]:
    """Yields what leaves at `now`. `tapes`: seconds that a line or an event is kept; 0: for ever."""
    if tapes:
        yield Leaving("desk_lines", ("change",), "true", "at", now - tapes)
        yield Leaving("desk_events", ("id",), "true", "at", now - tapes)
