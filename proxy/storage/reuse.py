"""What every backend does with an entry for reuse: how two of the same id become one (`joined`), and what a report does
to it."""

from dataclasses import replace

from proxy.types import ReuseEntry

KEPT_AFTER_EXPIRY = 30 * 86_400.0  # seconds that an entry with strikes is remembered after its end
LOG_ROWS = 1_000  # of a scope


def joined(one: ReuseEntry, other: ReuseEntry) -> ReuseEntry:
    """What is known of an entry from both: the newer question, the strikes of either. In any order, any number of
    times, it is the same; of two at the same time the first is taken."""
    newer = other if other.created_at > one.created_at else one
    return replace(
        newer,
        min_cosine=max(one.min_cosine, other.min_cosine),
        strikes=max(one.strikes, other.strikes),
        served=max(one.served, other.served),
        evicted_at=max(one.evicted_at, other.evicted_at),
    )


def struck(entry: ReuseEntry, min_cosine: float, at: float, *, evict: bool) -> ReuseEntry:
    """The entry after a report."""
    after = replace(entry, min_cosine=max(entry.min_cosine, min_cosine), strikes=entry.strikes + 1)
    return evicted(after, at) if evict else after


def evicted(entry: ReuseEntry, at: float) -> ReuseEntry:
    return replace(entry, evicted_at=max(entry.evicted_at, at))
