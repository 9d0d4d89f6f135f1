"""Limits of keys and end users, where a request is managed or passed through: what it may come to, estimated before it
goes on. The ledger's row settles it."""

from proxy.config import price_for
from proxy.conversation import names
from proxy.keys.limiting import Limiter
from proxy.pipeline import RequestContext, Services
from proxy.pipeline.unmanaged import BYTES_PER_TOKEN, Passage
from proxy.protocol.routes import ANSWERLESS, is_counted, told_in
from proxy.tasks import Attempts, Offload
from proxy.types import Headers, LedgerRow
from proxy.types.keys import Use

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
    be, nothing of it in the provider's cache, and as many answers, each as long, as the client allows."""
    config, request, upstream = context.services.config, context.request, context.route.upstream.config
    prompt = len(request.raw) // BYTES_PER_TOKEN
    name = config.context.profile_with_tools if request.has_tools else config.context.profile
    budget = config.profiles[name].budget
    if config.context.mode == "on" and context.directives.mode == "on" and isinstance(budget, int):
        prompt = min(prompt, budget)
    completion = (request.most_tokens or UNSAID) * max(1, round(request.n))
    price = price_for(upstream, request.model)
    marks = None if request.origin is None else request.origin.breakpoints
    write = price.hour if marks is not None and marks.for_an_hour else price.write
    dollars = (prompt * max(price.input, write) + completion * price.output) / 1_000_000
    return prompt + completion, dollars


async def admit_other(services: Services, passage: Passage, body: bytes) -> Headers:
    """Counts a request that is passed through. `body`: what of it has been read; its model is noticed. Raises TooMany
    and OutOfQuota."""
    limiter, nothing = services.limiter, ()
    if not limiter.is_limited(passage.scope):
        return nothing
    attempts = Attempts(services.metrics.failed_open, services.patience)
    tokens, dollars = await attempts.run(
        "limits", _estimated_other(services, passage, body), fallback=(0, 0.0), deadline=DEADLINE
    )
    use = Use(passage.request_id, passage.at, 1, tokens, dollars)
    return await attempts.run("limits", limiter.admit(passage.scope, use), fallback=nothing, deadline=DEADLINE)


async def _estimated_other(services: Services, passage: Passage, body: bytes) -> tuple[int, float]:
    """Returns the tokens and US dollars that a request may come to that is passed through: nothing unless its route is
    billed by the token."""
    told = await Offload(services.executor, len(body))(lambda: told_in(body))
    if told is None:
        return 0, 0.0
    passage.model = told.named
    if not is_counted(passage.route, streams=told.stream is True):
        return 0, 0.0
    prompt = len(body) // BYTES_PER_TOKEN
    completion = 0 if passage.route in ANSWERLESS else told.most_tokens or UNSAID * told.answers
    price = price_for(services.router.named(passage.upstream).config, told.named)
    return prompt + completion, (prompt * max(price.input, price.write) + completion * price.output) / 1_000_000


def settle(limiter: Limiter, row: LedgerRow) -> None:
    """Ends a request with what its row says."""
    is_sent = row.source == "upstream"
    limiter.settle(row.request_id, row.tokens_billed + row.tokens_completion if is_sent else 0, row.cost)
