"""The way of a request, from bytes to answer. Start reading here.

    bytes ─ parse ─ identify ─ resume ─ command ─ obey ─ exact ─ intent ─ desk ─ plan ─ assemble ─ forward ─▶ client
                       │          │        │        │       │       │      │      │                   │
                     scope,    history  /clear,  what is  answer  answer  tools  memory            record, learn
                     session            …        to be    cache   index                            (after the answer)
                                                 forgotten

Every stage of ours runs in an attempt: a deadline, a timing, and a fallback that lets the request go on as if the
stage did not exist. Deadlines are for stages that hang: some of the time is waiting for the event loop, half a second
when a thousand streams begin at once. Early return is reuse.

A command to forget is obeyed in every mode, and is answered from no memory: it goes from `obey` to `plan`. A message
that is nothing but a command (`memory.commands`) is answered by the system; from there on the request is as if earlier
ones, and what a `/clear` has cleared, had never been said. Where the model manages its own memory (`memory.tools`), its
desk is opened before the prompt is planned, and the tools are run while the answer is forwarded (tool_loop.py); what is
recorded and learnt stays what the client has sent and got. Where keys or end users have limits, a request is counted
once it is parsed, and again once its prompt is planned if that is larger than it seemed; above them it is refused.

Stages with a module of their own, which is named by what it does and its functions by what comes of it: limits.py,
identifying.py (`identify`, `resume`), obeying.py (`command`, `obey`), reusing.py (`exact`, `intent`), tool_loop.py. The
others are below, in their order.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter

from proxy.context import layout, rollout
from proxy.conversation import identify, names, resuming
from proxy.desk.running import ToolRunner
from proxy.errors import FAILED, BadRequest, InvalidJson, OlvidoError
from proxy.observe.tracing import current
from proxy.pipeline import RequestContext, Services, identifying, limits, obeying, reusing, tool_loop
from proxy.pipeline.desk import OpenDesk
from proxy.protocol import apis
from proxy.protocol.headers import read_directives
from proxy.protocol.request import glimpse, parse
from proxy.protocol.spliced import unspliceable, unstored
from proxy.storage.pending import BEGUN
from proxy.tasks import Attempts, Offload
from proxy.types import (
    Answer,
    ChatRequest,
    Delivery,
    Directives,
    Exchange,
    Incoming,
    Plan,
    Prompt,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
)
from proxy.upstream import forward
from proxy.upstream.client import Route, Upstream

DESK_DEADLINE = 2.0  # seconds
PLAN_DEADLINE = 2.0

BYTES_PER_TOKEN = 4  # estimate for a body whose messages can't be read


async def handle(incoming: Incoming, services: Services, read: Callable[[bytes], ChatRequest] = parse) -> Answer:
    """Answers one request to `/v1/chat/completions`, or to another API for conversations, which `read` parses (and
    `other_apis.py` translates the answer for). Raises OlvidoError for requests that we refuse ourselves."""
    started = perf_counter()
    attempts = Attempts(services.metrics.failed_open, services.patience, current())
    offload = Offload(services.executor, len(incoming.body))

    try:
        request = await offload(lambda: read(incoming.body))
        is_readable = True
    except InvalidJson:
        loose = await offload(lambda: glimpse(incoming.body))
        if loose is None:
            raise
        request, is_readable = loose, False
    route = _able(services.router.route(request.model), request)
    directives = _within_api(request, read_directives(incoming.headers), route.upstream)
    context = RequestContext(incoming, services, attempts, offload, started, request, directives, route)
    if services.limiter.is_on:
        await limits.admit(context)
    if not is_readable or not request.messages:
        return await _pass_on(context)
    BEGUN.set(None)  # to look up whose a request is, is no part of it that an erasure could refuse
    context.identity = await identifying.identified(context)
    services.storage.database.erasures.begin()  # what is erased from now on, this request does not write again
    named = context.identity  # by what it says itself, which commands are about; resuming may put another in its place
    context.directives = _directed(context)
    is_off = context.directives.mode == "off"
    if not is_off and resuming.may_lack_history(named):
        context.request, context.identity = await identifying.resumed(context)

    commanded = None if is_off else await obeying.commanded(context, named)
    if commanded is not None:
        return commanded

    order = await obeying.obeyed(context, named)

    reuse = await reusing.looked_up(context) if order is None else ReuseMiss("command")
    if isinstance(reuse, Answer):
        return reuse
    if isinstance(reuse, ReuseHit):
        if (replayed := reusing.replayed(context, reuse)) is not None:
            services.verifier.sample(incoming, context.request, context.identity, reuse, route)
            return replayed
        reuse = ReuseMiss("failed", intent="failed")
    return await _from_upstream(context, reuse)


def _directed(context: RequestContext) -> Directives:
    """Returns the directives of the request, by what is decided about its conversation."""
    gradually = context.services.rollout
    if not gradually.applies or context.directives.mode == "off":
        return context.directives
    most, tokens = context.route.upstream.config.context_tokens, len(context.request.raw) // BYTES_PER_TOKEN
    fits = most is None or tokens <= most
    return gradually.directed(context.directives, context.identity, context.request.model, fits=fits)


def _able(route: Route, request: ChatRequest) -> Route:
    """Returns the route without fallbacks that have no such API and cannot answer in its place: what no chat completion
    can express, or the provider holds, would be missing in what they are asked."""
    origin = request.origin
    if origin is None or not route.fallbacks or not origin.is_bound:
        return route
    able = tuple(each for each in route.fallbacks if apis.has_native(origin, each.config.spoken))
    return replace(route, fallbacks=able)


def _as_it_came(directives: Directives) -> Directives:
    """Returns the directives of a request that passes as it came. They still say whose it is."""
    return replace(directives, mode="off", lookup=False, store=False, remember=False)


def _within_api(request: ChatRequest, directives: Directives, upstream: Upstream) -> Directives:
    """Returns the directives as far as the request's API lets us follow them: one whose state is at the provider passes
    as it came. Raises BadRequest for one that no chat completion can express, where the upstream has nothing else."""
    origin = request.origin
    if origin is None:
        return directives
    if apis.has_native(origin, upstream.config.spoken):
        return _as_it_came(directives) if origin.hands_off else directives
    if origin.foreign:
        raise BadRequest(
            f"'{origin.foreign}' is not available: upstream {upstream.name!r} has no such API, and chat completions, "
            "which this request is translated to, cannot express it.",
            param=origin.foreign,
        )
    return directives


async def _from_upstream(context: RequestContext, miss: ReuseMiss) -> Answer:
    """Plans and forwards the request. Requests that wait for this answer are released in any case; once forwarding has
    begun its report releases them too, and the first of both counts."""
    flights, key = context.services.shared.flights, miss.key
    if miss.doubt is not None and (judging := context.services.judging) is not None:
        judging.consider(context.incoming, context.identity, miss)
    try:
        desk = await _open_desk(context)
        planned = await _boarded(context, desk, await _plan(context, desk))
        if desk is None and context.request.origin is not None:
            planned = _without_desk(context, planned)
        if context.services.limiter.is_on:
            await limits.weigh(context, planned)
        exchange = context.exchange(miss, planned, context.route.upstream.name)
        answer = await _forward(context, exchange, _runner(context, desk, planned))
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


async def _pass_on(context: RequestContext) -> Answer:
    """Forwards, unchanged, a body that we can't read and an upstream might, or one whose conversation is at the
    provider: nothing is reused, nothing learnt."""
    incoming, request, said = context.incoming, context.request, context.directives
    context.directives = _as_it_came(said)
    scope = names.scope_of(incoming, request, said)
    work = context.services.answered.has(scope.id)
    is_answered = await context.attempts.run("identify", work, fallback=False, deadline=identifying.DEADLINE)
    context.identity = identify.identify_unreadable(incoming, request, said, scope, is_answered=is_answered)
    tokens = len(request.raw) // BYTES_PER_TOKEN
    planned = _told(Plan("untouched", PromptTokens(tokens, tokens)), request)
    if context.services.limiter.is_on:
        await limits.weigh(context, planned)
    return await _forward(context, context.exchange(ReuseMiss("unreadable"), planned, context.route.upstream.name))


async def _open_desk(context: RequestContext) -> OpenDesk | None:
    """Returns the desk of a request, with its new messages numbered; None if it has none."""
    desks, origin = context.services.desks, context.request.origin
    if not desks.is_wanted(context.directives) or "identify" in context.attempts.failed:
        return None
    upstream = context.route.upstream.config
    if origin is not None and apis.has_native(origin, upstream.spoken):
        if _unspliceable(context):
            return None
        if origin.api == "responses":
            context.request = unstored(context.request)  # what of it can be gone on from is kept here
    work = desks.opened(context.incoming, context.request, context.identity, context.directives, upstream)
    return await context.attempts.run("desk", work, fallback=None, deadline=DESK_DEADLINE)


def _unspliceable(context: RequestContext) -> str:
    """Returns the reason why an answer in the request's own API cannot be made of several rounds; "": it can."""
    settings = context.services.config.responses
    keeps = settings.take_over and settings.keep > 0 and context.directives.remember
    return unspliceable(context.request, keeps_chains=keeps)


