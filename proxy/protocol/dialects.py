"""The demands of each kind of upstream: one row per dialect, and the check of a list of messages against a row.

To add a dialect: a row here and in `DIALECTS`, and its name in `Upstream.dialect` (proxy/config/upstreams.py); a rule
that none has yet also needs a check. Checked are the lists that we have rewritten, before they are sent: a violation
means that the client's own request is sent instead. The rules are about order, not about the whole protocol: what the
client wrote inside a message is kept to the byte and is for the upstream to judge.

Sources (looked up November 2026), as users reported a rule or as the upstream's own source has it:

    kimi      platform.kimi.ai/docs/api/chat, /models-overview, /partial; MoonshotAI/kimi-cli #1977;
              anomalyco/opencode #10996
    openai    agno-agi/agno #5116, openai/openai-go #43
    deepseek  api-docs.deepseek.com/guides/thinking_mode; FoundationAgents/OpenManus #23
    mistral   mistral_common/protocol/instruct/validator.py; symfony/ai #2343
    vllm      the chat templates of Qwen 3.5, Mistral and gpt-oss; vllm-project/vllm #6862, #41114
    generic   whatever speaks the protocol, Gemini's compatible endpoint included: nothing is added to a request, and
              since kept messages are the client's bytes, `extra_content` with its thought signatures stays where it was

How each one caches prompts is in proxy/config/models.yaml.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

from proxy.types import Message

Rule = Literal[
    "no_messages",
    "too_many_tools",  # more than `max_tools`
    "orphan_result",  # a tool message that does not directly follow the call it answers
    "unanswered_call",  # a call whose result is missing before the next message
    "repeated_result",  # two results for one call
    "empty_content",  # a role of `nonempty` says nothing and calls nothing
    "missing_reasoning",  # the thinking behind a tool call was not returned
    "prefill_followed",  # `partial` or `prefix` on a message that is not the last
    "role_order",  # a role that may not follow the one before (`followers`)
    "last_role",  # nothing to answer
    "call_id",  # not nine letters and digits
    "late_system",  # a system message anywhere but first
    "alternation",  # user and assistant do not take turns
]
Reasoning = Literal["optional", "with_calls", "with_call_turns"]

_NINE_ALPHANUMERIC = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The demands of one kind of upstream. Where a field has its default, the upstream follows OpenAI."""

    name: str
    rules: tuple[Rule, ...]  # that it enforces; of two that one message breaks, the first is named
    include_usage: bool = True  # knows `stream_options.include_usage`; else the field must not be added
    reasoning: Reasoning = "optional"  # which `reasoning_content` it wants back while thinking is on
    max_tools: int | None = None
    nonempty: frozenset[str] = frozenset()  # roles whose content may not be empty
    prefill: str = ""  # the key that marks an unfinished last assistant message
    followers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # role -> the roles allowed after it


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the dialect that a message breaks."""

    rule: Rule
    index: int  # of the message at fault


KIMI = Dialect(
    name="kimi",
    rules=(
        *("no_messages", "too_many_tools", "orphan_result", "unanswered_call"),
        *("empty_content", "missing_reasoning", "prefill_followed"),
    ),
    reasoning="with_calls",
    max_tools=128,
    nonempty=frozenset({"system", "user", "assistant"}),
    prefill="partial",
)
OPENAI = Dialect(
    name="openai",
    rules=("no_messages", "too_many_tools", "orphan_result", "unanswered_call", "repeated_result"),
    max_tools=128,
)
DEEPSEEK = Dialect(
    name="deepseek",
    rules=("no_messages", "too_many_tools", "orphan_result", "unanswered_call", "missing_reasoning"),
    # In a turn with a tool call every assistant message must return it; in any other it is ignored.
    reasoning="with_call_turns",
    max_tools=128,
)
MISTRAL = Dialect(
    name="mistral",
    rules=(
        *("no_messages", "orphan_result", "unanswered_call", "empty_content", "prefill_followed"),
        *("role_order", "last_role", "call_id"),
    ),
    include_usage=False,  # 422 extra_forbidden
    nonempty=frozenset({"assistant"}),
    prefill="prefix",
    followers=MappingProxyType(
        {
            "system": frozenset({"system", "user", "assistant"}),
            "user": frozenset({"system", "user", "assistant"}),
            "assistant": frozenset({"assistant", "user", "tool"}),
            "tool": frozenset({"assistant", "tool"}),
        }
    ),
)
VLLM = Dialect(name="vllm", rules=("no_messages", "orphan_result", "unanswered_call", "late_system", "alternation"))
ANTHROPIC = Dialect(
    name="anthropic",
    rules=("no_messages", "orphan_result", "unanswered_call", "repeated_result"),
    include_usage=False,
)
GENERIC = Dialect(name="generic", rules=("no_messages", "orphan_result", "unanswered_call"), include_usage=False)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (KIMI, OPENAI, DEEPSEEK, MISTRAL, VLLM, ANTHROPIC, GENERIC)}
)


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
    found = [Violation(rule, index) for rule in dialect.rules for index in _CHECKS[rule](array)]
    return tuple(sorted(found, key=lambda violation: violation.index))


# Each check yields the indices of the messages at fault.


def _no_messages(array: _Array) -> Iterable[int]:
    return () if array.messages else (0,)


def _too_many_tools(array: _Array) -> Iterable[int]:
    most = array.dialect.max_tools
    return (0,) if most is not None and array.tools > most else ()


def _orphan_result(array: _Array) -> Iterator[int]:
    answered = {index for exchange in array.exchanges for index, call in exchange.results if call in exchange.ids}
    for index, message in enumerate(array.messages):
        if message.role == "tool" and index not in answered:
            yield index


def _unanswered_call(array: _Array) -> Iterator[int]:
    for exchange in array.exchanges:
        if not {call for _, call in exchange.results}.issuperset(exchange.ids):
            yield exchange.index


def _repeated_result(array: _Array) -> Iterator[int]:
    for exchange in array.exchanges:
        seen: set[str] = set()
        for index, call in exchange.results:
            if call in seen:
                yield index
            seen.add(call)


def _empty_content(array: _Array) -> Iterator[int]:
    for index, message in enumerate(array.messages):
        if message.role in array.dialect.nonempty and not message.data.get("content") and not _call_ids(message):
            yield index


def _missing_reasoning(array: _Array) -> Iterable[int]:
    if not array.thinking:
        return ()
    calling = {exchange.index for exchange in array.exchanges}
    if array.dialect.reasoning == "with_call_turns":
        calling = _turn_mates(array.messages, calling)
    return (index for index in sorted(calling) if not _has_reasoning(array.messages[index]))


def _prefill_followed(array: _Array) -> Iterable[int]:
    key = array.dialect.prefill
    return (index for index, message in enumerate(array.messages[:-1]) if message.data.get(key) is True)


def _role_order(array: _Array) -> Iterator[int]:
    for index, (previous, message) in enumerate(pairwise(array.messages), start=1):
        allowed = array.dialect.followers.get(previous.role)
        if allowed is not None and message.role not in allowed:
            yield index


def _last_role(array: _Array) -> Iterable[int]:
    last = array.messages[-1] if array.messages else None
    is_open = last is None or last.role != "assistant" or last.data.get(array.dialect.prefill) is True
    return () if is_open else (len(array.messages) - 1,)


def _call_id(array: _Array) -> Iterator[int]:
    for index, message in enumerate(array.messages):
        ids = (_result_id(message),) if message.role == "tool" else _call_ids(message)
        yield from (index for call in ids if not _NINE_ALPHANUMERIC.fullmatch(call))


def _late_system(array: _Array) -> Iterable[int]:
    return (at for at, message in enumerate(array.messages) if at and message.role in ("system", "developer"))


def _alternation(array: _Array) -> Iterator[int]:
    expected = "user"
    for index, message in enumerate(array.messages):
        if message.role not in ("user", "assistant") or _call_ids(message):
            continue  # as the templates do: tool calls and their results do not count as a turn
        if message.role != expected:
            yield index
        expected = "assistant" if message.role == "user" else "user"


_CHECKS: Mapping[Rule, Callable[[_Array], Iterable[int]]] = {
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
