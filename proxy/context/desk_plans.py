"""Plans of requests with a desk: planned over the view, with the model's tools and its own memory, told of the client's
messages."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from proxy.context import planning
from proxy.context.draft import Memory, PlanContext
from proxy.context.marks import pressure
from proxy.conversation.progress import Case, Progress
from proxy.desk.dashboard import Standing
from proxy.desk.planned import DeskInput, View
from proxy.protocol.request import with_view
from proxy.types import ChatRequest, DeskTrail, Identity, PathState, Plan


def viewed(request: ChatRequest, identity: Identity, view: View) -> tuple[ChatRequest, Identity]:
    """Returns the request with the messages of its view, and the identity with their links."""
    known = view.own[identity.known - 1] + 1 if identity.known else 0
    return with_view(request, view.messages), replace(identity, chain=view.chain, known=known)


def is_idle(desk: DeskInput, counted: Plan) -> bool:
    """Tells whether a short conversation may be sent as it is: nothing of the desk is in it, and nothing is due."""
    return desk.is_idle and (not desk.schemas or pressure(counted.tokens.sent, desk.limit) < desk.threshold / 2)


def plan(request: ChatRequest, case: Case, progress: Progress, memory: Memory, context: PlanContext) -> Plan:
    """Returns the plan of a request, as `planning.plan` does. With a desk its tools are offered once that is decided:
    then it is planned again, with what they cost. Once the offer has ended they stay until the prompt begins anew."""
    desk = context.desk
    if desk is None:
        return planning.plan(request, case, progress, memory, context)
    known = (request, case, progress, memory)
    if desk.offered is not None:
        made = _planned(*known, context, offers="", has_tools=bool(desk.schemas))
        is_over = desk.ended and (case.state is None or _begins_anew(made, case.state))
        return _planned(*known, context, offers="", has_tools=False) if is_over else made
    if desk.at_once and desk.schemas:
        return _planned(*known, context, offers="first", has_tools=True)
    made = _planned(*known, context, offers="", has_tools=False)
    offers = made.desk.offers if made.desk is not None else ""
    return _planned(*known, context, offers=offers, has_tools=True) if offers else made


def _begins_anew(made: Plan, before: PathState) -> bool:
    """Tells whether a plan rewrites what the prompt before began with."""
    return made.state is not None and made.state.fold != before.fold


def _planned(
    request: ChatRequest,
    case: Case,
    progress: Progress,
    memory: Memory,
    context: PlanContext,
    *,
    offers: str,
    has_tools: bool,
) -> Plan:
    desk, state = context.desk, case.state
    assert desk is not None, "a desk"
    definitions = context.count(msgspec.json.encode(desk.schemas).decode()) if desk.schemas else 0
    sent = definitions if has_tools else 0
    if state is not None and state.has_tools != has_tools:
        state = replace(state, stable=0, sent=0)  # the prompts share no beginning
    texts = [desk.rules] * has_tools + [desk.sections]
    made = planning.plan(
        request,
        replace(case, overhead=case.overhead + sent, added=case.added + sent, state=state),
        progress,
        replace(memory, desk="\n\n".join(text for text in texts if text)),
        replace(context, definitions=definitions, has_tools=has_tools, offers=offers),
    )
    if not has_tools:
        return made
    own = made.tools if made.tools is not None else [tool.definition for tool in request.tools]
    told = made.desk and replace(made.desk, schemas=len(desk.schemas))
    return replace(made, tools=[*own, *desk.schemas], desk=told)


def told(made: Plan, given: DeskInput) -> Plan:
    """Returns the plan with the indices of the client's messages in its fates and its trail, and the pressure that it
    comes to. The state keeps those of the view, from which the next request goes on. `given`: the desk that it was made
    for."""
    view = given.view

    def place(index: int) -> int:
        return bisect_left(view.own, index)

    def places(indices: Iterable[int]) -> tuple[int, ...]:
        return tuple(place(index) for index in indices if index not in view.hidden)

    fates, trail = made.fates, made.trail
    if fates is not None:
        fates = replace(
            fates,
            preamble=place(fates.preamble),
            left=place(fates.left),
            start=place(fates.start),
            newest=place(fates.newest),
            instructions=places(fates.instructions),
            capped=places(fates.capped),
            markers=places(fates.markers),
            quoted=places(fates.quoted),
            told=places(fates.told),
            removed=places(fates.removed),
            rewritten=places(fates.rewritten),
        )
    if trail is not None:
        trail = replace(
            trail,
            start=place(trail.start),
            newest=place(trail.newest),
            capped=places(trail.capped),
            markers=places(trail.markers),
            desk=_measured(made, given),
        )
    desk, tokens = made.desk, made.tokens
    if desk is not None:
        desk = replace(desk, used=tokens.sent)
        tokens = replace(tokens, rough=tokens.rough + desk.definitions)
    return replace(made, fates=fates, trail=trail, desk=desk, tokens=tokens)


def _measured(made: Plan, given: DeskInput) -> DeskTrail:
    tokens = made.tokens
    factor = tokens.sent / tokens.counted if tokens.counted else 1.0
    measured = Standing(used=tokens.sent, limit=given.limit, threshold=given.threshold)
    schemas = round(made.desk.definitions * factor) if made.desk is not None else 0
    return DeskTrail(tokens.sent, given.limit, measured.pressure, measured.level, schemas)
