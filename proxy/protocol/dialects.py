"""The demands of each kind of upstream: one row per dialect, read by the validator, the planner and the demo upstream.

To add a dialect: a row here and in `DIALECTS`, and its name in `Upstream.dialect` (proxy/config/upstreams.py); a rule
that none has yet also needs a check in order.py.

`refuses` holds, for every rule that the upstream enforces, the text it answers with, as users reported it or as its own
source has it (looked up November 2026). Two texts were found nowhere and say the rule in its upstream's manner: Kimi's
`too_many_tools` and `prefill_followed` (both rules are from its API reference). Sources:

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

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Rule = Literal[
    "no_messages",  # {}
    "too_many_tools",  # {count}: more than `max_tools`
    "orphan_result",  # {id} {position}: a tool message that does not directly follow the call it answers
    "unanswered_call",  # {ids}: a call whose result is missing before the next message
    "repeated_result",  # {id} {previous} {position}: two results for one call
    "empty_content",  # {position} {role}: a role of `nonempty` says nothing and calls nothing
    "missing_reasoning",  # {position}: the thinking behind a tool call was not returned
    "prefill_followed",  # {position}: `partial` or `prefix` on a message that is not the last
    "role_order",  # {role} {previous}: a role that may not follow the one before (`followers`)
    "last_role",  # {role}: nothing to answer
    "call_id",  # {id}: not nine letters and digits
    "late_system",  # {position}: a system message anywhere but first
    "alternation",  # {position}: user and assistant do not take turns
]
Reasoning = Literal["optional", "with_calls", "with_call_turns"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The demands of one kind of upstream. Where a field has its default, the upstream follows OpenAI."""

    name: str
    refuses: Mapping[Rule, str]
    include_usage: bool = True  # knows `stream_options.include_usage`; else the field must not be added
    usage_unasked: bool = False  # its streams have the usage, asked for or not
    memory_role: Literal["user", "system"] = "user"  # default role of the memory head
    reasoning: Reasoning = "optional"  # which `reasoning_content` it wants back while thinking is on
    max_tools: int | None = None
    nonempty: frozenset[str] = frozenset()  # roles whose content may not be empty
    prefill: str = ""  # the key that marks an unfinished last assistant message
    followers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # role -> the roles allowed after it
    # Sampling fields that its thinking models accept with one value only; we never add any of them.
    fixed_sampling: Mapping[str, float] = field(default_factory=dict)


_CALLS_ANSWERED = (
    "must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {ids}"
)

_OPENAI: Mapping[Rule, str] = MappingProxyType(
    {
        "no_messages": "Invalid 'messages': empty array. "
        "Expected an array with minimum length 1, but got an empty array instead.",
        "too_many_tools": "Invalid 'tools': array too long. "
        "Expected an array with maximum length 128, but got an array with length {count} instead.",
        "orphan_result": "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "unanswered_call": f"An assistant message with 'tool_calls' {_CALLS_ANSWERED}",
        "repeated_result": "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', "
        "in messages[{previous}] and messages[{position}].",
    }
)

KIMI = Dialect(
    name="kimi",
    refuses=MappingProxyType(
        {
            "no_messages": "Invalid request: messages must not be empty",
            "too_many_tools": "Invalid request: at most 128 tools are supported, got {count}",
            # The gap is theirs: the id is missing from the text.
            "orphan_result": "Invalid request: tool_call_id  is not found",
            "unanswered_call": f"an assistant message with 'tool_calls' {_CALLS_ANSWERED}",
            "empty_content": "Invalid request: the message at position {position} with role '{role}' must not be empty",
            "missing_reasoning": "thinking is enabled but reasoning_content is missing in assistant tool call message "
            "at index {position}",
            "prefill_followed": "Invalid request: partial is only supported on the last message, "
            "but it is set at position {position}",
        }
    ),
    usage_unasked=True,
    reasoning="with_calls",
    max_tools=128,
    nonempty=frozenset({"system", "user", "assistant"}),
    prefill="partial",
    fixed_sampling=MappingProxyType(
        {"temperature": 1.0, "top_p": 0.95, "n": 1, "presence_penalty": 0.0, "frequency_penalty": 0.0}
    ),
)

OPENAI = Dialect(
    name="openai",
    refuses=_OPENAI,
    max_tools=128,
)

DEEPSEEK = Dialect(
    name="deepseek",
    refuses=MappingProxyType(
        {
            "no_messages": "Empty input messages",
            "too_many_tools": _OPENAI["too_many_tools"],
            "orphan_result": "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            "unanswered_call": "An assistant message with 'tool_calls' must be followed by tool messages responding to "
            "each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
            "missing_reasoning": "The `reasoning_content` in the thinking mode must be passed back to the API.",
        }
    ),
    # In a turn with a tool call every assistant message must return it; in any other it is ignored.
    reasoning="with_call_turns",
    max_tools=128,
)

MISTRAL = Dialect(
    name="mistral",
    refuses=MappingProxyType(
        {
            "no_messages": "Conversation must have at least one message",
            "orphan_result": "Not the same number of function calls and responses",
            "unanswered_call": "Not the same number of function calls and responses",
            "empty_content": "Assistant message must have either content or tool_calls, but not none.",
            "prefill_followed": "Assistant message with prefix True must be last message",
            "role_order": "Unexpected role '{role}' after role '{previous}'",
            "last_role": "Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}",
            "call_id": "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        }
    ),
    include_usage=False,  # 422 extra_forbidden
    usage_unasked=True,
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

VLLM = Dialect(
    name="vllm",
    refuses=MappingProxyType(
        {
            "no_messages": _OPENAI["no_messages"],
            "orphan_result": "Message has tool role, but there was no previous assistant message with a tool call!",
            "unanswered_call": "Not the same number of function calls and responses",
            "late_system": "System message must be at the beginning.",
            "alternation": "After the optional system message, conversation roles must alternate user and assistant "
            "roles except for tool calls and results.",
        }
    ),
)

GENERIC = Dialect(
    name="generic",
    refuses=MappingProxyType(
        {rule: text for rule, text in _OPENAI.items() if rule not in ("too_many_tools", "repeated_result")}
    ),
    include_usage=False,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (KIMI, OPENAI, DEEPSEEK, MISTRAL, VLLM, GENERIC)}
)
