"""A provider's prefix cache, simulated: finds the beginning of a prompt that was seen lately."""

import hashlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, takewhile
from typing import Any

import msgspec

from proxy.demo.completions import Encode
from proxy.lru import Lru
from proxy.types import PrefixCache


def render(message: Mapping[str, Any]) -> str:
    """A message as a chat template would lay it out: the text, what was called, and little around it."""
    content = message.get("content")
    said = content if isinstance(content, str) else _json(content or "")
    more = [
        str(message[name]) for name in ("reasoning_content", "refusal", "name", "tool_call_id") if message.get(name)
    ]
    calls = [_json(message["tool_calls"])] if message.get("tool_calls") else []
    return "\n".join([f"<|{message.get('role', '')}|>", said, *more, *calls])


def prompt_tokens(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], encode: Encode) -> list[int]:
    """The prompt as tokens: tools and format first, as providers do, so that changing them loses the whole prefix.
    Encoded piece by piece: an array that begins with another one begins with its tokens."""
    framing = [_json(fields[name]) for name in ("tools", "functions", "response_format") if fields.get(name)]
    pieces = chain(framing, map(render, messages))
    return [token for piece in pieces for token in encode(piece)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class PromptCache:
    """Blocks of tokens under the hash of everything before them, per API key and model."""

    def __init__(self, spec: PrefixCache, clock: Callable[[], float], bound: int) -> None:
        self._spec = spec
        self._clock = clock
        self._expiry: Lru[bytes, float] = Lru(bound)

    def __len__(self) -> int:
        return len(self._expiry)

    def admit(self, api_key: str, model: str, tokens: Sequence[int]) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before, in whole blocks."""
        if self._spec.ttl <= 0 or len(tokens) < max(self._spec.minimum, self._spec.block):
            return 0
        now = self._clock()
        links = self._links(api_key, model, tokens)
        cached = sum(1 for _ in takewhile(lambda link: self._expiry.get(link, 0.0) > now, links))
        for link in links:
            self._expiry.put(link, now + self._spec.ttl)
        return cached * self._spec.block

    def _links(self, api_key: str, model: str, tokens: Sequence[int]) -> Sequence[bytes]:
        links = []
        link = hashlib.blake2b(f"{api_key}\n{model}".encode(), digest_size=16).digest()
        for start in range(0, len(tokens) - self._spec.block + 1, self._spec.block):
            block = array("Q", tokens[start : start + self._spec.block]).tobytes()
            link = hashlib.blake2b(link + block, digest_size=16).digest()
            links.append(link)
        return links
