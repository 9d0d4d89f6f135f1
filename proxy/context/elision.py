"""Elision of instructions that need not be repeated (opt-in, `profiles.*.elide`): planning is given the request without
them, and its plan is told as of the whole request."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import msgspec

from proxy.context import elide
from proxy.context.economics import CostSoFar, Rates
from proxy.context.elide import Elided, Going, Instructions
from proxy.conversation.progress import Case, Progress
from proxy.protocol.turns import INSTRUCTIONS
from proxy.types import ChatRequest, Json, Message, PathState, Plan


@dataclass(frozen=True, slots=True)
class Elision:
    """What was left out of a request's instructions."""

    elided: Elided
    tools: list[Json] | None  # that are sent instead of the client's
    is_system: bool  # the system message is sent without a part of it
    of_tools: int  # tokens
    of_system: int  # tokens
    is_new: bool  # the request before was sent with something else at its beginning


def without(request: ChatRequest, case: Case, rates: Rates, count: Callable[[str], int]) -> tuple[Case, Elision | None]:
    """The case without what need not be repeated; None if everything is sent."""
    wanted = case.profile.elide
    if not (wanted.tools or wanted.format or wanted.examples):
        return case, None
    state = case.state
    instructions = _instructions(request)
    before = Elided(frozenset(state.elided_tools), frozenset(state.elided_tags)) if state else Elided()
    answers = [said for said in request.messages if said.role == "assistant"]
    tools = instructions.tools
    valid = elide.passed(answers[-1], request.response_format, tools) if answers else None
    may = elide.possible(wanted, instructions, _called(answers), valid)
    chosen = elide.choose(before, may, instructions, _going(state, rates), rates, count) if state else Elided()
    if chosen == before == Elided():
        return case, None
    shorter = elide.applied(instructions, chosen)
    messages = tuple(case.messages)
    if shorter.system is not None:
        messages = (shorter.system, *messages[1:])
    whole, terse = _definitions(instructions), _definitions(shorter)
    changed_tools = terse if terse != whole else None
    of_tools = _json_tokens(whole, count) - _json_tokens(terse, count)
    of_system = _text_tokens(instructions.system, count) - _text_tokens(shorter.system, count)
    is_system = shorter.system is not instructions.system
    elision = Elision(chosen, changed_tools, is_system, of_tools, of_system, is_new=chosen != before)
    if elision.is_new and state is not None:
        state = replace(state, stable=0, sent=0)  # nothing of the prompt before is repeated

    return replace(case, messages=messages, overhead=case.overhead - of_tools, state=state), elision


def shortened(so_far: Progress, elision: Elision | None) -> Progress:
    if elision is None:
        return so_far
    left = elision.of_system
    return replace(so_far, preamble_tokens=so_far.preamble_tokens - left, before=so_far.before - left)


def told(plan: Plan, case: Case, elision: Elision | None) -> Plan:
    """As of the whole request."""
    if elision is None:
        return plan
    assert plan.state is not None
    assert plan.fates is not None
    saved = elision.of_tools + elision.of_system
    original = plan.tokens.original + saved
    return replace(
        plan,
        kind="managed" if plan.kind == "untouched" else plan.kind,
        messages=plan.messages if plan.messages is not None else tuple(case.messages),
        tools=elision.tools,
        tokens=replace(plan.tokens, original=original, mechanisms=replace(plan.tokens.mechanisms, elided=saved)),
        fates=replace(plan.fates, is_elided=elision.is_system),
        state=replace(
            plan.state,
            original=original,
            before=plan.state.before + elision.of_system,
            elided_tools=tuple(sorted(elision.elided.tools)),
            elided_tags=tuple(sorted(elision.elided.tags)),
        ),
    )


def _instructions(request: ChatRequest) -> Instructions:
    first = request.messages[0]
    return Instructions(first if first.role in INSTRUCTIONS else None, request.tools)


def _definitions(instructions: Instructions) -> list[Json]:
    return [tool.definition for tool in instructions.tools]


def _called(answers: Iterable[Message]) -> frozenset[str]:
    return frozenset(call.name for said in answers for call in said.tool_calls)


def _going(state: PathState, rates: Rates) -> Going:
    costs = CostSoFar(state.baseline + rates.cost(state.original, state.original), state.spent)
    return Going(tokens=state.sent, repeated=state.stable, requests=state.turns, costs=costs)


def _json_tokens(tools: list[Json], count: Callable[[str], int]) -> int:
    return count(msgspec.json.encode(tools).decode()) if tools else 0


def _text_tokens(said: Message | None, count: Callable[[str], int]) -> int:
    return count(said.text) if said is not None else 0
