"""POST /v1/chat/completions: from the body to a reply. The demonstration's model with the rules and the forms of every
dialect."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.demo.app import THINKING_MODELS, Chat, thinks
from proxy.demo.forms import Choice, Json, body, chunks
from proxy.demo.prompt_cache import PromptCache
from proxy.demo.script import Scripted
from proxy.protocol.dialects import Dialect, violations
from proxy.protocol.message import chat_message
from tests.scripted import refusals
from tests.scripted.config import ScriptedConfig
from tests.scripted.recording import Received
from tests.scripted.refusals import Refusal
from tests.scripted.reply import Reply, event_stream

_TOKEN = re.compile(r"\s*\S+|\s+")


class DialectChat(Chat):
    """The demonstration's model as an upstream of any dialect offers it."""

    def __init__(self, config: ScriptedConfig) -> None:
        cache = PromptCache(config.cache, config.clock, config.cache_blocks)
        super().__init__(config.encode, cache, seed=config.seed)
        self._config = config

    def answer(self, request: Received) -> Reply | Refusal:
        try:
            asked = request.json()
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Refusal(400, refusals.openai_error(refusals.NOT_JSON))
        if not isinstance(asked, dict):
            return Refusal(400, refusals.openai_error(refusals.NOT_JSON))
        messages = asked.get("messages")
        if refusal := self._malformed(asked, messages):
            return refusal
        assert isinstance(messages, list)
        if self._config.strict and (refusal := self._against_the_dialect(asked, messages)):
            return refusal
        completion = self.complete(asked, messages, request.api_key)
        if asked.get("stream") is not True:
            return Reply(200, [msgspec.json.encode(body(completion))])
        count = int(request.header("x-demo-chunks") or self._config.chunks)
        include_usage = (asked.get("stream_options") or {}).get("include_usage") is True
        events = told_by(self._config.dialect, chunks(completion, count, include_usage=include_usage))
        delay = float(request.header("x-demo-chunk-delay") or self._config.chunk_delay)
        return event_stream([msgspec.json.encode(event) for event in events], delay)

    def choice(self, body: Mapping[str, Any], said: Scripted, reason: str, seed: str) -> Choice:
        ids = tuple(self._call_id(call.name, number, f"{seed}{number}") for number, call in enumerate(said.calls))
        if body.get("logprobs"):
            return ChoiceWithLogprobs(said, reason, ids, body.get("top_logprobs") or 0)
        return Choice(said, reason, ids)

    def usage(self, prompt: int, cached: int, reasoning: int, answered: int) -> Json:
        told = super().usage(prompt, cached, reasoning, answered)
        if self._config.dialect.name == "kimi":
            return told
        del told["cached_tokens"]
        told["prompt_tokens_details"] = {"cached_tokens": cached, "audio_tokens": 0}
        told["completion_tokens_details"] = {"reasoning_tokens": reasoning, "audio_tokens": 0}
        if self._config.dialect.name == "deepseek":
            told |= {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": prompt - cached}
        return told

    def _call_id(self, name: str, number: int, seed: str) -> str:
        own = hashlib.blake2b(seed.encode(), digest_size=12).hexdigest()
        match self._config.dialect.name:
            case "kimi":
                return f"{name}:{number}"
            case "mistral":
                return own[:9]
            case _:
                return f"call_{own}"

    def _malformed(self, asked: Mapping[str, Any], messages: Any) -> Refusal | None:
        model = asked.get("model")
        if not isinstance(model, str) or not model:
            return Refusal(400, refusals.openai_error("you must provide a model parameter"))
        if model not in self._config.models:
            return refusals.unknown_model(model)
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            return refusals.missing("messages")
        return None

    def _against_the_dialect(self, asked: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Refusal | None:
        dialect, thinking = self._config.dialect, thinks(asked)
        if dialect.name == "mistral" and "include_usage" in (asked.get("stream_options") or {}):
            return refusals.unknown_field("stream_options", "include_usage")
        if asked["model"] in THINKING_MODELS:
            for name, fixed in refusals.FIXED_SAMPLING.get(dialect.name, {}).items():
                allowed = 0.6 if name == "temperature" and not thinking else fixed
                if asked.get(name) is not None and asked[name] != allowed:
                    return refusals.fixed_sampling(name, allowed)
        array = [chat_message(b"", message) for message in messages]
        tools = len(asked.get("tools") or ())
        found = violations(array, dialect, tools, thinking=thinking)
        return refusals.order(found[0], dialect, refusals.text_of(found[0], dialect, array, tools)) if found else None


def told_by(dialect: Dialect, events: Iterable[Json]) -> Iterator[Json]:
    """The events of a stream with the usage where the dialect tells it: Kimi in the last choice, Mistral beside it,
    others in a chunk of its own alone."""
    for event in events:
        for choice in event["choices"] if dialect.name != "kimi" else ():
            if (usage := choice.pop("usage", None)) and dialect.name == "mistral":
                event["usage"] = usage
        yield event


@dataclass(frozen=True, slots=True)
class ChoiceWithLogprobs(Choice):
    """A choice of which each token has a log-probability, and so many others that it could have been."""

    top_logprobs: int = 0

    def logprobs(self) -> Json | None:
        if self.said.content is None:
            return None
        tokens = _TOKEN.findall(self.said.content)
        return {"content": [_token_logprob(token, self.top_logprobs) for token in tokens], "refusal": None}

    def content_deltas(self, count: int) -> Iterator[Json]:
        for token in _TOKEN.findall(self.said.content or ""):
            entry = _token_logprob(token, self.top_logprobs)
            yield {"delta": {"content": token}, "logprobs": {"content": [entry], "refusal": None}}


def _token_logprob(token: str, top: int) -> Json:
    def entry(token: str, rank: int) -> Json:
        seed = hashlib.blake2b(f"{rank}{token}".encode("utf-8", "replace"), digest_size=2).digest()
        logprob = -(rank + int.from_bytes(seed) / 65536)
        return {"token": token, "logprob": logprob, "bytes": list(token.encode("utf-8", "replace"))}

    others: Mapping[int, Json] = {rank: entry(token if rank == 0 else f"{token}{rank}", rank) for rank in range(top)}
    return {**entry(token, 0), "top_logprobs": list(others.values())}
