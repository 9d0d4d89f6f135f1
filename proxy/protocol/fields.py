"""Names of request fields, by what they mean for a proxy, and the canonical form of a request: two of one form ask the
upstream the same thing.

Everything in a request is part of that form except the fields in `UNKEYED`; a field nobody has heard of is a part, so a
new one can cost a miss and never a wrong answer. Key order, whitespace and escapes make no difference, anything else
does: 1, 1.0 and true are three values, null is not absence, and no two strings are taken for the same.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from proxy.types import ChatRequest, Json

# Left out only if it differs between requests that are otherwise the same and cannot reach the model. Two that may look
# as if they belonged here are keyed: `store` (an answer made without it is not at the provider to be fetched again) and
# `service_tier` (the answer names the tier that made it). So is every field of a message.
UNKEYED: Mapping[str, str] = MappingProxyType(
    {
        "stream": "how the answer travels; a stored one is told both ways",
        "stream_options": "which extra events a stream has; they are made anew for each client",
        "user": "who asks: the scope holds the end user already",
        "safety_identifier": "who asks, for the provider's abuse checks; the scope holds it already",
        "metadata": "labels for the provider's dashboard; the model never sees them",
        "prompt_cache_key": "routes to a warm prefix cache: price and speed, not the answer",
        "prompt_cache_options": "where and how long the provider keeps the prefix: price, not the answer",
        "prompt_cache_retention": "how long the provider keeps the prefix: price, not the answer",
        "request_id": "names this one request (vLLM)",
    }
)
# Fields that make a provider search the web while it answers (OpenAI; xAI; DashScope, Perplexity, Z.ai; OpenRouter;
# Cohere). Such answers grow old.
SEARCHING = frozenset(
    {"web_search_options", "search_parameters", "enable_search", "search_options", "search_domain_filter"}
    | {"search_recency_filter", "plugins", "connectors"}
)
# Fields that ask for text of a certain form, where a disclaimer would break it (vLLM, SGLang, llama.cpp, Ollama).
CONSTRAINING = frozenset(
    {"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "structural_tag"}
    | {"json_schema", "grammar", "regex", "ebnf", "format"}
)
# Fields that ask for the tokens of an answer; the disclaimer has none.
TOKEN_DETAILS = frozenset(
    {"logprobs", "top_logprobs", "prompt_logprobs", "return_token_ids", "return_tokens_as_token_ids"}
)
BILLED = ("tools", "functions", "response_format")  # fields beside the messages that cost tokens
SESSION_METADATA = ("session_id", "conversation_id", "thread_id", "chat_id")

_encode = msgspec.json.Encoder(order="deterministic").encode


def is_any_given(fields: Mapping[str, Json], names: frozenset[str]) -> bool:
    """True if one of these fields is neither absent nor null nor false."""
    return any(fields[name] not in (None, False) for name in names.intersection(fields))


def keyed(request: ChatRequest) -> dict[str, Json]:
    """The fields of a request, beside its messages, that can make a difference to the answer."""
    return {name: value for name, value in request.fields.items() if name not in UNKEYED}


def canonical(request: ChatRequest) -> tuple[bytes, bool]:
    """Returns the canonical form of a request, and True if it is ambiguous: a name that stands twice in an object has
    two values, and which of them counts is the upstream's to say."""
    form = _encode(keyed(request) | {"messages": [message.data for message in request.messages]})
    # A parsed object keeps one of two equal names, so the client's bytes have more quotation marks than ours. A `"`
    # inside a string is `\"` in ours and may be `\u0022` in the client's; nothing else makes the counts differ.
    unkeyed = {name: value for name, value in request.fields.items() if name in UNKEYED}
    ours = form.count(b'"') + (_encode(unkeyed).count(b'"') if unkeyed else 0)
    return form, request.raw.count(b'"') + request.raw.count(rb"\u0022") != ours