def _without_desk(context: RequestContext, planned: Plan) -> Plan:
    """Returns the plan of a request in another API with the reason why it has no desk, where one is wanted."""
    services, origin = context.services, context.request.origin
    if not services.desks.is_wanted(context.directives) or "identify" in context.attempts.failed:
        return planned
    is_native = apis.has_native(origin, context.route.upstream.config.spoken)
    why = _unspliceable(context) if is_native else ""
    return replace(planned, reason=";".join(filter(None, (planned.reason, f"no_tools={why}")))) if why else planned


async def _boarded(context: RequestContext, desk: OpenDesk | None, planned: Plan) -> Plan:
    """Returns the plan with the dashboard. If what it has decided about the desk cannot be kept, which the next request
    would have to know, the client's own messages are sent."""
    if desk is None or planned.desk is None:
        return planned
    fallback = replace(layout.original(planned, "stage=desk"), desk=None)
    work = context.services.desks.boarded(desk, planned)
    return await context.attempts.run("desk", work, fallback=fallback, deadline=DESK_DEADLINE)


def _runner(context: RequestContext, desk: OpenDesk | None, planned: Plan) -> ToolRunner | None:
    """Returns the runner of the tools in the answer; None if there is nothing to run."""
    if desk is None:
        return None
    services, attempts = context.services, context.attempts
    work = partial(services.desks.runner, desk, planned, services.library, attempts)
    return attempts.call("desk", work, fallback=None)


