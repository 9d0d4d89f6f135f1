"""Rounds of an answer as a model might speak them, and as an upstream streams them, in one of many styles."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from proxy.protocol.sse import DONE, encode

Style = Literal["plain", "no index", "all zero", "one by one", "several", "whole", "with usage", "role everywhere"]
STYLES: tuple[Style, ...] = (
    "plain",  # OpenAI: name and id first, then the arguments in pieces
    "no index",  # Gemini: no indices, each call whole
    "all zero",  # each call whole, each with index 0
    "one by one",  # names in pieces too
    "several",  # all calls in one delta
    "whole",  # the whole message in one chunk
    "with usage",  # usage in each chunk, counting on
    "role everywhere",  # each delta says the role
)


@dataclass(frozen=True, slots=True)
class Called:
    name: str
    arguments: str = "{}"
    id: str = "call00001"

    @property
    def json(self) -> dict[str, Any]:
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class Spoken:
    """One round."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    reasoning: str = ""
    finish: str = ""  # "": as it should be
    usage: dict[str, Any] | None = field(default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 3})
    id: str = "chatcmpl-1"
    created: int = 7

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")

    @property
    def message(self) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.reasoning:
            said["reasoning_content"] = self.reasoning
        if self.calls:
            said["tool_calls"] = [call.json for call in self.calls]
        return said

    @property
    def completion(self) -> dict[str, Any]:
        choice = {"index": 0, "message": self.message, "logprobs": None, "finish_reason": self.finish_reason}
        head = {"id": self.id, "object": "chat.completion", "created": self.created, "model": "m-2026"}
        return {**head, "choices": [choice], **({} if self.usage is None else {"usage": self.usage})}

    @property
    def body(self) -> bytes:
        return msgspec.json.encode(self.completion)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def deltas(spoken: Spoken, style: Style, size: int = 3, *, calls_first: bool = False) -> list[dict[str, Any]]:
    """The deltas of a round, the role aside."""
    texts: list[dict[str, Any]] = [{"reasoning_content": each} for each in pieces(spoken.reasoning, size)]
    texts += [{"content": each} for each in pieces(spoken.text, size)]
    calls: list[dict[str, Any]] = []
    whole = [{**call.json, "index": at} for at, call in enumerate(spoken.calls)]
    match style:
        case "no index":
            calls = [{"tool_calls": [call.json]} for call in spoken.calls]
        case "all zero":
            calls = [{"tool_calls": [{**call.json, "index": 0}]} for call in spoken.calls]
        case "several":
            calls = [{"tool_calls": whole}] if whole else []
        case _:
            for at, call in enumerate(spoken.calls):
                names = pieces(call.name, 4) if style == "one by one" else [call.name]
                begin = {"index": at, "id": call.id, "type": "function"}
                calls.append({"tool_calls": [{**begin, "function": {"name": names[0], "arguments": ""}}]})
                calls += [{"tool_calls": [{"index": at, "function": {"name": each}}]} for each in names[1:]]
                arguments = pieces(call.arguments, size)
                calls += [{"tool_calls": [{"index": at, "function": {"arguments": each}}]} for each in arguments]
    return calls + texts if calls_first else texts + calls


def chunks(
    spoken: Spoken, style: Style = "plain", size: int = 3, *, calls_first: bool = False, wants_usage: bool = True
) -> list[dict[str, Any]]:
    """The chunks of a round."""
    head = {"id": spoken.id, "object": "chat.completion.chunk", "created": spoken.created, "model": "m-2026"}

    def chunk(finish: str | None = None, **choice: Any) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, **choice, "finish_reason": finish}]}

    if style == "whole":
        told = [chunk(spoken.finish_reason, message=spoken.message)]
    else:
        said = deltas(spoken, style, size, calls_first=calls_first)
        # OpenAI says the role of an answer that only calls with its first call.
        first = said.pop(0) if said and "tool_calls" in said[0] else {"content": ""}
        told = [chunk(delta={"role": "assistant", "content": None, **first})]
        told += [chunk(delta=each) for each in said]
        told += [chunk(spoken.finish_reason, delta={})]
        if style == "role everywhere":
            for each in told[1:]:
                each["choices"][0]["delta"] = {"role": "assistant", **each["choices"][0]["delta"]}
    if style == "with usage" and spoken.usage is not None:
        for at, each in enumerate(told):
            counting = {**spoken.usage, "completion_tokens": min(at, spoken.usage["completion_tokens"])}
            each["usage"] = counting
    if wants_usage and spoken.usage is not None:
        told.append({**head, "choices": [], "usage": spoken.usage})
    return told


def stream(spoken: Spoken, style: Style = "plain", **how: Any) -> bytes:
    """The stream of a round."""
    return b"".join(encode(msgspec.json.encode(each)) for each in chunks(spoken, style, **how)) + DONE


def numbered(rounds: Sequence[Spoken]) -> list[Spoken]:
    """The same rounds, each an answer of its own, and each call with an id of its own."""
    named = []
    for at, spoken in enumerate(rounds):
        calls = tuple(replace(call, id=f"call{at:02}{place:03}") for place, call in enumerate(spoken.calls))
        named.append(replace(spoken, id=f"chatcmpl-{at}", created=7 + at, calls=calls))
    return named


def joined(texts: Sequence[str]) -> str:
    """Texts of several rounds as the client gets them."""
    whole = ""
    for text in filter(None, texts):
        gap = "\n\n" if whole and not whole[-1].isspace() and not text[0].isspace() else ""
        whole += gap + text
    return whole
