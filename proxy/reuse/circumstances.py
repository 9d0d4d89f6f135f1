"""The circumstances of a question: which requests ask a plain one, and what two of them must share before they are
compared.

A partition holds the answers that were given under the same circumstances: scope, upstream, model, instructions,
parameters, language, and everything the assistant had said before. The user's own earlier messages are not part of it:
they are compared question by question, since they may be in other words too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, get_args

import msgspec

from proxy.protocol.answers import has_disclaimer, sole_text, without_disclaimer
from proxy.protocol.chat import keyed
from proxy.types import ChatRequest, Json

Unsuited = Literal["large", "tools", "json_mode", "logprobs", "agent", "no_question", "long_context", "empty"]
UNSUITED: tuple[str, ...] = get_args(Unsuited)

# Earlier user messages that must agree with an entry's. Longer conversations have hardly ever been had before, and each
# message is one more comparison.
MOST_CONTEXT = 4
# A larger request is a document to work on and hardly ever comes twice. Reading one of 20 MB would hold the event loop
# for more than a second; of this size, 5 ms.
MOST_BYTES = 128 * 1024

_ROLES = ("user", "assistant", "system", "developer")
_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that ends in a question, as plain text."""

    question: str
    context: tuple[str, ...]  # the user messages before it, oldest first
    others: tuple[tuple[int, str, str], ...]  # index, role and text of every message that is not the user's
    follows_reuse: bool = False  # the answer right before it came from memory by intent


def conversation(request: ChatRequest, disclaimers: Iterable[str]) -> Conversation | Unsuited:
    """Returns the question, or the reason why the request is none to be answered by its meaning. `disclaimers`: the
    lines that open a reused answer. With or without, it is the same answer."""
    if len(request.raw) > MOST_BYTES:
        return "large"
    if request.has_tools or request.tool_choice not in (None, "none"):
        return "tools"
    if ((form := request.response_format) is not None and form.kind != "text") or request.constrains_text:
        return "json_mode"
    if request.wants_token_details:
        return "logprobs"
    said: list[tuple[str, str]] = []
    for message in request.messages:
        if (text := message.sole_text) is None or message.role not in _ROLES:
            return "agent"
        said.append((message.role, text))
    if not said or said[-1][0] != "user":
        return "no_question"
    *context, question = [text for role, text in said if role == "user"]
    if not question.strip():
        return "empty"
    if len(context) > MOST_CONTEXT:
        return "long_context"
    lines = tuple(disclaimers)
    others = [
        (index, role, without_disclaimer(text, lines) if role == "assistant" else text)
        for index, (role, text) in enumerate(said)
        if role != "user"
    ]
    answer = next((text for role, text in reversed(said) if role == "assistant"), None)
    follows_reuse = answer is not None and has_disclaimer(answer, lines)
    return Conversation(question, tuple(context), tuple(others), follows_reuse)


def partition(
    scope_id: str, addressee: str, request: ChatRequest, conversation: Conversation, *, language: str, embedder: str
) -> str:
    """32 hex digits. Every field of the request counts but the messages and those that never reach the model; of the
    sampling parameters, the range they are in."""
    fields = keyed(request)
    if (temperature := request.sampling.temperature) is not None:
        fields["temperature"] = _bucket(temperature)
    everything = ("olvido intent 1", scope_id, addressee, language, embedder, conversation.others, fields)
    return blake2b(_encode(everything), digest_size=16).hexdigest()


def entry_id(scope_id: str, partition: str, said: Conversation) -> str:
    """The same for a question that is asked again."""
    asked = (scope_id, partition, " ".join(said.question.split()), said.context)
    return "r-" + blake2b(_encode(asked), digest_size=8).hexdigest()


def is_reusable(completion: Mapping[str, Json]) -> bool:
    """Tells whether an answer is one text for people, ended as the model meant to. A program that asks for JSON in its
    prompt only would not understand a disclaimer before it."""
    content = (sole_text(completion) or "").lstrip()
    return content != "" and not content.startswith(("{", "[", "```json"))


def _bucket(temperature: float) -> str:
    """Near zero, up to one, above. A model at 0.6 and at 0.7 says the same things."""
    return "low" if temperature <= 0.3 else "usual" if temperature <= 1 else "high"
