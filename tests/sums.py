"""What a ledger row adds to the sums, in Python: what is written in SQL is compared with it."""

from typing import Any

from proxy.storage.stores.ledger import MECHANISMS
from proxy.types import MANAGED_ROUTE, LedgerRow, Sums
from proxy.types.quality import COMPARING


def sums_of(row: LedgerRow) -> Sums:
    """What one row adds to the sums."""
    if row.route != MANAGED_ROUTE:
        return Sums(unmanaged=1, unmanaged_cost=row.cost)
    if row.reuse_reason in COMPARING:
        return Sums(cost=row.cost, quality=row.cost)
    is_sent, is_changed = row.source == "upstream", bool(row.mechanisms)
    reused = 0 if is_sent else row.tokens_original
    return Sums(
        requests=1,
        errors=int(row.status >= 400 or row.outcome in ("upstream_broken", "our_error")),
        reused_exact=int(row.source == "exact"),
        reused_intent=int(row.source == "intent"),
        managed=int(is_sent and row.plan == "managed"),
        over_budget=int(is_sent and row.plan == "over-budget"),
        failed_open=int(is_sent and row.plan == "fail-open"),
        tokens_original=row.tokens_original if is_sent else 0,
        tokens_sent=row.tokens_sent,
        tokens_cached=row.tokens_cached,
        tokens_billed=row.tokens_billed,
        tokens_completion=row.tokens_completion if is_sent else 0,
        tokens_measured=row.tokens_sent if row.measured else 0,
        tokens_reused=0 if is_sent else row.tokens_original + row.tokens_completion,
        tokens_reused_prompt=reused,
        tokens_busted=row.tokens_busted,
        cost=row.cost,
        saved_exact=row.cost_saved if row.source == "exact" else 0.0,
        saved_intent=row.cost_saved if row.source == "intent" else 0.0,
        saved_context=max(0.0, row.cost_saved) if is_changed else 0.0,
        added_context=max(0.0, -row.cost_saved) if is_changed else 0.0,
        overhead_seconds=max(0.0, row.total_seconds - row.upstream_seconds),
        memory=row.cost if row.reuse_reason == "memory" else 0.0,
        **_mechanisms(row),
    )


def _mechanisms(row: LedgerRow) -> dict[str, Any]:
    return {name: row.mechanisms.get(name, 0) for name in MECHANISMS}
