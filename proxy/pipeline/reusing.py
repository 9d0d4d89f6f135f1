"""Reuse of a stored answer in a request: looked up as the same request, then by intent, then waited for where another
request has just asked for it; and replayed."""

from dataclasses import replace

from proxy.pipeline import RequestContext
from proxy.protocol import headers as wire_headers
from proxy.reuse import exact
from proxy.types import Answer, Delivery, Headers, Plan, PromptTokens, ReuseHit, ReuseMiss, StoredAnswer

EXACT_DEADLINE = 2.0  # seconds
INTENT_DEADLINE = 0.5  # an answer from the upstream begins in about as long


async def looked_up(context: RequestContext) -> ReuseHit | ReuseMiss | Answer:
    """Returns a stored answer, the reason why there is none, or the error that identical requests just got."""
    if "identify" in context.attempts.failed:
        return ReuseMiss("no_identity", intent="no_identity")
    landed = context.services.shared.flights.landed
    upstream = exact.addressee(context.route.upstream.name, context.incoming.query, context.incoming.headers)
    reuse = await _exact(context, upstream)
    if isinstance(reuse, ReuseMiss):
        has_desk = context.services.desks.is_wanted(context.directives)
        reuse = replace(reuse, intent="tools") if has_desk else await _intent(context, upstream, reuse)
    return await _share(context, reuse, landed) if isinstance(reuse, ReuseMiss) else reuse


def replayed(context: RequestContext, hit: ReuseHit) -> Answer | None:
    """Returns the stored answer as a response; None if it can't be replayed."""
    request, at = context.request, context.incoming.received_at
    answer = context.attempts.call(hit.source, lambda: exact.replayed(hit, request, at), fallback=None)
    if answer is None:
        return None
    usage = hit.answer.usage
    planned = Plan("untouched", PromptTokens(usage.prompt_tokens if usage else 0, 0))
    miss = ReuseMiss("hit") if hit.source == "exact" else ReuseMiss(hit.missed, intent="hit")
    exchange = context.exchange(miss, planned, hit.answer.upstream)
    context.services.recorder.reused(exchange, hit, context.attempts)
    if hit.source == "intent":
        whose: Headers = (("x-olvido-reuse", f"{hit.entry_id};cosine={hit.cosine:.2f}"),)
        answer = replace(answer, headers=(*answer.headers, *whose))
    return context.labelled(answer, exchange)


async def _exact(context: RequestContext, upstream: str) -> ReuseHit | ReuseMiss:
    work = exact.lookup(
        context.request,
        context.identity,
        context.directives,
        upstream=upstream,
        config=context.services.config.reuse.exact,
        cache=context.services.storage.answers,
        now=context.incoming.received_at,
        offload=context.offload,
    )
    return await context.attempts.run("exact", work, fallback=ReuseMiss("failed"), deadline=EXACT_DEADLINE)


async def _intent(context: RequestContext, upstream: str, miss: ReuseMiss) -> ReuseHit | ReuseMiss:
    work = context.services.intent.lookup(
        context.incoming, context.request, context.identity, context.directives, miss, upstream
    )
    found = await context.attempts.run("intent", work, fallback=None, deadline=INTENT_DEADLINE)
    return found or replace(miss, intent="failed")


async def _share(context: RequestContext, miss: ReuseMiss, landed: int) -> ReuseHit | ReuseMiss | Answer:
    """Makes one upstream call serve concurrent identical requests. Waits as long as an upstream may take; returns the
    answer or error that the first request got, or makes this one the first. Requests for a fresh answer share none.
    `landed`: answers that had landed before this request looked for its own."""
    if miss.key is None or not context.directives.lookup:
        return miss
    flights = context.services.shared.flights
    brought = await flights.lead_or_wait(miss.key, context.route.upstream.config.timeout.first_byte)
    if isinstance(brought, int) and flights.landed != landed:
        lead = brought
        # An answer landed since this request looked for its own: it may have been this one.
        scope = context.identity.scope.id
        again = context.services.storage.answers.get(scope, miss.key, context.incoming.received_at)
        try:
            answer = await context.attempts.run("exact", again, fallback=None, deadline=EXACT_DEADLINE)
        except BaseException:
            flights.abandon(miss.key, lead)
            raise
        if answer is not None:
            flights.land(miss.key, lead, answer)
            brought = answer
    if isinstance(brought, StoredAnswer):
        return ReuseHit("exact", miss.key, brought)
    if isinstance(brought, Answer):
        return _refused_alike(context, miss, brought)
    return replace(miss, key=None) if brought is None else replace(miss, lead=brought)


def _refused_alike(context: RequestContext, miss: ReuseMiss, told: Answer) -> Answer:
    """Returns the error that identical requests just got, and records it as an error of the upstream that cost
    nothing."""
    name = context.route.upstream.name
    exchange = context.exchange(replace(miss, key=None), Plan("untouched", PromptTokens(0, 0)), name)
    delivery = Delivery("upstream_error", told.status, name, context.request.model, streamed=False)
    context.services.recorder.delivered(exchange, delivery, context.attempts)
    ours = [(header, value) for header, value in told.headers if not header.startswith(wire_headers.OURS)]
    return context.labelled(replace(told, headers=tuple(ours)), exchange)
