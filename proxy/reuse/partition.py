"""What a question may be answered from: which requests ask a plain question at all, and what two of them must share
before their questions are compared.

A partition holds the answers that were given under the same circumstances: scope, upstream, model, instructions,
parameters, language, and everything the assistant had said before. The user's own earlier messages are not part of it:
they are compared question by question, since they may be in other words too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, get_args

import msgspec

from proxy.reuse.key import UNKEYED
from proxy.types import ChatRequest, Json, Message
from proxy.wire.disclaimer import has_disclaimer, without_disclaimer

Unsuited = Literal["large", "tools", "json_mode", "logprobs", "agent", "no_question", "long_context", "empty"]
UNSUITED: tuple[str, ...] = get_args(Unsuited)

# Earlier user messages that must agree with an entry's. Longer conversations have hardly ever been had before, and each
# message is one more comparison.
MOST_CONTEXT = 4
# A larger request is a document to work on and hardly ever comes twice. Reading one of 20 MB would hold the event loop
# for more than a second; of this size, 5 ms.
MOST_BYTES = 128 * 1024

# Fields that ask for text of a certain form, where a disclaimer would break it (vLLM, SGLang, llama.cpp, Ollama).
_CONSTRAINING = frozenset(
    {"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "structural_tag"}
    | {"json_schema", "grammar", "regex", "ebnf", "format"}
)
# Fields that ask for the tokens of an answer, which are not those of the disclaimer.
_TELLING_TOKENS = frozenset(
    {"logprobs", "top_logprobs", "prompt_logprobs", "return_token_ids", "return_tokens_as_token_ids"}
)
# What a message may have and still be its text alone. Reasoning that a client sends back is the model's, not the
# conversation's; `cache_control` is about its price.
_TEXT_FIELDS = frozenset({"role", "content", "reasoning_content", "reasoning", "reasoning_details", "cache_control"})
_PART_FIELDS = frozenset({"type", "text", "cache_control"})

_INSTRUCTING = ("system", "developer")
_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that ends in a question, as plain text."""

    question: str
    context: tuple[str, ...]  # the user messages before it, oldest first
    others: tuple[tuple[int, str, str], ...]  # index, role and text of every message that is not the user's
    follows_reuse: bool = False  # the answer right before it came from memory by intent


def conversation(request: ChatRequest, disclaimers: Iterable[str]) -> Conversation | Unsuited:
    """What is asked, or why this request is none to be answered by its meaning. `disclaimers`: the lines that open a
    reused answer. With or without, it is the same answer."""
    fields = request.fields
    if len(request.raw) > MOST_BYTES:
        return "large"
    if any(fields.get(name) for name in ("tools", "functions")) or fields.get("tool_choice") not in (None, "none"):
        return "tools"
    if not _is_text_format(fields.get("response_format")) or _any_given(fields, _CONSTRAINING):
        return "json_mode"
    if _any_given(fields, _TELLING_TOKENS):
        return "logprobs"
    said = [(message.role, _text(message)) for message in request.messages]
    if any(text is None or role not in ("user", "assistant", *_INSTRUCTING) for role, text in said):
        return "agent"
    if not said or said[-1][0] != "user":
        return "no_question"
    *context, question = [text or "" for role, text in said if role == "user"]
    if not question.strip():
        return "empty"
    if len(context) > MOST_CONTEXT:
        return "long_context"
    lines = tuple(disclaimers)
    others = (
        (index, role, without_disclaimer(text or "", lines) if role == "assistant" else text or "")
        for index, (role, text) in enumerate(said)
        if role != "user"
    )
    answers = [text or "" for role, text in said if role == "assistant"]
    follows_reuse = bool(answers) and has_disclaimer(answers[-1], lines)
    return Conversation(question, tuple(context), tuple(others), follows_reuse)


def partition(
    scope_id: str, addressee: str, request: ChatRequest, conversation: Conversation, *, language: str, embedder: str
) -> str:
    """32 hex digits. Every field of the request counts but the messages and those that never reach the model; of the
    sampling parameters, the range they are in."""
    fields = {name: _bucket(name, value) for name, value in request.fields.items() if name not in UNKEYED}
    everything = ("olvido intent 1", scope_id, addressee, language, embedder, conversation.others, fields)
    return blake2b(_encode(everything), digest_size=16).hexdigest()


def entry_id(scope_id: str, partition: str, said: Conversation) -> str:
    """The same for a question that is asked again."""
    asked = (scope_id, partition, " ".join(said.question.split()), said.context)
    return "r-" + blake2b(_encode(asked), digest_size=8).hexdigest()


def is_reusable(completion: Mapping[str, Json]) -> bool:
    """Is this one text for people, ended as the model meant to? A program that asks for JSON in its prompt only would
    not understand a disclaimer before it."""
    choices = completion.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return False
    message = choices[0].get("message")
    if choices[0].get("finish_reason") != "stop" or not isinstance(message, dict):
        return False
    content = message.get("content")
    extras = any(message.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))
    if not isinstance(content, str) or extras or choices[0].get("logprobs") is not None:
        return False
    start = content.lstrip()
    return start != "" and not start.startswith(("{", "[", "```json"))


def _is_text_format(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and value.get("type") == "text")


def _any_given(fields: Mapping[str, Json], names: frozenset[str]) -> bool:
    return any(fields[name] not in (None, False) for name in names.intersection(fields))


def _text(message: Message) -> str | None:
    """None if the message carries anything but text, or a field that nobody has heard of: it may be a picture."""
    data = message.data
    if any(value for name, value in data.items() if name not in _TEXT_FIELDS):
        return None
    content = data.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(map(_is_text_part, content)):
        return None
    return "\n".join(part["text"] for part in content)


def _is_text_part(part: Json) -> bool:
    return (
        isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
        and not any(value for name, value in part.items() if name not in _PART_FIELDS)
    )


def _bucket(name: str, value: Any) -> Any:
    """Temperatures: near zero, up to one, above. A model at 0.6 and at 0.7 says the same things."""
    if name != "temperature" or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return "low" if value <= 0.3 else "usual" if value <= 1 else "high"
