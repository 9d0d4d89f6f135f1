"""Elision of instructions that the model knows: descriptions of tools that it has used, and the contents of `<format>`
and `<examples>` in the system prompt. Each is opt-in, and applies only while the last answer passed structural
validation: after a failure everything is sent again.

From the architecture note, section 3.3. Instructions stand at the very beginning of a prompt, so to elide them rewrites
the whole prefix cache: done only if it pays off within as many requests as there have been.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import jsonschema_rs
import msgspec

from proxy.config.profiles import Elide
from proxy.context.economics import Rates
from proxy.context.shortening import Count
from proxy.conversation.progress import Case, Progress
from proxy.protocol.message import INSTRUCTIONS, rewritten, without_descriptions
from proxy.types import ChatRequest, Json, Message, PathState, Plan, ResponseFormat, Tool

_TAGGED = {name: re.compile(rf"<{name}>.*?</{name}>\s*", re.DOTALL) for name in ("format", "examples")}


@dataclass(frozen=True, slots=True)
class Elided:
    """The parts of the instructions that are left out of a request."""

    tools: frozenset[str] = frozenset()  # names of tools without their descriptions
    tags: frozenset[str] = frozenset()  # of the system prompt: "format", "examples"


@dataclass(frozen=True, slots=True)
class Instructions:
    """System message and tools of a request, as the client sent them."""

    system: Message | None
    tools: Sequence[Tool]

    @property
    def definitions(self) -> list[Json]:
        """The tools' definitions, as they are sent."""
        return [tool.definition for tool in self.tools]


@dataclass(frozen=True, slots=True)
class Elision:
    """The elision of one request, with the tokens that it saves."""

    elided: Elided
    tools: list[Json] | None  # definitions that replace the client's
    is_system: bool  # the system message is shortened
    of_tools: int  # tokens saved
    of_system: int  # tokens saved
    is_new: bool  # differs from the previous request's


def passed(answer: Message, response_format: ResponseFormat | None, tools: Sequence[Tool]) -> bool | None:
    """True if an assistant message has the structure that was asked for; None if none was. Calls must name a tool and
    fit its schema; content must be JSON, and fit the schema if there is one."""
    if calls := answer.tool_calls:
        schemas = {tool.name: tool.parameters for tool in tools if tool.name}
        return all(
            call.name in schemas
            and call.arguments is not None
            and _is_valid(call.arguments or "{}", schemas[call.name])
            for call in calls
        )
    if response_format is None or response_format.schema is None:
        return None
    return _is_valid(answer.text, response_format.schema)


def possible(wanted: Elide, instructions: Instructions, used: Collection[str], valid: bool | None) -> Elided:
    """Returns the parts that may be left out. `valid`: result of `passed` for the last answer. `used`: names of the
    tools called so far. Tools may be elided after a plain text, for which nothing was asked."""
    if valid is False:
        return Elided()
    said = instructions.system.text if instructions.system else ""
    tags = {name for name in _TAGGED if valid and getattr(wanted, name) and _TAGGED[name].search(said)}
    names = {tool.name for tool in instructions.tools if wanted.tools and tool.name}
    return Elided(frozenset(names.intersection(used)), frozenset(tags))


def choose(
    before: Elided, may: Elided, instructions: Instructions, state: PathState, rates: Rates, count: Count
) -> Elided:
    """Returns the parts to leave out of this request: those of the previous request that still may be, and new ones if
    that pays off. `state`: of the previous request."""
    stays = Elided(before.tools & may.tools, before.tags & may.tags)
    if stays == may:
        return may
    saved = sum(_tokens(applied(instructions, stays), count)) - sum(_tokens(applied(instructions, may), count))
    cost = rates.cost(state.sent - saved, 0)
    advance = cost - rates.cost(state.sent, state.stable)
    pays = saved > 0 and advance <= rates.cached * saved * state.turns
    baseline = state.baseline + rates.cost(state.original, state.original)
    return may if pays and state.spent + cost <= baseline else stays


def applied(instructions: Instructions, elided: Elided) -> Instructions:
    """Returns the instructions without the elided parts; all else is the client's own."""

    def terse(tool: Tool) -> Tool:
        return Tool(tool.name, tool.parameters, without_descriptions(tool.definition))

    system = _without_tags(instructions.system, elided.tags) if instructions.system else None
    return Instructions(system, [terse(tool) if tool.name in elided.tools else tool for tool in instructions.tools])


def without(request: ChatRequest, case: Case, rates: Rates, count: Count) -> tuple[Case, Elision | None]:
    """Returns the case without the elided parts, and the elision; None for the latter if everything is sent."""
    wanted, state = case.profile.elide, case.state
    if not (wanted.tools or wanted.format or wanted.examples):
        return case, None
    first = case.messages[0]
    instructions = Instructions(first if first.role in INSTRUCTIONS else None, request.tools)
    before = Elided(frozenset(state.elided_tools), frozenset(state.elided_tags)) if state else Elided()
    answers = [said for said in case.messages if said.role == "assistant"]
    valid = passed(answers[-1], request.response_format, request.tools) if answers else None
    used = frozenset(call.name for said in answers for call in said.tool_calls)
    may = possible(wanted, instructions, used, valid)
    chosen = choose(before, may, instructions, state, rates, count) if state else Elided()
    if chosen == before == Elided():
        return case, None
    shorter = applied(instructions, chosen)
    messages = tuple(case.messages)
    if shorter.system is not None:
        messages = (shorter.system, *messages[1:])
    whole, terse = _tokens(instructions, count), _tokens(shorter, count)
    elision = Elision(
        chosen,
        shorter.definitions if shorter.definitions != instructions.definitions else None,
        is_system=shorter.system is not instructions.system,
        of_tools=whole[0] - terse[0],
        of_system=whole[1] - terse[1],
        is_new=chosen != before,
    )
    if elision.is_new and state is not None:
        state = replace(state, stable=0, sent=0)  # the prompts share no beginning
    return replace(case, messages=messages, overhead=case.overhead - elision.of_tools, state=state), elision


def shortened(so_far: Progress, elision: Elision | None) -> Progress:
    """Returns the progress with the sizes of the elided instructions."""
    if elision is None:
        return so_far
    left = elision.of_system
    return replace(so_far, preamble_tokens=so_far.preamble_tokens - left, before=so_far.before - left)


def with_elision(plan: Plan, case: Case, elision: Elision | None) -> Plan:
    """Returns the plan of the elided case as a plan of the whole request: sizes, fates and state include the
    elision."""
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


def _tokens(instructions: Instructions, count: Count) -> tuple[int, int]:
    """Returns the tokens of the tools' definitions, and of the system message."""
    tools, system = instructions.definitions, instructions.system
    return count(msgspec.json.encode(tools).decode()) if tools else 0, count(system.text) if system else 0


def _without_tags(system: Message, tags: Collection[str]) -> Message:
    def cut(said: str) -> str:
        for tag in sorted(tags):
            said = _TAGGED[tag].sub("", said)
        return said

    # Kept whole if nothing would be left: not every upstream takes an empty message.
    return rewritten(system, cut) if cut(system.text).strip() else system


def _is_valid(said: str, schema: Json) -> bool:
    """True if the text is JSON that fits the schema. Invalid schemas, and such that refer elsewhere, fit nothing."""
    try:
        value = msgspec.json.decode(said)
        # The schema is the client's: nothing is fetched, and no pattern may take for ever.
        options = jsonschema_rs.RegexOptions()
        return jsonschema_rs.validator_for(schema, offline=True, pattern_options=options).is_valid(value)
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError):
        return False
