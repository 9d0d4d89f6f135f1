"""The hash chain of a history, by which it is recognised when a client sends it back: a link per message, over what
identifies that message (`identity_of`) and the link before it.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b, sha256

import msgspec

from proxy.lru import Lru
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Json, Message

LINK_BYTES = 16

# The fields that identify a message when the client sends it back. SDKs re-send an answer with or without the
# fields that were null or only informative (refusal: null, annotations, audio, logprobs), so those are not part of it.
# `content` is, as `identity_of` reads it.
_MORE = ("tool_calls", "tool_call_id", "function_call", "name")
_DIGITS = re.compile(r"\d+")

_encode = msgspec.json.Encoder(order="deterministic").encode
_any = msgspec.json.Decoder()


def chain_of(scope_id: str, messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Hashes a history: one link per message, over the message and the link before it. The first link depends on the
    scope, so that equal conversations of two scopes share none."""
    return links_after(_root(scope_id), messages)


def _root(scope_id: str) -> bytes:
    return blake2b(scope_id.encode(), digest_size=LINK_BYTES).digest()


class Chains:
    """A cache of `chain_of`, keyed by a hash of the messages' own bytes: a conversation that goes on sends its history
    as it was, and a hash over all of it takes less than reading each message again."""

    GROWTH = 3  # messages that a request adds to the one before it, at most: an answer, a tool's result, a question

    def __init__(self, most: int = 2_000, most_links: int = 500_000) -> None:
        # A link takes 57 bytes where no other chain has it, else 8. Worker threads come here too, with large requests.
        self._known: Lru[bytes, tuple[bytes, ...]] = Lru(most, cost=len, most_cost=most_links)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, scope_id: str, messages: Sequence[Message]) -> tuple[bytes, ...]:
        """Returns `chain_of(scope_id, messages)`, from the cache as far as it is known."""
        digests = self._digests(scope_id, messages)
        found = next((links for digest in digests if (links := self._known.get(digest)) is not None), ())
        if len(found) < len(messages):
            found = (*found, *links_after(found[-1] if found else _root(scope_id), messages[len(found) :]))
        self._known.put(digests[0], found)
        return found

    def _digests(self, scope_id: str, messages: Sequence[Message]) -> list[bytes]:
        """Hashes all messages, all but the last, … down to `GROWTH` fewer; longest first."""
        settled = max(0, len(messages) - self.GROWTH)
        # Objects of JSON with a comma behind each: no other messages have the same bytes.
        hashed = sha256(b",".join([scope_id.encode(), *[message.raw for message in messages[:settled]], b""]))
        digests = [hashed.digest()] if settled else []
        for message in messages[settled:]:
            hashed.update(message.raw + b",")
            digests.append(hashed.digest())
        return digests[::-1]


def links_after(link: bytes, messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Continues a chain: the links of `messages` behind the message whose link is given."""
    links: list[bytes] = []
    for message in messages:
        link = blake2b(link + identity_of(message), digest_size=LINK_BYTES).digest()
        links.append(link)
    return tuple(links)


def identity_of(message: Message) -> bytes:
    """The canonical bytes of a message's content: key order, `null` fields, the two ways to write a text (a string, or
    one text part) and how the arguments of a call are spelt make no difference."""
    data = message.data
    role, content = data.get("role"), data.get("content")
    if isinstance(content, list):
        match content:
            case [{"type": "text", "text": str(text), **rest}] if not rest:
                content = text
    if isinstance(content, str):
        content = content.strip()  # clients trim answers before they send them back
        if role in INSTRUCTIONS:
            content = _DIGITS.sub("0", content)  # the clock that many clients write into their system prompt
    plain = len(data) == 2 and role is not None and content is not None  # no other field
    more = {} if plain else {name: value for name in _MORE if (value := data.get(name)) is not None}
    if "tool_calls" in more:
        more["tool_calls"] = _spelt(more["tool_calls"])
    if not more and content and isinstance(content, str) and isinstance(role, str):
        return f"{len(role)} {role}{content}".encode()  # most messages, five times as fast
    # An answer that only calls tools has no content: some clients write "", some null.
    return _encode({"role": role, "content": content or None, **more})


def _spelt(calls: Json) -> Json:
    """Returns tool calls with arguments in one spelling: clients read them and write them anew, and where an API has
    them as an object nobody can tell how they were written."""
    if not isinstance(calls, list):
        return calls
    return [_spelt_call(call) if isinstance(call, dict) else call for call in calls]


def _spelt_call(call: Mapping[str, Json]) -> Json:
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(arguments := function.get("arguments"), str):
        return call
    try:
        spelt = _encode(_any.decode(arguments)).decode()
    except (ValueError, RecursionError):
        return call
    return {**call, "function": {**function, "arguments": spelt}}
