"""The way of a request, from bytes to answer. Start reading here.

    bytes ─ parse ─ identify ─ resume ─ obey ─ exact ─ intent ─ plan ─ assemble ─ forward ─▶ client
                       │          │       │       │       │       │                   │
                     scope,    history  what is answer  answer  memory             record, learn (after the answer)
                     session            to be   cache   index
                                        forgotten

A command to forget is obeyed in every mode, and is answered from no memory: it goes from `obey` to `plan`.

Every stage of ours runs in an attempt: a deadline, a timing, and a fallback that lets the request go on as if the
stage did not exist. Early return is reuse.
"""

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from proxy.attempt import Attempts
from proxy.conversation import identify, resume
from proxy.errors import FAILED, InvalidJson, OlvidoError
from proxy.memory import commands
from proxy.memory.commands import Order
from proxy.offload import Offload
from proxy.pipeline import assemble
from proxy.pipeline.parts import Services
from proxy.protocol import headers as wire_headers
from proxy.protocol import turns
from proxy.protocol.headers import read_directives
from proxy.protocol.request import glimpse, parse
from proxy.reuse import exact
from proxy.types import (
    Answer,
    ChatRequest,
    Delivery,
    Directives,
    Exchange,
    Headers,
    Identity,
    Incoming,
    Plan,
    Prompt,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
    Scope,
    StoredAnswer,
)
from proxy.upstream import forward
from proxy.upstream.client import Upstream
from proxy.upstream.routing import Route

# Seconds that a stage may take before the request goes on without it. They are meant for stages that hang: some of the
# time is waiting for the event loop, half a second when a thousand streams begin at once.
IDENTIFY_DEADLINE = 2.0
LOOKUP_DEADLINE = 2.0
OBEY_DEADLINE = 2.0  # after that the order is carried out in the background
INTENT_DEADLINE = 0.5  # an answer from the upstream begins in about as long
PLAN_DEADLINE = 2.0

BYTES_PER_TOKEN = 4  # estimate for a body whose messages can't be read


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The parts that every stage of one request uses."""

    incoming: Incoming
    services: Services
    attempts: Attempts
    offload: Offload
    started: float  # perf_counter


async def handle(incoming: Incoming, services: Services) -> Answer:
    """Answers one request to `/v1/chat/completions`. Raises OlvidoError for requests that we refuse ourselves."""
    attempts = Attempts(services.metrics.failed_open, services.patience)
    context = RequestContext(
        incoming, services, attempts, Offload(services.executor, len(incoming.body)), perf_counter()
    )

    try:
        request = await context.offload(lambda: parse(incoming.body))
    except InvalidJson:
        loose = await context.offload(lambda: glimpse(incoming.body))
        if loose is None:
            raise
        return await _pass_on(context, loose)
    route = services.router.route(request.model)
    directives = read_directives(incoming.headers)
    identity = await _identify(context, request, directives)
    if directives.mode != "off":
        request, identity = await _resume(context, request, identity)

    order = await _obey(context, request, identity, directives)

    reuse = await _reuse(context, request, identity, directives, route) if order is None else ReuseMiss("command")
    if isinstance(reuse, Answer):
        return reuse
    if isinstance(reuse, ReuseHit):
        if (replayed := _replay(context, request, identity, directives, reuse)) is not None:
            context.services.verifier.sample(context.incoming, request, identity, reuse, route)
            return replayed
        reuse = ReuseMiss("failed", intent="failed")
    if reuse.doubt is not None and services.judging is not None:
        services.judging.consider(incoming, identity, reuse)

    return await _from_upstream(context, request, identity, directives, reuse, route)


async def _from_upstream(
    context: RequestContext,
    request: ChatRequest,
    identity: Identity,
    directives: Directives,
    miss: ReuseMiss,
    route: Route,
) -> Answer:
    """Plans and forwards the request. Requests that wait for this answer are released in any case; once forwarding has
    begun its report releases them too, and the first of both counts."""
    flights, key = context.services.shared.flights, miss.key
    try:
        planned = await _plan(context, request, identity, directives, route)
        exchange = Exchange(
            context.incoming, request, identity, directives, miss, planned, route.upstream.name, context.started
        )
        answer = await _forward(context, exchange, route)
    except Exception as error:
        if key is not None:
            flights.fail(key, miss.lead, (error if isinstance(error, OlvidoError) else OlvidoError(FAILED)).answer())
        raise
    except BaseException:
        if key is not None:
            flights.abandon(key, miss.lead)
        raise
    if key is not None and answer.status >= 400 and isinstance(answer.body, bytes):
        flights.fail(key, miss.lead, answer)
    return answer


async def _pass_on(context: RequestContext, request: ChatRequest) -> Answer:
    """Forwards, unchanged, a body that we can't read and an upstream might: nothing is reused, nothing learnt."""
    directives = Directives(mode="off", lookup=False, store=False, remember=False)
    said = read_directives(context.incoming.headers)
    identity = await identify.identify_unreadable(
        context.incoming, request, said, is_answered=partial(_is_answered, context)
    )
    tokens = len(request.raw) // BYTES_PER_TOKEN
    planned = Plan("untouched", PromptTokens(tokens, tokens))
    route = context.services.router.route(request.model)
    miss = ReuseMiss("unreadable")
    exchange = Exchange(
        context.incoming, request, identity, directives, miss, planned, route.upstream.name, context.started
    )
    return await _forward(context, exchange, route)


