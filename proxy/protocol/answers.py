"""Reads completions: the assistant's messages, finish reasons, `usage`, if an answer may be stored. Adds, recognises
and removes the disclaimer, the line that says an answer is from memory.

The disclaimer is the first paragraph of the answer, by the system and not by the model. A client sends it back with the
history of its next request. Where two histories are compared it is removed; the upstream gets what the client sent. Its
texts are the setting `reuse.intent.disclaimer` (proxy/config/reuse.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol.message import message
from proxy.types import Json, Language, Message, Usage
from proxy.types.quality import Said

_TOO_MANY = 2**53  # tokens; a larger count is an error of the upstream's, and beyond JSON's integers
_GAP = "\n\n"  # behind the disclaimer
_NULL = b"null"

# Raw: values that are not changed keep their bytes.
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_objects = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_content = msgspec.json.Decoder(str | list[dict[str, Any]] | None)
_encoder = msgspec.json.Encoder()


def answers_of(completion: Mapping[str, Json] | None) -> tuple[Message, ...]:
    """The messages of a completion's choices; a choice without one is skipped."""
    return tuple(map(message, _messages(completion)))


def completion_of(said: Message | None) -> bytes:
    """Builds the body of a completion with this message as its only choice; with None it has no choice."""
    return b'{"choices":[%s]}' % (
        b"" if said is None else b'{"index":0,"message":%s,"finish_reason":"stop"}' % said.raw
    )


def answer_of(text: str, *, name: str, model: str, at: float) -> bytes:
    """Builds the body of a whole completion with an answer of our own, which has cost no tokens. `name`: of the
    request; `at`: Unix seconds."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    whole = {"id": f"chatcmpl-{name}", "object": "chat.completion", "created": int(at), "model": model}
    return _encoder.encode({**whole, "choices": [choice], "usage": usage})


def model_of(completion: Mapping[str, Json]) -> str:
    """The model that the upstream names; "" if it names none."""
    return str(completion.get("model") or "")


def has_error(completion: Mapping[str, Json] | None) -> bool:
    """True if the completion has an `error`."""
    return bool((completion or {}).get("error"))


def first_text(completion: Mapping[str, Json]) -> str:
    """The text of the first choice; "" unless its content is one string."""
    match _choices(completion):
        case [{"message": {"content": str(content)}}, *_]:
            return content
        case _:
            return ""


def said_of(completion: Mapping[str, Json] | None) -> Said | None:
    """The first choice as it is compared with another answer; None if there is none."""
    said = next(iter(answers_of(completion)), None)
    if said is None:
        return None
    match _choices(completion or {}):
        case [{"finish_reason": "length"}, *_]:
            is_cut = True
        case _:
            is_cut = False
    calls = tuple((call.name, call.arguments or "") for call in said.tool_calls)
    return Said(said.text, calls, is_cut)


def generated_text(completion: Mapping[str, Json] | None) -> str:
    """All text that the model generated, reasoning included, for counting its tokens."""
    parts = [
        value
        for said in _messages(completion)
        for name in ("reasoning_content", "content")
        if isinstance(value := said.get(name), str)
    ]
    return "\n".join(parts)


def is_finished(completion: Mapping[str, Json]) -> bool:
    """True if every choice has content and ended by `stop`, `length` or `tool_calls`, without an error. A content
    filter's decision may change tomorrow, and an empty answer is a slip of the upstream's: neither is stored."""
    choices = _choices(completion)
    if not choices or has_error(completion):
        return False
    return all(
        isinstance(c, dict)
        and c.get("finish_reason") in ("stop", "length", "tool_calls")
        and not c.get("error")
        and _says_something(c.get("message"))
        for c in choices
    )


def sole_text(completion: Mapping[str, Json]) -> str | None:
    """The text of a completion that is one text, ended by `stop`, and nothing else; else None."""
    match _choices(completion):
        case [{"finish_reason": "stop", "message": {"content": str(content), **rest}, **choice}]:
            extras = any(rest.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))
            return None if extras or choice.get("logprobs") is not None else content
        case _:
            return None


def parse_usage(usage: Json) -> Usage | None:
    """Parses a `usage` object; None if it has neither a prompt nor a completion count. Never raises.

    Several spellings of the cached count name one number, so the largest counts; a part never exceeds its whole.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    told = (
        _count(_detail(usage, "prompt_tokens_details", "cached_tokens")),
        _count(usage.get("cached_tokens")),
        _count(usage.get("prompt_cache_hit_tokens")),
    )
    cached = max(count or 0 for count in told)
    written = (
        _count(_detail(usage, "prompt_tokens_details", "cache_write_tokens")),
        _count(usage.get("cache_creation_input_tokens")),
    )
    hour = _count(_detail(usage, "cache_creation", "ephemeral_1h_input_tokens")) or 0
    reasoning = _count(_detail(usage, "completion_tokens_details", "reasoning_tokens")) or 0
    prompt, completion = prompt or 0, completion or 0
    wrote = _most(written, prompt - min(cached, prompt))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=min(cached, prompt),
        reasoning_tokens=min(reasoning, completion),
        written_tokens=wrote,
        reports_none_cached=cached == 0 and any(count is not None for count in told),
        written_for_an_hour=min(hour, wrote or 0),
    )


