"""An answer in the protocol's form: one `chat.completion` object, or the chunks that add up to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

from proxy.demo.script import Scripted, ToolCall

Json: TypeAlias = dict[str, Any]


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
    head = _head(completion, "chat.completion.chunk") | ({"usage": None} if include_usage else {})
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
    about = {"id": completion.id, "object": kind, "created": completion.created, "model": completion.model}
    return {**about, "service_tier": "default", "system_fingerprint": "fp_demo"}


def _message(choice: Choice) -> Json:
    said = choice.said
    message: Json = {"role": "assistant", "content": said.content, "refusal": said.refusal, "annotations": []}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    if said.calls:
        calls = zip(choice.call_ids, said.calls, strict=True)
        message["tool_calls"] = [_call(id_, call, call.arguments) for id_, call in calls]
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
