"""Ledger rows of a request, with its cost and savings: measured by the upstream's usage if it is known, else by our
estimate. Pure. And the contents of requests, where they are kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.context import layout
from proxy.protocol.apis import path_of
from proxy.protocol.message import packed
from proxy.storage.base import ContentStore
from proxy.tasks import Attempts
from proxy.types import (
    MANAGED_ROUTE,
    UNMANAGED,
    Contents,
    Delivery,
    Exchange,
    LedgerRow,
    Message,
    Plan,
    Price,
    PromptTokens,
    ReuseHit,
    Trail,
    Usage,
)


def forwarded(
    exchange: Exchange,
    delivery: Delivery,
    generated: int,
    price: Price,
    attempts: Attempts,
    total: float,
    spent: float | None = None,
) -> LedgerRow:
    """Returns the row of a request that an upstream answered, the sum of all rounds if it took several. `generated`:
    tokens of the answer by our count, if the upstream reported none. `total`: seconds. `spent`: US dollars of several
    rounds, each at its upstream's price."""
    plan, tokens, usage = exchange.plan, exchange.plan.tokens, delivery.usage
    # Requests that failed are assumed not to be billed.
    unbilled = usage is None and delivery.outcome in ("upstream_error", "our_error")
    counted = usage or Usage(
        0 if unbilled else tokens.sent * max(1, len(delivery.rounds)), 0 if unbilled else generated
    )
    cost = cost_of(counted, price) if spent is None else spent
    is_changed = plan.messages is not None and not unbilled
    alone = _alone(delivery, counted, is_changed=is_changed)
    # Pass-through is assumed to find its prompts in the provider's cache. So are ours, where nobody says if they were.
    compared = cost_of(_found(counted, tokens), price) if spent is None and is_silent(usage) else cost
    return LedgerRow(
        **{**_common(exchange, attempts, total), "trail": _trail(plan, delivery, counted, price)},
        upstream=delivery.upstream,
        source="upstream",
        status=delivery.status,
        outcome=delivery.outcome,
        tokens_original=tokens.original if is_changed else alone.prompt_tokens,
        tokens_sent=counted.prompt_tokens,
        tokens_cached=counted.cached_tokens,
        tokens_billed=counted.prompt_tokens,
        tokens_completion=counted.completion_tokens,
        measured=usage is not None,
        cost=cost,
        cost_saved=_passed_through(tokens, alone, price) - compared if is_changed else cost_of(alone, price) - cost,
        mechanisms=dict(tokens.mechanisms.items()) if is_changed else {},
        tokens_busted=tokens.busted if is_changed else 0,
        upstream_seconds=delivery.upstream_seconds,
        retries=delivery.retries,
    )


def reused(exchange: Exchange, hit: ReuseHit, price: Price, attempts: Attempts, total: float) -> LedgerRow:
    """Returns the row of a request that a stored answer served. `total`: seconds."""
    usage = hit.answer.usage
    # The provider's own prefix cache would have held an identical prompt, and that saving is not ours.
    alike = usage and replace(usage, cached_tokens=usage.prompt_tokens, written_tokens=0, written_for_an_hour=0)
    return LedgerRow(
        **_common(exchange, attempts, total),
        upstream=hit.answer.upstream,
        source=hit.source,
        status=200,
        outcome="complete",
        tokens_original=usage.prompt_tokens if usage else 0,
        tokens_sent=0,
        tokens_cached=0,
        tokens_billed=0,
        tokens_completion=usage.completion_tokens if usage else 0,
        measured=usage is not None,
        cost=0.0,
        cost_saved=cost_of(alike, price) if alike else 0.0,
        upstream_seconds=0.0,
    )


def commanded(exchange: Exchange, attempts: Attempts, total: float) -> LedgerRow:
    """Returns the row of a command that the system has answered: it has cost nothing. `total`: seconds."""
    return LedgerRow(
        **_common(exchange, attempts, total),
        upstream=exchange.upstream,
        source="command",
        status=200,
        outcome="complete",
        tokens_original=0,
        tokens_sent=0,
        tokens_cached=0,
        tokens_billed=0,
        tokens_completion=0,
        measured=False,
        cost=0.0,
        cost_saved=0.0,
        upstream_seconds=0.0,
    )


def _common(exchange: Exchange, attempts: Attempts, total: float) -> dict[str, Any]:
    route = _route(exchange)
    return {
        "request_id": exchange.incoming.request_id,
        "at": exchange.incoming.received_at,
        "scope": exchange.identity.scope.id,
        "session": exchange.identity.session if route == MANAGED_ROUTE else UNMANAGED,
        "model": exchange.request.model,
        "stream": exchange.request.stream,
        "plan": exchange.plan.kind,
        "plan_reason": exchange.plan.reason,
        "trail": exchange.plan.trail,
        "route": route,
        "reuse_reason": exchange.miss.reason,
        "intent_reason": exchange.miss.intent,
        "total_seconds": total,
        "stage_seconds": dict(attempts.seconds),
    }


def _route(exchange: Exchange) -> str:
    """Returns the route of a request: its API's own if it had to pass as it came, else that of all that is managed."""
    origin = exchange.request.origin
    passed = origin is not None and origin.hands_off and exchange.directives.mode == "off"
    return f"/v1{path_of(origin.api)}" if origin is not None and passed else MANAGED_ROUTE


