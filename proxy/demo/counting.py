"""Tokens of prompts and answers, as the demonstration's upstream bills them; answers, cut to their limits."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import msgspec

from proxy.demo.script import Scripted

Encode: TypeAlias = Callable[[str], Sequence[int]]  # text to token ids


def render(message: Mapping[str, Any]) -> str:
    """Renders a message as a chat template would: the text, what was called, and little around it."""
    content = message.get("content")
    said = content if isinstance(content, str) else _json(content or "")
    names = ("reasoning_content", "refusal", "name", "tool_call_id")
    more = [str(message[name]) for name in names if message.get(name)]
    calls = [_json(message["tool_calls"])] if message.get("tool_calls") else []
    return "\n".join([f"<|{message.get('role', '')}|>", said, *more, *calls])


def prompt_tokens(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], encode: Encode) -> list[int]:
    """The prompt as tokens: tools and format first, as providers do, so that changing them loses the whole prefix.
    Encoded piece by piece: an array that begins with another one begins with its tokens."""
    framing = [_json(fields[name]) for name in ("tools", "functions", "response_format") if fields.get(name)]
    return [token for piece in chain(framing, map(render, messages)) for token in encode(piece)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


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
    thought = [said.reasoning for said in choices]
    told = [text for said in choices for text in (said.content, said.refusal)]
    called = [call.name + call.arguments for said in choices for call in said.calls]
    reasoning, answered = (sum(len(encode(text)) for text in texts if text) for texts in (thought, [*told, *called]))
    return reasoning, answered
