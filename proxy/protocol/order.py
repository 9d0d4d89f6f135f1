"""Validates a list of messages against a dialect, for the lists that we have rewritten, before they are sent.

It knows the order rules, not the whole protocol: what the client wrote inside a message is kept to the byte and is for
the upstream to judge. A violation means that the client's own request is sent instead.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from proxy.protocol.dialects import Dialect, Rule
from proxy.types import Message

_NINE_ALPHANUMERIC = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the dialect that a message breaks."""

    rule: Rule
    index: int  # of the message at fault
    text: str  # what the upstream would answer


@dataclass(frozen=True, slots=True)
class _Exchange:
    """An assistant message with tool calls and the tool messages that directly follow it."""

    index: int
    ids: tuple[str, ...]
    results: tuple[tuple[int, str], ...]  # index and `tool_call_id`


@dataclass(frozen=True, slots=True)
class _Array:
    messages: Sequence[Message]
    exchanges: tuple[_Exchange, ...]
    dialect: Dialect
    tools: int
    thinking: bool


Finding: TypeAlias = tuple[
    int, Mapping[str, Any]
]  # index of the message at fault, values for the placeholders of the text


def violations(
    messages: Sequence[Message], dialect: Dialect, tools: int = 0, *, thinking: bool | None = None
) -> tuple[Violation, ...]:
    """Lists the rules of `dialect` that the messages break, in their order; empty if the upstream would accept them.

    `tools` is the length of the request's `tools`. `thinking` says whether the model thinks; when unknown, it is taken
    to if any message carries `reasoning_content` (a model that never thinks has none to return).
    """
    if thinking is None:
        thinking = any(_has_reasoning(message) for message in messages)
    array = _Array(messages, tuple(_exchanges(messages)), dialect, tools, thinking)
    found = [
        Violation(rule, index, text.format(**detail))
        for rule, text in dialect.refuses.items()
        for index, detail in _CHECKS[rule](array)
    ]
    return tuple(sorted(found, key=lambda violation: violation.index))


def _no_messages(array: _Array) -> Iterator[Finding]:
    if not array.messages:
        yield 0, {}


def _too_many_tools(array: _Array) -> Iterator[Finding]:
    if array.dialect.max_tools is not None and array.tools > array.dialect.max_tools:
        yield 0, {"count": array.tools}


def _orphan_result(array: _Array) -> Iterator[Finding]:
    answered = {index for exchange in array.exchanges for index, call in exchange.results if call in exchange.ids}
    for index, message in enumerate(array.messages):
        if message.role == "tool" and index not in answered:
            yield index, {"id": _result_id(message), "position": index}


def _unanswered_call(array: _Array) -> Iterator[Finding]:
    for exchange in array.exchanges:
        answers = {call for _, call in exchange.results}
        if missing := [call for call in exchange.ids if call not in answers]:
            yield exchange.index, {"ids": ", ".join(missing)}


def _repeated_result(array: _Array) -> Iterator[Finding]:
    for exchange in array.exchanges:
        first: dict[str, int] = {}
        for index, call in exchange.results:
            if call in first:
                yield index, {"id": call, "previous": first[call], "position": index}
            first.setdefault(call, index)


def _empty_content(array: _Array) -> Iterator[Finding]:
    for index, message in enumerate(array.messages):
        if message.role in array.dialect.nonempty and not message.data.get("content") and not _call_ids(message):
            yield index, {"position": index, "role": message.role}


def _missing_reasoning(array: _Array) -> Iterator[Finding]:
    if not array.thinking or array.dialect.reasoning == "optional":
        return
    calling = {exchange.index for exchange in array.exchanges}
    if array.dialect.reasoning == "with_call_turns":
        calling = _turn_mates(array.messages, calling)
    for index in sorted(calling):
        if not _has_reasoning(array.messages[index]):
            yield index, {"position": index}


def _prefill_followed(array: _Array) -> Iterator[Finding]:
    for index, message in enumerate(array.messages[:-1]):
        if message.data.get(array.dialect.prefill) is True:
            yield index, {"position": index}


def _role_order(array: _Array) -> Iterator[Finding]:
    for index in range(1, len(array.messages)):
        role, previous = array.messages[index].role, array.messages[index - 1].role
        allowed = array.dialect.followers.get(previous)
        if allowed is not None and role not in allowed:
            yield index, {"role": role, "previous": previous}


def _last_role(array: _Array) -> Iterator[Finding]:
    if not array.messages:
        return
    last = array.messages[-1]
    if last.role == "assistant" and last.data.get(array.dialect.prefill) is not True:
        yield len(array.messages) - 1, {"role": last.role}


def _call_id(array: _Array) -> Iterator[Finding]:
    for index, message in enumerate(array.messages):
        ids = (_result_id(message),) if message.role == "tool" else _call_ids(message)
        for call in ids:
            if not _NINE_ALPHANUMERIC.fullmatch(call):
                yield index, {"id": call}


def _late_system(array: _Array) -> Iterator[Finding]:
    for index, message in enumerate(array.messages[1:], start=1):
        if message.role in ("system", "developer"):
            yield index, {"position": index}


def _alternation(array: _Array) -> Iterator[Finding]:
    expected = "user"
    for index, message in enumerate(array.messages):
        if message.role not in ("user", "assistant") or _call_ids(message):
            continue  # as the templates do: tool calls and their results do not count as a turn
        if message.role != expected:
            yield index, {"position": index}
        expected = "assistant" if message.role == "user" else "user"


_CHECKS: Mapping[Rule, Callable[[_Array], Iterator[Finding]]] = {
    "no_messages": _no_messages,
    "too_many_tools": _too_many_tools,
    "orphan_result": _orphan_result,
    "unanswered_call": _unanswered_call,
    "repeated_result": _repeated_result,
    "empty_content": _empty_content,
    "missing_reasoning": _missing_reasoning,
    "prefill_followed": _prefill_followed,
    "role_order": _role_order,
    "last_role": _last_role,
    "call_id": _call_id,
    "late_system": _late_system,
    "alternation": _alternation,
}


def _exchanges(messages: Sequence[Message]) -> Iterator[_Exchange]:
    for index, message in enumerate(messages):
        if not (ids := _call_ids(message)):
            continue
        stop = index + 1
        while stop < len(messages) and messages[stop].role == "tool":
            stop += 1
        yield _Exchange(index, ids, tuple((at, _result_id(messages[at])) for at in range(index + 1, stop)))


def _turn_mates(messages: Sequence[Message], calling: set[int]) -> set[int]:
    """The assistant messages of every turn (from one user message to the next) that has one of `calling`."""
    mates: set[int] = set()
    turn: list[int] = []
    for index, message in enumerate(messages):
        if message.role == "user":
            turn = []
        elif message.role == "assistant":
            turn.append(index)
            if not calling.isdisjoint(turn):
                mates.update(turn)
    return mates


def _call_ids(message: Message) -> tuple[str, ...]:
    calls = message.data.get("tool_calls")
    if message.role != "assistant" or not isinstance(calls, list):
        return ()
    return tuple(str(call.get("id", "")) if isinstance(call, dict) else "" for call in calls)


def _result_id(message: Message) -> str:
    return str(message.data.get("tool_call_id") or "")


def _has_reasoning(message: Message) -> bool:
    return isinstance(message.data.get("reasoning_content"), str)
