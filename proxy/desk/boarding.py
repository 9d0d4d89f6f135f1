"""The desk once a prompt is planned: the dashboard in its last message, and what is to be kept of the plan."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from proxy.desk import dashboard
from proxy.desk.dashboard import Standing
from proxy.desk.planned import DeskInput, View
from proxy.desk.schemas import NAMES
from proxy.desk.state import DeskState
from proxy.desk.view import CARRIERS, with_board
from proxy.protocol.message import prefixed
from proxy.types import Language, Message, Plan
from proxy.types.desk import Applied, Board, Offered, Payload

JOINT = 1  # token between the dashboard and the text beside it


def decided(plan: Plan, desk: DeskInput, state: DeskState, tools: Offered) -> list[Payload]:
    """Returns what a plan has decided about the desk: it has to be kept before the prompt is sent, since later requests
    go on from there. `tools`: as they are offered."""
    made = plan.desk
    if made is None:
        return []
    found: list[Payload] = []
    if made.offers:
        found.append(Offered(tools.language, tools.names, made.offers))
    elif made.has_tools and state.offered is not None and tools.names != state.offered.names:
        found.append(Offered(tools.language, tools.names, state.offered.reason))
    elif desk.ended and desk.schemas and not made.has_tools and state.offered is not None:
        found.append(Offered(tools.language, (), "fold"))  # from here on there are none
    new = tuple(number for number in made.applied if number not in state.applied)
    if new:
        found.append(Applied(new, made.reason, made.saved))
    return found


def standing(
    plan: Plan, desk: DeskInput, state: DeskState, sections: int, tokens: Callable[[int], int]
) -> Standing | None:
    """Returns the state of the context as it is planned; None where the model could do nothing about it. `sections`:
    that are loaded. `tokens`: of the view's message with this index."""
    made = plan.desk
    if made is None or not made.has_tools or desk.ended:
        return None
    view, start = desk.view, _start(plan)
    marked = state.marked
    markers = plan.state.folded_results if plan.state else ()
    left = marked.union(view.chain[index] for index in markers)
    taken = state.applied.union(made.applied)
    links = frozenset(view.chain[start:])
    return Standing(
        used=made.used,
        limit=desk.limit,
        threshold=desk.threshold,
        sections=sections,
        heaps=dashboard.large(view, start=start, pinned=state.pins, left=left, tokens=tokens),
        repetition=dashboard.repetition(view, start, left),
        marked=sum(
            each.tokens
            for number, each in state.marks.items()
            if number not in taken and not links.isdisjoint(each.links)
        ),
    )


def shown(plan: Plan, view: View, state: DeskState) -> Board | None:
    """Returns the newest dashboard that the prompt has."""
    links = (view.chain[index] for index in reversed(range(_start(plan), len(view.chain))))
    return next((board for link in links if (board := state.boards.get(link)) is not None), None)


def may_show(view: View, before: DeskState) -> bool:
    """Tells whether a dashboard can stand in the last message: before a new question, or behind a new result of a tool.
    A message that was sent without one stays without it, so that prompts that continue an earlier one begin with it.
    `before`: the session's desk before this request."""
    return view.messages[-1].role in CARRIERS and view.chain[-1] not in before.lines


def with_dashboard(plan: Plan, view: View, text: str, tokens: int) -> Plan | None:
    """Returns the plan with a dashboard in its last message, as later views have it: between the blocks of ours there
    and the client's own text. None if that message is not the client's any more. `tokens`: of the text."""
    planned = view.messages if plan.messages is None else plan.messages
    last = _carrier(planned[-1], view.messages[-1], text)
    if last is None:
        return None
    counted = tokens + JOINT
    factor = plan.tokens.sent / plan.tokens.counted if plan.tokens.counted else 1.0
    state = plan.state
    if state is not None:
        # What ends before the newest message does not come to have it.
        stable = state.stable + (counted if state.stable >= state.sent else 0)
        state = replace(state, sent=state.sent + counted, stable=stable)
    sizes = replace(
        plan.tokens,
        sent=plan.tokens.sent + round(counted * factor),
        counted=plan.tokens.counted + counted if plan.tokens.counted else 0,
        rough=plan.tokens.rough + (len(last.raw) - len(planned[-1].raw)) // 4,
    )
    kind = "managed" if plan.kind == "untouched" else plan.kind
    return replace(plan, kind=kind, tokens=sizes, messages=(*planned[:-1], last), state=state)


def offered_by_name(tools: Offered) -> dict[str, str]:
    """Returns the names under which the tools are offered, by their own."""
    return dict(zip(NAMES, tools.names, strict=True))


def language_of(tools: Offered) -> Language:
    """Returns the language of an offer; English for one that is not known any more."""
    return "es" if tools.language == "es" else "en"


def _start(plan: Plan) -> int:
    """Returns the index of the first message of the view that is sent behind the instructions."""
    return plan.state.fold.start if plan.state is not None and plan.state.fold is not None else 0


def _carrier(planned: Message, seen: Message, text: str) -> Message | None:
    said = with_board(seen, text)
    if planned.raw == seen.raw:
        return said
    blocks = _blocks_before(planned, seen)
    if not blocks or _with_blocks(seen, blocks).raw != planned.raw:
        return None
    return _with_blocks(said, blocks)


def _blocks_before(planned: Message, seen: Message) -> list[str]:
    """Returns the blocks that `planned` has before what `seen` has."""
    if seen.is_plain:
        return [planned.text[: len(planned.text) - len(seen.text) - 2]] if planned.is_plain else []
    before = planned.parts[: len(planned.parts) - len(seen.parts)]
    return [part.text.removesuffix("\n") for part in before]


def _with_blocks(said: Message, blocks: Sequence[str]) -> Message:
    for block in reversed(blocks):
        said = prefixed(said, block)
    return said