async def _is_answered(context: RequestContext, scope: str) -> bool:
    work = context.services.answered.has(scope)
    return await context.attempts.run("identify", work, fallback=False, deadline=IDENTIFY_DEADLINE)


async def _identify(context: RequestContext, request: ChatRequest, directives: Directives) -> Identity:
    work = identify.identify(
        context.incoming,
        request,
        directives,
        private=context.services.config.tenancy == "personal",
        is_answered=context.services.answered.has,
        sessions=context.services.storage.sessions,
        chains=context.services.chains,
        offload=context.offload,
    )
    identity = await context.attempts.run("identify", work, fallback=None, deadline=IDENTIFY_DEADLINE)
    if identity is not None:
        return identity
    # Without an identity: a scope of its own, and a history that is new.
    request_id = context.incoming.request_id
    alone = Scope(f"{context.incoming.tenant}!{request_id}")
    chain = await context.offload(lambda: turns.chain(alone.id, request.messages))
    return Identity(alone, f"c-{request_id}", "new", chain, is_answered=False)


async def _resume(context: RequestContext, request: ChatRequest, identity: Identity) -> tuple[ChatRequest, Identity]:
    work = resume.resume(
        context.incoming,
        request,
        identity,
        archive=context.services.library.archive,
        open_turns=context.services.shared.open_turns,
        settled=context.services.learner.settled,
        chains=context.services.chains,
        offload=context.offload,
    )
    return await context.attempts.run("resume", work, fallback=(request, identity), deadline=LOOKUP_DEADLINE)


async def _obey(
    context: RequestContext, request: ChatRequest, identity: Identity, directives: Directives
) -> Order | None:
    """Returns the order to forget in this request, once it is durable, or hidden here until then; None if there is
    none. A scope that no upstream has answered holds nothing to forget."""
    at = context.incoming.received_at
    order = context.attempts.call("obey", lambda: commands.ordered(request, identity, at), fallback=None)
    if order is None:
        return None
    memory = identity.memory
    if "identify" in context.attempts.failed:
        # The memory scope needs no lookup if it belongs to one person.
        scope = identify.scope_of(context.incoming, request, directives)
        if not identify.is_private(scope, personal=context.services.config.tenancy == "personal"):
            return order
        memory = scope.id
    elif not identity.is_answered:
        return order
    await context.attempts.run(
        "obey", context.services.obedience.obey(memory, order), fallback=None, deadline=OBEY_DEADLINE
    )
    return order


