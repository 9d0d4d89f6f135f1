"""Limits of keys and end users, where a request is managed or passed through: what it may come to, estimated before it
goes on. The ledger's row settles it."""

from proxy.config import price_for
from proxy.conversation import names
from proxy.keys.limiting import Limiter
from proxy.pipeline import RequestContext, Services
from proxy.tasks import Attempts
from proxy.types import Headers, LedgerRow, Scope
from proxy.types.keys import Use

BYTES_PER_TOKEN = 4
UNSAID = 500  # completion tokens, where the client names no most
DEADLINE = 1.0  # seconds, beyond which a request is not counted


async def admit(context: RequestContext) -> None:
    """Counts a request that is to be managed. Raises TooMany and OutOfQuota."""
    limiter, request, incoming = context.services.limiter, context.request, context.incoming
    scope = names.scope_of(incoming, request, context.directives)
    if not limiter.is_limited(scope):
        return
    tokens, dollars = estimated(context)
    use = Use(incoming.request_id, incoming.received_at, 1, tokens, dollars)
    nothing: Headers = ()
    context.room = await context.attempts.run("limits", limiter.admit(scope, use), fallback=nothing, deadline=DEADLINE)


def estimated(context: RequestContext) -> tuple[int, float]:
    """Returns the tokens and US dollars that a request may come to: a prompt that is cut to its budget where it will
    be, nothing of it in the provider's cache, and an answer as long as the client allows."""
    config, request, upstream = context.services.config, context.request, context.route.upstream.config
    prompt = len(request.raw) // BYTES_PER_TOKEN
    name = config.context.profile_with_tools if request.has_tools else config.context.profile
    budget = config.profiles[name].budget
    if config.context.mode == "on" and context.directives.mode == "on" and isinstance(budget, int):
        prompt = min(prompt, budget)
    completion = request.most_tokens or UNSAID
    price = price_for(upstream, request.model)
    marks = None if request.origin is None else request.origin.breakpoints
    write = price.hour if marks is not None and marks.for_an_hour else price.write
    dollars = (prompt * max(price.input, write) + completion * price.output) / 1_000_000
    return prompt + completion, dollars


async def admit_other(services: Services, scope: Scope, request_id: str, at: float) -> Headers:
    """Counts a request that is passed through, of which nobody knows what it will come to. Raises TooMany and
    OutOfQuota."""
    limiter, nothing = services.limiter, ()
    if not limiter.is_limited(scope):
        return nothing
    attempts = Attempts(services.metrics.failed_open, services.patience)
    return await attempts.run("limits", limiter.admit(scope, Use(request_id, at)), fallback=nothing, deadline=DEADLINE)


def settle(limiter: Limiter, row: LedgerRow) -> None:
    """Ends a request with what its row says."""
    is_sent = row.source == "upstream"
    limiter.settle(row.request_id, row.tokens_billed + row.tokens_completion if is_sent else 0, row.cost)
