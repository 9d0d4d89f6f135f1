"""The scripted answer in the protocol's form: one `chat.completion` object, or the chunks that add up to it; and the
tokens of prompts and answers, of which a prefix cache holds some."""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile, zip_longest
from typing import Any, TypeAlias

import msgspec

from proxy.demo.script import Scripted, ToolCall
from proxy.lru import Lru
from proxy.types import PrefixCache

Json: TypeAlias = dict[str, Any]
Encode: TypeAlias = Callable[[str], Sequence[int]]  # text to token ids
FINGERPRINT = "fp_demo"


@dataclass(frozen=True, slots=True)
class Choice:
    """A scripted answer, cut to `stop` and `max_tokens`."""

    said: Scripted
    finish_reason: str
    call_ids: tuple[str, ...] = ()

    def logprobs(self) -> Json | None:
        """Log-probabilities of the answer; None if none were asked for, as always here."""
        return None

    def content_deltas(self, count: int) -> Iterator[Json]:
        """Fields of the chunks that hold the text, in `count` pieces."""
        for piece in slices(self.said.content or "", count):
            yield {"delta": {"content": piece}, "logprobs": None}


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer with all its choices, before it takes the form of a body or of chunks."""

    id: str
    created: int  # unix seconds, derived from the request
    model: str
    choices: tuple[Choice, ...]
    usage: Json


def cut(said: Scripted, stop: Sequence[str], max_tokens: int | None, encode: Encode) -> tuple[Scripted, str]:
    """Cuts an answer to its limits; returns it and the finish reason. Thinking counts too, and comes first."""
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


def completion_tokens(choices: Sequence[Scripted], encode: Encode) -> tuple[int, int]:
    """Tokens that were generated: for thinking, and for what was said or called."""
    reasoning = sum(len(encode(said.reasoning)) for said in choices if said.reasoning)
    answered = sum(
        len(encode(text))
        for said in choices
        for text in (said.content, said.refusal, *(call.name + call.arguments for call in said.calls))
        if text
    )
    return reasoning, answered


def body(completion: Completion) -> Json:
    """The `chat.completion` object that answers a request without streaming."""
    choices = [
        {"index": at, "message": _message(choice), "logprobs": choice.logprobs(), "finish_reason": choice.finish_reason}
        for at, choice in enumerate(completion.choices)
    ]
    return {**_head(completion, "chat.completion"), "choices": choices, "usage": completion.usage}


def chunks(completion: Completion, count: int, *, include_usage: bool) -> Iterator[Json]:
    """The events of a streamed answer, without `[DONE]`: `count` deltas a text, choices in turns. As Kimi tells it,
    the usage is in the last choice, and once more in a chunk of its own if the client wants it."""
    head = _head(completion, "chat.completion.chunk")
    if include_usage:
        head = {**head, "usage": None}
    streams = [_deltas(choice, count) for choice in completion.choices]
    for round_ in zip_longest(*streams):
        for at, delta in enumerate(round_):
            if delta is not None:
                yield {**head, "choices": [{"index": at, "finish_reason": None, **delta}]}
    for at, choice in enumerate(completion.choices):
        last: Json = {"index": at, "delta": {}, "logprobs": None, "finish_reason": choice.finish_reason}
        if at == len(completion.choices) - 1:
            last["usage"] = completion.usage
        yield {**head, "choices": [last]}
    if include_usage:
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
    yield from choice.content_deltas(count)
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


# --- the prompt ---


def render(message: Mapping[str, Any]) -> str:
    """Renders a message as a chat template would: the text, what was called, and little around it."""
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
