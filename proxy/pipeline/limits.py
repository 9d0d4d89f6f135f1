"""Limits of keys and end users, where a request is managed or passed through: what it may come to, estimated before it
goes on. A prompt that turns out to be larger once it is planned is weighed again (a question that no budget can cut, a
history that the client did not send, a conversation that is not managed); the ledger's row settles it."""

from time import time

from proxy.config import Upstream, price_for
from proxy.config.upstreams import is_priced
from proxy.conversation import names
from proxy.errors import UnknownPrice
from proxy.keys.limiting import Limiter
from proxy.pipeline import RequestContext, Services
from proxy.pipeline.unmanaged import BYTES_PER_TOKEN, Passage
from proxy.protocol.routes import ANSWERLESS, Told, is_counted, told_in
from proxy.tasks import Attempts, Offload
from proxy.tokens import RoughCounter
from proxy.types import ChatRequest, Headers, LedgerRow, Plan, Scope
from proxy.types.keys import Use

UNSAID = 500  # completion tokens, where the client names no most
DEADLINE = 1.0  # seconds, beyond which a request is not counted

_rough = RoughCounter()


async def admit(context: RequestContext) -> None:
    """Counts a request that is to be managed. Raises TooMany, OutOfQuota and UnknownPrice."""
    limiter, request, incoming = context.services.limiter, context.request, context.incoming
    scope = names.scope_of(incoming, request, context.directives)
    if not limiter.is_limited(scope):
        return
    _refuse_unpriced(context.services, scope, context.route.upstream.config, request.model)
    prompt = await context.offload(lambda: _size_of(request))
    tokens, dollars = estimated(context, _planned_size(context, prompt))
    use = Use(incoming.request_id, incoming.received_at, 1, tokens, dollars)
    nothing: Headers = ()
    context.room = await context.attempts.run("limits", limiter.admit(scope, use), fallback=nothing, deadline=DEADLINE)


async def weigh(context: RequestContext, planned: Plan) -> None:
    """Counts a request by the prompt that will be sent, where that is larger than it seemed. Raises TooMany and
    OutOfQuota."""
    limiter, request, request_id = context.services.limiter, context.request, context.incoming.request_id
    if not limiter.is_counted(request_id):
        return
    prompt = planned.tokens.sent or await context.offload(lambda: _size_of(request))
    more = limiter.raised(request_id, *estimated(context, prompt))
    nothing: Headers = ()
    context.room = await context.attempts.run("limits", more, fallback=nothing, deadline=DEADLINE) or context.room


def _refuse_unpriced(services: Services, scope: Scope, upstream: Upstream, model: str) -> None:
    """Raises UnknownPrice under a budget in dollars that could not be kept: it would not end."""
    if services.config.limits.unpriced == "free" or is_priced(upstream, model):
        return
    if services.limiter.counts_dollars(scope):
        raise UnknownPrice(
            f"The price of {model[:100]!r} at upstream {upstream.name!r} is not known, so a budget in dollars cannot "
            "be kept. Whoever runs this proxy sets its `price` (zeros: it costs nothing), or `limits.unpriced: free`.",
            param="model",
        )


def _size_of(request: ChatRequest) -> int:
    """Returns the tokens of a request as it came, roughly: images count as images, and not as the text that they are
    written in."""
    return _rough.request(request) if request.messages else len(request.raw) // BYTES_PER_TOKEN


def _planned_size(context: RequestContext, prompt: int) -> int:
    """Returns the tokens of a prompt that is cut to its budget where it will be."""
    config = context.services.config
    name = config.context.profile_with_tools if context.request.has_tools else config.context.profile
    budget = config.profiles[name].budget
    is_managed = config.context.mode == "on" and context.directives.mode == "on"
    return min(prompt, budget) if is_managed and isinstance(budget, int) else prompt


def estimated(context: RequestContext, prompt: int) -> tuple[int, float]:
    """Returns the tokens and US dollars that a request may come to: a prompt of so many tokens, nothing of it in the
    provider's cache, and as many answers, each as long, as the client allows."""
    request = context.request
    completion = (request.most_tokens or UNSAID) * max(1, round(request.n))
    price = price_for(context.route.upstream.config, request.model)
    marks = None if request.origin is None else request.origin.breakpoints
    write = price.hour if marks is not None and marks.for_an_hour else price.write
    dollars = (prompt * max(price.input, write) + completion * price.output) / 1_000_000
    return prompt + completion, dollars


async def admit_other(services: Services, passage: Passage, body: bytes | None) -> Headers:
    """Counts a request that is passed through. `body`: what of it has been read, None if it has none; its model is
    noticed. Raises TooMany, OutOfQuota and UnknownPrice."""
    limiter, nothing = services.limiter, ()
    if not limiter.is_limited(passage.scope):
        return nothing
    attempts = Attempts(services.metrics.failed_open, services.patience)
    told = None
    if body:
        reading = Offload(services.executor, len(body))(lambda: told_in(body))
        told = await attempts.run("limits", reading, fallback=None, deadline=DEADLINE)
    passage.model = "" if told is None else told.named
    streams = told is not None and told.stream is True
    tokens, dollars = 0, 0.0
    if body is not None and passage.method == "POST" and is_counted(passage.route, streams=streams):
        upstream = services.router.named(passage.upstream).config
        _refuse_unpriced(services, passage.scope, upstream, passage.model)
        if told is not None:
            tokens, dollars = _estimated_other(upstream, passage, told, len(body))
    passage.at = time()  # its body may have come slowly
    use = Use(passage.request_id, passage.at, 1, tokens, dollars)
    return await attempts.run("limits", limiter.admit(passage.scope, use), fallback=nothing, deadline=DEADLINE)


def _estimated_other(upstream: Upstream, passage: Passage, told: Told, size: int) -> tuple[int, float]:
    """Returns the tokens and US dollars that a request may come to that is passed through. `size`: bytes of its
    body."""
    prompt = size // BYTES_PER_TOKEN
    completion = 0 if passage.route in ANSWERLESS else told.most_tokens or UNSAID * told.answers
    price = price_for(upstream, told.named)
    return prompt + completion, (prompt * max(price.input, price.write) + completion * price.output) / 1_000_000


def settle(limiter: Limiter, row: LedgerRow) -> None:
    """Ends a request with what its row says."""
    is_sent = row.source == "upstream"
    limiter.settle(row.request_id, row.tokens_billed + row.tokens_completion if is_sent else 0, row.cost)
