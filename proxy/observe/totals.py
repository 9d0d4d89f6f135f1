"""The totals of the ledger since its beginning, by model, as gauges: what a counter of this process cannot tell, since
it begins anew with the process, and since whoever scrapes sees nothing of a series that is born with a value.

Of several processes over one database they are the same numbers, with the same name of the ledger. Pure; ledger.py
reads them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from hashlib import blake2b

from proxy.observe.labels import MOST_KEYS, MOST_MODELS
from proxy.storage.accounts import OTHER
from proxy.types import Bucket, Sums
from proxy.types.keys import KeySums, TenantName

_SUMS = tuple(each.name for each in fields(Sums))


@dataclass(frozen=True, slots=True)
class Total:
    """The sums of a model, of all requests that the ledger has counted."""

    # Unix seconds of its first request: to the minute if it was in this hour or the last, else to the hour or the day.
    since: float
    sums: Sums


@dataclass(frozen=True, slots=True)
class KeyTotal:
    """The sums of a key's owner, of all requests that the ledger has counted."""

    name: str
    team: str  # "": none
    since: float  # Unix seconds at which the key was created; 0: it is configured
    sums: KeySums


def key_totals(
    owners: Mapping[str, TenantName],
    created: Mapping[str, float],
    sums: Iterable[tuple[str, KeySums]],
    most: int = MOST_KEYS,
) -> Sequence[KeyTotal]:
    """Returns the totals of all keys, used or not, oldest first; beyond `most` one of all others.
    What no key of ours is the owner of is left out. `owners`: by tenant; `created`: Unix seconds by name; `sums`: by
    tenant."""
    known = dict(sums)
    found = [
        KeyTotal(owner.name, owner.team, created.get(owner.name, 0.0), known.get(tenant, KeySums()))
        for tenant, owner in owners.items()
    ]
    found.sort(key=lambda each: (each.since, each.name))
    rest = [each.sums for each in found[most:]]
    if rest:
        others = KeySums(*(sum(values) for values in zip(*map(astuple, rest), strict=True)))
        found = [*found[:most], KeyTotal(OTHER, "", 0.0, others)]
    return found


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
