"""The disclaimer, the line that says an answer is from memory: added to an answer, recognised, removed.

It is the first paragraph of the answer, by the system and not by the model. A client sends it back with the history of
its next request. Where two histories are compared it is removed; the upstream gets what the client sent. Its texts are
the setting `reuse.intent.disclaimer` (proxy/config/model.py).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

Language: TypeAlias = Literal["es", "en"]

FALLBACK: Language = "en"  # used for a language without a disclaimer

_GAP = "\n\n"
_NULL = b"null"

# Raw: values that are not changed keep their bytes.
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_choices = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_content = msgspec.json.Decoder(str | list[dict[str, Any]] | None)
_encoder = msgspec.json.Encoder()


def disclaimer_line(language: Language | None, table: Mapping[Language, str]) -> str:
    """Chooses the disclaimer for a question in `language` from `table`: its own, else the English one, else any.

    Raises:
        ValueError: the table is empty.
    """
    for key in (language, FALLBACK, *table):
        if key is not None and key in table:
            return table[key]
    raise ValueError("there is no disclaimer in any language")


def with_disclaimer(completion: bytes, line: str) -> bytes:
    """Returns the `chat.completion` with `line` as the first paragraph of its answer. Everything else stays as it was
    stored: `id`, and `usage` too, which is what the upstream counted.

    Raises:
        ValueError: there is no text to put it in front of, there is more than one choice, or there are logprobs, which
            tell of the answer's tokens and none of the line's.
    """
    try:
        whole = _object.decode(completion)
        choices = _choices.decode(whole["choices"])
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


def _introduced(content: str | list[dict[str, Any]] | None, line: str) -> str | list[dict[str, Any]]:
    if isinstance(content, list) and any(part.get("type") == "text" for part in content):
        return [{"type": "text", "text": f"{line}{_GAP}"}, *content]
    if isinstance(content, str) and content:
        return f"{line}{_GAP}{content}"
    raise ValueError("no text to put a disclaimer in front of")


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
