"""The totals of the ledger since its beginning, by model, as gauges: what a counter of this process cannot tell, since
it begins anew with the process, and since whoever scrapes sees nothing of a series that is born with a value.

Of several processes over one database they are the same numbers, with the same name of the ledger. Pure; ledger.py
reads them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b

from proxy.observe.labels import MOST_MODELS
from proxy.storage.base import OTHER
from proxy.types import Bucket, Sums

_SUMS = tuple(each.name for each in fields(Sums))


@dataclass(frozen=True, slots=True)
class Total:
    """The sums of a model, of all requests that the ledger has counted."""

    # Unix seconds of its first request: to the minute if it was in this hour or the last, else to the hour or the day.
    since: float
    sums: Sums


def ledger_name(secret: bytes) -> str:
    """Returns a name of a ledger, the same for all processes over one database; 8 hex digits. `secret`: of its
    storage."""
    return blake2b(b"ledger", key=secret, digest_size=4).hexdigest()


def totals(buckets: Iterable[Bucket], before: Mapping[str, Total] | None = None) -> Mapping[str, Total]:
    """Returns the totals of buckets by their names, added to those of earlier buckets."""
    found = dict(before or {})
    for each in buckets:
        known = found.get(each.name)
        if known is None:
            found[each.name] = Total(each.at, each.sums)
        else:
            found[each.name] = Total(min(known.since, each.at), added(known.sums, each.sums))
    return found


def added(one: Sums, other: Sums) -> Sums:
    """Returns the sum of two sums."""
    return Sums(**{name: getattr(one, name) + getattr(other, name) for name in _SUMS})


def refined(found: Mapping[str, Total], buckets: Sequence[Bucket], width: float) -> Mapping[str, Total]:
    """Returns the totals with beginnings of a finer grain: of those that began with a bucket of `width` seconds in
    which there are finer ones, the beginning of the first of these."""
    first: dict[str, float] = {}
    for each in buckets:
        first[each.name] = min(each.at, first.get(each.name, each.at))
    return {
        name: replace(total, since=first[name]) if name in first and total.since <= first[name] < total.since + width
        else total
        for name, total in found.items()
    }  # fmt: skip


def bounded(found: Mapping[str, Total], most: int = MOST_MODELS) -> Mapping[str, Total]:
    """Returns the totals of the `most` models that came first, and one of all others: which those are never changes, so
    that no total falls."""
    known = sorted((name for name in found if name != OTHER), key=lambda name: (found[name].since, name))
    kept = {name: found[name] for name in known[:most]}
    rest = [found[name] for name in (*known[most:], *([OTHER] if OTHER in found else ()))]
    if rest:
        sums = Sums()
        for each in rest:
            sums = added(sums, each.sums)
        kept[OTHER] = Total(min(each.since for each in rest), sums)
    return kept