def _trail(plan: Plan, delivery: Delivery, counted: Usage, price: Price) -> Trail | None:
    """Returns the trail of a plan, with the rounds of its answer, and what the schemas of memory's tools have cost in
    them. They stand at the very beginning of a prompt, so whatever was found in a prefix cache has them first."""
    trail = plan.trail
    if trail is None or trail.desk is None:
        return trail
    desk, rounds = trail.desk, [each.usage for each in delivery.rounds] or [counted]
    # The last round had none of them if the client's own request was sent at last.
    told = rounds[:-1] if plan.desk is not None and not plan.desk.schemas and len(rounds) > 1 else rounds
    cost = sum(_of_schemas(min(desk.schemas, each.prompt_tokens), each, price) for each in told if each is not None)
    return replace(trail, desk=replace(desk, rounds=len(rounds), cost=cost))


def _of_schemas(tokens: int, usage: Usage, price: Price) -> float:
    cached = min(tokens, usage.cached_tokens)
    written = None if usage.written_tokens is None else min(tokens - cached, usage.written_tokens)
    hour = min(usage.written_for_an_hour, written or 0)
    return cost_of(Usage(tokens, 0, cached, written_tokens=written, written_for_an_hour=hour), price)


def cost_of(usage: Usage, price: Price) -> float:
    """Returns the cost in US dollars. Tokens in the prefix cache are billed at its price; new ones are written to it,
    for an hour where that is reported, except for those that the upstream reports as not written."""
    new = usage.prompt_tokens - usage.cached_tokens
    hour = usage.written_for_an_hour
    written = (new if usage.written_tokens is None else usage.written_tokens) - hour
    dearer = max(price.input, price.write) - price.input
    prompt = usage.cached_tokens * price.cached + new * price.input + written * dearer
    prompt += hour * (max(price.input, price.hour) - price.input)
    return (prompt + usage.completion_tokens * price.output) / 1_000_000


def is_silent(usage: Usage | None) -> bool:
    """Tells whether a report says nothing of the prefix cache, not even that it held nothing."""
    if usage is None:
        return True
    return not (usage.cached_tokens or usage.reports_none_cached) and usage.written_tokens is None


def _found(counted: Usage, tokens: PromptTokens) -> Usage:
    """Returns the usage with as many cached tokens as the plan has reckoned with."""
    return replace(counted, cached_tokens=min(tokens.expected, counted.prompt_tokens))


def _alone(delivery: Delivery, counted: Usage, *, is_changed: bool) -> Usage:
    """Returns the usage of an answer without the rounds that the client has not asked for: the completion of the last,
    with the prompt of the first; if the client's own request was sent at last, with that one's."""
    told = [each.usage for each in delivery.rounds if each.usage is not None]
    if not told:
        return counted
    return replace(told[0], completion_tokens=told[-1].completion_tokens) if is_changed else told[-1]


def _passed_through(tokens: PromptTokens, counted: Usage, price: Price) -> float:
    """Returns what the request would have cost unchanged, in US dollars. The provider's cache is assumed to hold
    everything that was sent before, since that saving is not ours; of the new tokens the same share would have been
    written as of ours, and for as long; none where the client asks for no cache."""
    cached = min(tokens.repeated, tokens.original)
    new, ours = tokens.original - cached, counted.prompt_tokens - counted.cached_tokens
    share = new / ours if ours and not tokens.is_unwritten else 0.0
    known = counted.written_tokens is not None or tokens.is_unwritten
    written = round(share * (counted.written_tokens or 0)) if known else None
    hour = round(share * counted.written_for_an_hour)
    whole = Usage(tokens.original, counted.completion_tokens, cached, written_tokens=written, written_for_an_hour=hour)
    return cost_of(whole, price)


# Prefixes of the request headers that are kept. Never one that may carry a key.
SHOWN_HEADERS = ("x-olvido-", "user-agent", "cache-control", "x-stainless-retry-count")


@dataclass(frozen=True, slots=True)
class Keeper:
    """Keeps the contents of requests and answers, for display."""

    contents: ContentStore
    has_forgotten: Callable[[str, Sequence[bytes]], bool]  # (scope of memory, links): is one of them to be forgotten?

    def keep(self, exchange: Exchange, answers: Sequence[Message]) -> None:
        """Stores what a request and its answer said, unless the client or an order to forget forbids it."""
        identity, plan = exchange.identity, exchange.plan
        if not exchange.directives.remember or exchange.directives.mode == "off":
            return
        if self.has_forgotten(identity.memory, identity.chain):
            return
        is_changed = plan.messages is not None
        self.contents.put(
            Contents(
                scope=identity.scope.id,
                request_id=exchange.incoming.request_id,
                session=identity.session,
                at=exchange.incoming.received_at,
                body=exchange.request.raw,
                sent=packed(plan.messages or ()) if is_changed else b"",
                fates=layout.pack(plan.fates) if plan.fates is not None else b"",
                answer=answers[0].raw if answers else b"",
                headers={name: value for name, value in exchange.incoming.headers if name.startswith(SHOWN_HEADERS)},
            )
        )