async def _plan(context: RequestContext, desk: OpenDesk | None) -> Plan:
    """Returns what is sent of the conversation, and why; if planning fails, all of it."""
    planner, upstream = context.services.planner, context.route.upstream.config
    fallback = Plan("fail-open", PromptTokens(0, 0), "stage=plan")
    if "identify" in context.attempts.failed:  # no scope, so nothing is remembered
        work = planner.count(context.request, context.identity, upstream)
    else:
        told = None if desk is None else desk.input
        work = planner.plan(context.incoming, context.request, context.identity, context.directives, upstream, told)
    planned = await context.attempts.run("plan", work, fallback=fallback, deadline=PLAN_DEADLINE)
    if context.directives.mode == "off" and context.request.origin is not None:
        planned = _told(planned, context.request)
    return rollout.told(planned, context.directives.held)


def _told(planned: Plan, request: ChatRequest) -> Plan:
    """Returns the plan of a request that passes as it came, with the reason where its API is that."""
    origin = request.origin
    if origin is None or not origin.hands_off:
        return planned
    return replace(planned, reason=f"hands_off={origin.hands_off.partition(':')[0]}")


async def _forward(context: RequestContext, exchange: Exchange, runner: ToolRunner | None = None) -> Answer:
    """Returns the upstream's answer. `runner`: runs tools of ours in it; None: the model was offered none."""
    if runner is not None:
        return await tool_loop.answered(context, exchange, runner)
    services, attempts = context.services, context.attempts
    made: dict[str, Prompt] = {}  # by upstream, in the order they were asked
    unmade = Prompt(exchange.request.raw, layout.original(exchange.plan, "stage=assemble"))
    is_limited = services.limiter.is_counted(context.incoming.request_id)

    def prompt_for(upstream: Upstream) -> Prompt:
        if upstream.name not in made:
            work = partial(layout.assemble, exchange.request, exchange.plan, upstream.config, is_limited=is_limited)
            made[upstream.name] = attempts.call("assemble", work, fallback=unmade)
        return made[upstream.name]

    def sent(upstream: str) -> Exchange:
        """With what this upstream got of the plan."""
        plan = made[upstream].plan if upstream in made else exchange.plan
        return exchange if plan is exchange.plan else replace(exchange, plan=plan)

    def report(delivery: Delivery) -> None:
        services.recorder.delivered(sent(delivery.upstream), delivery, attempts)
        if services.mirror is not None:
            services.mirror.sample(sent(delivery.upstream), delivery)

    answer = await forward.forward(
        exchange.request,
        context.incoming.headers,
        context.route,
        prompt_for,
        query=context.incoming.query,
        report=report,
        metrics=services.metrics,
    )
    return context.labelled(answer, sent(next(reversed(made))))