async def _reuse(
    context: RequestContext, request: ChatRequest, identity: Identity, directives: Directives, route: Route
) -> ReuseHit | ReuseMiss | Answer:
    """Returns a stored answer, the reason why there is none, or the error that identical requests just got."""
    landed = context.services.shared.flights.landed
    reuse = await _exact(context, request, identity, directives, route)
    if isinstance(reuse, ReuseMiss):
        reuse = await _intent(context, request, identity, directives, reuse, route)
    if isinstance(reuse, ReuseMiss):
        shared = await _share(context, identity, directives, reuse, route, landed)
        if isinstance(shared, Answer):
            return _refused_alike(context, request, identity, directives, reuse, route, shared)
        reuse = shared
    return reuse


async def _exact(
    context: RequestContext, request: ChatRequest, identity: Identity, directives: Directives, route: Route
) -> ReuseHit | ReuseMiss:
    if "identify" in context.attempts.failed:
        return ReuseMiss("no_identity")
    work = exact.lookup(
        request,
        identity,
        directives,
        upstream=exact.addressee(route.upstream.name, context.incoming.query, context.incoming.headers),
        config=context.services.config.reuse.exact,
        cache=context.services.storage.answers,
        now=context.incoming.received_at,
        offload=context.offload,
    )
    return await context.attempts.run("exact", work, fallback=ReuseMiss("failed"), deadline=LOOKUP_DEADLINE)


async def _intent(
    context: RequestContext,
    request: ChatRequest,
    identity: Identity,
    directives: Directives,
    miss: ReuseMiss,
    route: Route,
) -> ReuseHit | ReuseMiss:
    if "identify" in context.attempts.failed:
        return replace(miss, intent="no_identity")
    upstream = exact.addressee(route.upstream.name, context.incoming.query, context.incoming.headers)
    work = context.services.intent.lookup(context.incoming, request, identity, directives, miss, upstream)
    return await context.attempts.run("intent", work, fallback=replace(miss, intent="failed"), deadline=INTENT_DEADLINE)


async def _share(
    context: RequestContext, identity: Identity, directives: Directives, miss: ReuseMiss, route: Route, landed: int
) -> ReuseHit | ReuseMiss | Answer:
    """Makes one upstream call serve concurrent identical requests. Waits as long as an upstream may take; returns the
    answer or error that the first request got, or makes this one the first. Requests for a fresh answer share none."""
    if miss.key is None or not directives.lookup:
        return miss
    flights = context.services.shared.flights
    brought = await flights.lead_or_wait(miss.key, route.upstream.config.timeout.first_byte)
    if isinstance(brought, int) and flights.landed != landed:
        lead = brought
        # An answer landed since this request looked for its own: it may have been this one.
        again = context.services.storage.answers.get(identity.scope.id, miss.key, context.incoming.received_at)
        try:
            answer = await context.attempts.run("exact", again, fallback=None, deadline=LOOKUP_DEADLINE)
        except BaseException:
            flights.abandon(miss.key, lead)
            raise
        if answer is not None:
            flights.land(miss.key, lead, answer)
            brought = answer
    if isinstance(brought, StoredAnswer):
        return ReuseHit("exact", miss.key, brought)
    if isinstance(brought, Answer):
        return brought
    return replace(miss, key=None) if brought is None else replace(miss, lead=brought)


def _refused_alike(
    context: RequestContext,
    request: ChatRequest,
    identity: Identity,
    directives: Directives,
    miss: ReuseMiss,
    route: Route,
    told: Answer,
) -> Answer:
    """Returns the error that identical requests just got, and records it as an error of the upstream that cost
    nothing."""
    name = route.upstream.name
    planned = Plan("untouched", PromptTokens(0, 0))
    alone = replace(miss, key=None)
    exchange = Exchange(context.incoming, request, identity, directives, alone, planned, name, context.started)
    delivery = Delivery("upstream_error", told.status, name, request.model, streamed=False)
    context.services.recorder.delivered(exchange, delivery, context.attempts)
    ours = [(header, value) for header, value in told.headers if not header.startswith(wire_headers.OURS)]
    return _labelled(replace(told, headers=tuple(ours)), exchange, context.attempts)


