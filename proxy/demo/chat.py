"""POST /v1/chat/completions: from the body to a reply. No clock, no randomness."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.demo import completions, refusals
from proxy.demo.completions import Choice, Completion, Streaming
from proxy.demo.config import DemoConfig
from proxy.demo.prefix_cache import PromptCache, prompt_tokens
from proxy.demo.recording import Received
from proxy.demo.refusals import Refusal
from proxy.demo.reply import Reply, event_stream
from proxy.demo.script import script
from proxy.wire.chat import chat_message
from proxy.wire.order import violations

_EPOCH = 1_700_000_000  # `created` is this plus something derived from the request
# These change how an answer is delivered, not what it is.
_DELIVERY = frozenset({"stream", "stream_options", "messages", "user", "metadata", "store", "prompt_cache_key"})


class Chat:
    def __init__(self, config: DemoConfig) -> None:
        self._config = config
        self.cache = PromptCache(config.cache, config.clock, config.cache_blocks)

    def answer(self, request: Received) -> Reply | Refusal:
        try:
            body = request.json()
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Refusal(400, refusals.openai_error(refusals.NOT_JSON))
        if not isinstance(body, dict):
            return Refusal(400, refusals.openai_error(refusals.NOT_JSON))
        messages = body.get("messages")
        if refusal := self._malformed(body, messages):
            return refusal
        assert isinstance(messages, list)
        if self._config.strict and (refusal := self._against_the_dialect(body, messages)):
            return refusal
        completion = self._complete(body, messages, request.api_key)
        if body.get("stream") is not True:
            return Reply(200, [msgspec.json.encode(completions.body(completion))])
        asked = body.get("stream_options") or {}
        streaming = Streaming(
            chunks=int(request.header("x-demo-chunks") or self._config.chunks),
            include_usage=asked.get("include_usage") is True,
        )
        events = completions.chunks(completion, streaming, self._config.dialect)
        delay = float(request.header("x-demo-chunk-delay") or self._config.chunk_delay)
        return event_stream([msgspec.json.encode(event) for event in events], delay)

    def _malformed(self, body: Mapping[str, Any], messages: Any) -> Refusal | None:
        model = body.get("model")
        if not isinstance(model, str) or not model:
            return Refusal(400, refusals.openai_error("you must provide a model parameter"))
        if model not in self._config.models:
            return refusals.unknown_model(model)
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            return refusals.missing("messages")
        return None

    def _against_the_dialect(self, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Refusal | None:
        dialect, thinking = self._config.dialect, self._thinks(body)
        if dialect.name == "mistral" and "include_usage" in (body.get("stream_options") or {}):
            return refusals.unknown_field("stream_options", "include_usage")
        if body["model"] in self._config.thinking_models:
            for name, fixed in dialect.fixed_sampling.items():
                allowed = 0.6 if name == "temperature" and not thinking else fixed
                if body.get(name) is not None and body[name] != allowed:
                    return refusals.fixed_sampling(name, allowed)
        array = [chat_message(b"", message) for message in messages]
        found = violations(array, dialect, len(body.get("tools") or ()), thinking=thinking)
        return refusals.order(found[0], dialect) if found else None

    def _thinks(self, body: Mapping[str, Any]) -> bool:
        match body.get("thinking"):
            case {"type": str(switch)}:
                return switch == "enabled"
            case _:
                return body["model"] in self._config.thinking_models

    def _complete(self, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], api_key: str) -> Completion:
        config = self._config
        digest = _digest(body, messages, config.seed)
        scripted = [
            script(body, messages, seed=config.seed + at, thinking=self._thinks(body))
            for at in range(body.get("n") or 1)
        ]
        stop = body.get("stop") or ()
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        cut = [
            completions.cut(said, [stop] if isinstance(stop, str) else stop, limit, config.encode) for said in scripted
        ]
        tokens = prompt_tokens(body, messages, config.encode)
        cached = self.cache.admit(api_key, body["model"], tokens)
        said = [answer for answer, _ in cut]
        return Completion(
            id=f"chatcmpl-{digest[:24]}",
            created=_EPOCH + int(digest[:6], 16),
            model=body["model"],
            choices=tuple(
                Choice(
                    answer,
                    reason,
                    tuple(self._call_id(digest, call.name, at, number) for number, call in enumerate(answer.calls)),
                    (body.get("top_logprobs") or 0) if body.get("logprobs") else None,
                )
                for at, (answer, reason) in enumerate(cut)
            ),
            usage=completions.usage(config.dialect, len(tokens), cached, said, config.encode),
        )

    def _call_id(self, digest: str, name: str, choice: int, number: int) -> str:
        own = hashlib.blake2b(f"{digest}{choice}.{number}".encode(), digest_size=12).hexdigest()
        match self._config.dialect.name:
            case "kimi":
                return f"{name}:{number}"
            case "mistral":
                return own[:9]
            case _:
                return f"call_{own}"


def _digest(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], seed: int) -> str:
    fields = {name: value for name, value in sorted(body.items()) if name not in _DELIVERY}
    return hashlib.sha256(msgspec.json.encode([fields, messages, seed])).hexdigest()