def find_usage(body: Json) -> Usage | None:
    """Finds the usage of a completion or of one chunk: the body's own, else that of the first choice that has one."""
    if not isinstance(body, Mapping):
        return None
    if usage := parse_usage(body.get("usage")):
        return usage
    choices = body.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and (usage := parse_usage(choice.get("usage"))):
            return usage
    return None


def disclaimer_line(language: Language, table: Mapping[Language, str]) -> str:
    """Chooses the disclaimer for a question in `language` from `table`: its own, else the English one, else any. Raises
    ValueError if the table is empty."""
    for key in (language, "en", *table):
        if key in table:
            return table[key]
    raise ValueError("there is no disclaimer in any language")


def with_disclaimer(completion: bytes, line: str) -> bytes:
    """Returns the `chat.completion` with `line` as the first paragraph of its answer. Everything else stays as it was
    stored: `id`, and `usage` too, which is what the upstream counted. Raises ValueError if there is no text to put it
    in front of, more than one choice, or logprobs, which tell of the answer's tokens and none of the line's."""
    try:
        whole = _object.decode(completion)
        choices = _objects.decode(whole["choices"])
        if len(choices) != 1:
            raise ValueError("more than one answer, or none, to put a disclaimer in front of")
        if bytes(choices[0].get("logprobs", _NULL)) != _NULL:
            raise ValueError("logprobs would not match the text")
        message = _object.decode(choices[0]["message"])
        content = _content.decode(message["content"])
    except (msgspec.DecodeError, KeyError) as error:
        raise ValueError("no completion with a text to put a disclaimer in front of") from error
    changed = _encoder.encode({**message, "content": _introduced(content, line)})
    return _encoder.encode({**whole, "choices": [{**choices[0], "message": msgspec.Raw(changed)}]})


def has_disclaimer(text: str, lines: Iterable[str]) -> bool:
    """True if `text` begins with one of `lines` as a paragraph of its own."""
    return _after_disclaimer(text, lines) is not None


def without_disclaimer(text: str, lines: Iterable[str]) -> str:
    """Returns `text` as the model wrote it. Clients trim texts and change line ends, and older versions of a
    conversation may hold more than one line; so all of them are removed, with the white space around them."""
    lines = tuple(lines)
    while (rest := _after_disclaimer(text, lines)) is not None:
        text = rest
    return text


def _says_something(said: object) -> bool:
    """True if the message has a text, a call or a refusal; reasoning alone does not count."""
    if not isinstance(said, dict):
        return False
    content = said.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", part) if isinstance(part, dict) else part for part in parts]
    has_content = any(text.strip() if isinstance(text, str) else text for text in texts)
    return has_content or any(said.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))


def _messages(completion: Mapping[str, Json] | None) -> list[Mapping[str, Json]]:
    choices = _choices(completion or {})
    return [c["message"] for c in choices if isinstance(c, dict) and isinstance(c.get("message"), dict)]


def _choices(completion: Mapping[str, Any]) -> Sequence[Any]:
    choices = completion.get("choices")
    return choices if isinstance(choices, list) else ()


def _most(counts: Iterable[int | None], whole: int) -> int | None:
    """The largest of several spellings of one count, at most `whole`; None if there is none."""
    told = [count for count in counts if count is not None]
    return min(max(told), whole) if told else None


def _count(value: Json) -> int | None:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _TOO_MANY
    return value if valid else None


def _detail(usage: Mapping[str, Json], group: str, key: str) -> Json:
    details = usage.get(group)
    return details.get(key) if isinstance(details, Mapping) else None


def _introduced(content: str | list[dict[str, Any]] | None, line: str) -> str | list[dict[str, Any]]:
    if isinstance(content, list) and any(part.get("type") == "text" for part in content):
        return [{"type": "text", "text": f"{line}{_GAP}"}, *content]
    if isinstance(content, str) and content:
        return f"{line}{_GAP}{content}"
    raise ValueError("no text to put a disclaimer in front of")


def _after_disclaimer(text: str, lines: Iterable[str]) -> str | None:
    start = text.lstrip()
    for line in lines:
        paragraph = line.strip()
        if paragraph and start.startswith(paragraph):
            rest = start[len(paragraph) :]
            # The answer may begin with white space of its own (code), so no more than our gap comes off it.
            same_line, newline, answer = rest.partition("\n")
            if not same_line.strip():
                return _without_blank_line(answer) if newline else ""
    return None


def _without_blank_line(answer: str) -> str:
    blank, newline, rest = answer.partition("\n")
    return rest if newline and not blank.strip() else answer