def _replay(
    context: RequestContext, request: ChatRequest, identity: Identity, directives: Directives, hit: ReuseHit
) -> Answer | None:
    """Returns the stored answer as a response; None if it can't be replayed."""
    answer = context.attempts.call(
        hit.source, lambda: exact.replayed(hit, request, context.incoming.received_at), fallback=None
    )
    if answer is None:
        return None
    usage = hit.answer.usage
    planned = Plan("untouched", PromptTokens(usage.prompt_tokens if usage else 0, 0))
    miss = ReuseMiss("hit") if hit.source == "exact" else ReuseMiss(hit.missed, intent="hit")
    exchange = Exchange(
        context.incoming, request, identity, directives, miss, planned, hit.answer.upstream, context.started
    )
    context.services.recorder.reused(exchange, hit, context.attempts)
    if hit.source == "intent":
        whose: Headers = (("x-olvido-reuse", f"{hit.entry_id};cosine={hit.cosine:.2f}"),)
        answer = replace(answer, headers=(*answer.headers, *whose))
    return _labelled(answer, exchange, context.attempts)


async def _plan(
    context: RequestContext, request: ChatRequest, identity: Identity, directives: Directives, route: Route
) -> Plan:
    planner = context.services.planner
    fallback = Plan("fail-open", PromptTokens(0, 0), "stage=plan")
    if "identify" in context.attempts.failed:  # no scope, so nothing is remembered
        work = planner.count(request, identity, route.upstream.config)
    else:
        work = planner.plan(context.incoming, request, identity, directives, route.upstream.config)
    return await context.attempts.run("plan", work, fallback=fallback, deadline=PLAN_DEADLINE)


async def _forward(context: RequestContext, exchange: Exchange, route: Route) -> Answer:
    made: dict[str, Prompt] = {}  # by upstream, in the order they were asked
    unmade = Prompt(exchange.request.raw, assemble.original(exchange.plan, "stage=assemble"))

    def prompt_for(upstream: Upstream) -> Prompt:
        if upstream.name not in made:
            made[upstream.name] = context.attempts.call(
                "assemble",
                lambda: assemble.assemble(exchange.request, exchange.plan, upstream.config),
                fallback=unmade,
            )
        return made[upstream.name]

    def sent(upstream: str) -> Exchange:
        """With what this upstream got of the plan."""
        return replace(exchange, plan=made[upstream].plan) if upstream in made else exchange

    answer = await forward.forward(
        exchange.request,
        context.incoming.headers,
        route,
        prompt_for,
        query=context.incoming.query,
        report=lambda delivery: context.services.recorder.delivered(
            sent(delivery.upstream), delivery, context.attempts
        ),
        tasks=context.services.tasks,
        metrics=context.services.metrics,
    )
    return _labelled(answer, sent(next(reversed(made))), context.attempts)


def _labelled(answer: Answer, exchange: Exchange, attempts: Attempts) -> Answer:
    """Returns the answer with the headers that say what we did to it."""
    planned = exchange.plan
    done = f"{planned.kind};{planned.reason}" if planned.reason else planned.kind
    if attempts.failed:
        done = f"fail-open;stage={','.join(attempts.failed)}"
    ours: Headers = (
        ("x-olvido-source", answer.source),
        ("x-olvido-session", exchange.identity.session),
        ("x-olvido-request", exchange.incoming.request_id),
        ("x-olvido-tokens-original", str(planned.tokens.original)),
        ("x-olvido-tokens-sent", str(planned.tokens.sent)),
        ("x-olvido-plan", done),
    )
    return Answer(answer.status, (*answer.headers, *ours), answer.body, answer.source)
