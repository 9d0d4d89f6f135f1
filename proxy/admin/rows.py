"""Ledger rows and sums as JSON for the admin API (pure)."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields
from operator import add, attrgetter
from typing import TypeVar

from proxy.types import Json, LedgerRow, Sums, Trail
from proxy.types.account import plain

K = TypeVar("K", bound=Hashable)

_numbers: Callable[[Sums], tuple[float, ...]] = attrgetter(*(each.name for each in fields(Sums)))
_NAMES = tuple(each.name for each in fields(LedgerRow))


def row_json(number: int | None, row: LedgerRow, *, whole: bool = False) -> dict[str, Json]:
    """A row as JSON: every field, and its number, which grows as rows are written. How the prompt came to be is told in
    a few words unless the `whole` trail is wanted."""
    values: dict[str, Json] = {name: getattr(row, name) for name in _NAMES}
    values["number"] = number
    if not whole:
        values["trail"] = _small(row.trail)
    return values


def _small(trail: Trail | None) -> Json:
    if trail is None:
        return None
    decided = trail.break_even
    return {
        "turns": trail.turns,
        "kept": trail.kept,
        "shift": trail.shift,
        "break_even": None if decided is None else {"leave": decided.leave, "reason": decided.reason},
    }


def sums_json(sums: Sums) -> Mapping[str, Json]:
    """Sums as JSON, with what follows from them. Dollars saved are what plain pass-through would have cost, less what
    was paid: it is below 0 where context management came to more than it left out."""
    dollars = sums.saved_exact + sums.saved_intent + sums.saved_context - sums.added_context
    asked = max(sums.requests, 1)
    return {
        **plain(sums),
        "tokens_saved": sums.tokens_original - sums.tokens_sent + sums.tokens_reused,
        "dollars_saved": dollars,
        "hit_rate_exact": sums.reused_exact / asked,
        "hit_rate_intent": sums.reused_intent / asked,
        "passthrough_cost": sums.cost + dollars,
    }


def total(every: Iterable[Sums]) -> Sums:
    """One sum of all."""
    return added_up((None, sums) for sums in every).get(None, Sums())


def added_up(given: Iterable[tuple[K, Sums]]) -> dict[K, Sums]:
    """The sums of each key."""
    known: dict[K, tuple[float, ...]] = {}
    for key, sums in given:
        so_far, numbers = known.get(key), _numbers(sums)
        known[key] = numbers if so_far is None else tuple(map(add, so_far, numbers))
    return {key: Sums(*numbers) for key, numbers in known.items()}  # type: ignore[arg-type]  # whole ones stay whole
