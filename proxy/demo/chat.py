"""The demonstration's model: answers by script, counts tokens, and has a prefix cache as Kimi does. Ids and times are
derived from the request, so that a direct call and a proxied one can be compared field by field."""

import hashlib
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from proxy.config.prices import prefix_cache
from proxy.demo.completions import Choice, Completion, Encode, Json, completion_tokens, cut
from proxy.demo.prefix_cache import PromptCache, prompt_tokens
from proxy.demo.script import Scripted, script

CHAT_MODELS = ("demo-chat", "demo-reasoner", "gpt-4o-mini", "kimi-k2.6", "deepseek-v4-flash", "mistral-small-latest")
THINKING_MODELS = frozenset({"demo-reasoner", "kimi-k2.6", "deepseek-v4-flash"})
CACHE = prefix_cache("kimi", "")
CACHE_BLOCKS = 100_000  # the least recently used leave
CHUNKS = 8  # content deltas of a streamed answer

_EPOCH = 1_700_000_000  # `created` is this plus something derived from the request
# These change how an answer is delivered, not what it is.
_DELIVERY = frozenset({"stream", "stream_options", "messages", "user", "metadata", "store", "prompt_cache_key"})


class Chat:
    """A scripted chat model. `encode` counts its tokens."""

    def __init__(self, encode: Encode, cache: PromptCache | None = None, *, seed: int = 0) -> None:
        self.cache = cache or PromptCache(CACHE, monotonic, CACHE_BLOCKS)
        self._encode = encode
        self._seed = seed

    def complete(self, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], api_key: str) -> Completion:
        """The answer to a request that is well-formed. Its prompt is in the prefix cache of `api_key` afterwards."""
        digest = _digest(body, messages, self._seed)
        stop = body.get("stop") or ()
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        scripted = [
            script(body, messages, seed=self._seed + at, thinking=thinks(body)) for at in range(body.get("n") or 1)
        ]
        ended = [cut(said, [stop] if isinstance(stop, str) else stop, limit, self._encode) for said in scripted]
        tokens = prompt_tokens(body, messages, self._encode)
        cached = self.cache.admit(api_key, body["model"], tokens)
        return Completion(
            id=f"chatcmpl-{digest[:24]}",
            created=_EPOCH + int(digest[:6], 16),
            model=body["model"],
            choices=tuple(self.choice(body, said, reason, f"{digest}{at}.") for at, (said, reason) in enumerate(ended)),
            usage=self.usage(len(tokens), cached, *completion_tokens([said for said, _ in ended], self._encode)),
        )

    def choice(self, body: Mapping[str, Any], said: Scripted, reason: str, seed: str) -> Choice:  # noqa: ARG002 (others need it)
        """A choice with the ids of its tool calls, which are Kimi's: a name and a number."""
        return Choice(said, reason, tuple(f"{call.name}:{number}" for number, call in enumerate(said.calls)))

    def usage(self, prompt: int, cached: int, reasoning: int, answered: int) -> Json:
        """The `usage` object, in tokens, with Kimi's `cached_tokens`."""
        completion = reasoning + answered
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "cached_tokens": cached,
        }


def thinks(body: Mapping[str, Any]) -> bool:
    """Tells whether the model thinks before it answers: what `thinking` says, else what is usual for the model."""
    match body.get("thinking"):
        case {"type": str(switch)}:
            return switch == "enabled"
        case _:
            return body["model"] in THINKING_MODELS


def _digest(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], seed: int) -> str:
    fields = {name: value for name, value in sorted(body.items()) if name not in _DELIVERY}
    return hashlib.sha256(msgspec.json.encode([fields, messages, seed])).hexdigest()
