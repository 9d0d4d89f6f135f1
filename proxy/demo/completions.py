"""The scripted answer in the protocol's form: one `chat.completion` object, or the chunks that add up to it."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

from proxy.demo.config import Encode
from proxy.demo.script import Scripted, ToolCall
from proxy.wire.dialects import Dialect

Json: TypeAlias = dict[str, Any]
FINGERPRINT = "fp_demo"
_TOKEN = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class Choice:
    """A scripted answer, cut to `stop` and `max_tokens`."""

    said: Scripted
    finish_reason: str
    call_ids: tuple[str, ...] = ()
    top_logprobs: int | None = None  # None: no logprobs were asked for


@dataclass(frozen=True, slots=True)
class Completion:
    id: str
    created: int  # unix seconds, derived from the request
    model: str
    choices: tuple[Choice, ...]
    usage: Json


@dataclass(frozen=True, slots=True)
class Streaming:
    chunks: int  # deltas per text
    include_usage: bool


def cut(said: Scripted, stop: Sequence[str], max_tokens: int | None, encode: Encode) -> tuple[Scripted, str]:
    """What is left of an answer, and why it ended. Thinking is paid from the same purse, first."""
    if said.calls:
        return said, "tool_calls"
    reason, content, reasoning = "stop", said.content, said.reasoning
    ends = [at for word in stop if content and (at := content.find(word)) >= 0]
    if content is not None and ends:
        content = content[: min(ends)]
    if max_tokens is not None:
        spent = 0
        if reasoning is not None:
            reasoning, reason = _take(reasoning, max_tokens, encode, reason)
            spent = len(encode(reasoning))
        if content is not None:
            content, reason = _take(content, max(0, max_tokens - spent), encode, reason)
    return Scripted(content=content, refusal=said.refusal, reasoning=reasoning), reason


def _take(text: str, tokens: int, encode: Encode, reason: str) -> tuple[str, str]:
    if len(encode(text)) <= tokens:
        return text, reason
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(text[:middle])) <= tokens else (low, middle - 1)
    return text[:low], "length"


def usage(dialect: Dialect, prompt: int, cached: int, choices: Sequence[Scripted], encode: Encode) -> Json:
    """What was counted, told as the dialect tells it."""
    reasoning = sum(len(encode(said.reasoning)) for said in choices if said.reasoning)
    answered = sum(
        len(encode(text))
        for said in choices
        for text in (said.content, said.refusal, *(call.name + call.arguments for call in said.calls))
        if text
    )
    told = {
        "prompt_tokens": prompt,
        "completion_tokens": reasoning + answered,
        "total_tokens": prompt + reasoning + answered,
    }
    match dialect.name:
        case "kimi":
            return {**told, "cached_tokens": cached}
        case "deepseek":
            hits = {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": prompt - cached}
        case _:
            hits = {}
    return {
        **told,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
        **hits,
    }


def body(completion: Completion) -> Json:
    """The answer to a request that was not streamed."""
    choices = [
        {"index": at, "message": _message(choice), "logprobs": _logprobs(choice), "finish_reason": choice.finish_reason}
        for at, choice in enumerate(completion.choices)
    ]
    return {**_head(completion, "chat.completion"), "choices": choices, "usage": completion.usage}


def chunks(completion: Completion, streaming: Streaming, dialect: Dialect) -> Iterator[Json]:
    """The events of a streamed answer, without `[DONE]`; the choices take turns."""
    head = _head(completion, "chat.completion.chunk")
    if streaming.include_usage:
        head = {**head, "usage": None}
    streams = [_deltas(choice, streaming.chunks) for choice in completion.choices]
    for round_ in zip_longest(*streams):
        for at, delta in enumerate(round_):
            if delta is not None:
                yield {**head, "choices": [{"index": at, "finish_reason": None, **delta}]}
    for at, choice in enumerate(completion.choices):
        last: Json = {"index": at, "delta": {}, "logprobs": None, "finish_reason": choice.finish_reason}
        if dialect.name == "kimi" and at == len(completion.choices) - 1:
            last["usage"] = completion.usage
        event = {**head, "choices": [last]}
        if dialect.name == "mistral" and at == len(completion.choices) - 1:
            event["usage"] = completion.usage
        yield event
    if streaming.include_usage:
        yield {**head, "choices": [], "usage": completion.usage}


def _head(completion: Completion, kind: str) -> Json:
    return {
        "id": completion.id,
        "object": kind,
        "created": completion.created,
        "model": completion.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _message(choice: Choice) -> Json:
    said = choice.said
    message: Json = {"role": "assistant", "content": said.content, "refusal": said.refusal, "annotations": []}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    if said.calls:
        message["tool_calls"] = [
            _call(id_, call, call.arguments) for id_, call in zip(choice.call_ids, said.calls, strict=True)
        ]
    return message


def _deltas(choice: Choice, count: int) -> Iterator[Json]:
    said = choice.said
    yield {"delta": {"role": "assistant", "content": "" if said.content is not None else None, "refusal": None}}
    for piece in slices(said.reasoning or "", max(1, count // 2)):
        yield {"delta": {"reasoning_content": piece}}
    for piece in slices(said.refusal or "", count):
        yield {"delta": {"refusal": piece}}
    if choice.top_logprobs is None:
        for piece in slices(said.content or "", count):
            yield {"delta": {"content": piece}, "logprobs": None}
    else:
        for token in _TOKEN.findall(said.content or ""):
            entry = _token_logprob(token, choice.top_logprobs)
            yield {"delta": {"content": token}, "logprobs": {"content": [entry], "refusal": None}}
    for at, (id_, call) in enumerate(zip(choice.call_ids, said.calls, strict=True)):
        yield {"delta": {"tool_calls": [{"index": at, **_call(id_, call, "")}]}}
        for piece in slices(call.arguments, count):
            yield {"delta": {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}}


def _call(id_: str, call: ToolCall, arguments: str) -> Json:
    return {"id": id_, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def slices(text: str, count: int) -> list[str]:
    """`text` in `count` pieces of nearly equal length, none of them empty."""
    count = min(count, len(text))
    return [text[len(text) * at // count : len(text) * (at + 1) // count] for at in range(count)]


def _logprobs(choice: Choice) -> Json | None:
    if choice.top_logprobs is None or choice.said.content is None:
        return None
    tokens = _TOKEN.findall(choice.said.content)
    return {"content": [_token_logprob(token, choice.top_logprobs) for token in tokens], "refusal": None}


def _token_logprob(token: str, top: int) -> Json:
    def entry(token: str, rank: int) -> Json:
        seed = hashlib.blake2b(f"{rank}{token}".encode("utf-8", "replace"), digest_size=2).digest()
        logprob = -(rank + int.from_bytes(seed) / 65536)
        return {"token": token, "logprob": logprob, "bytes": list(token.encode("utf-8", "replace"))}

    others: Mapping[int, Json] = {rank: entry(token if rank == 0 else f"{token}{rank}", rank) for rank in range(top)}
    return {**entry(token, 0), "top_logprobs": list(others.values())}
