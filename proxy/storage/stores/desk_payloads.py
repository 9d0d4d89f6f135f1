"""Payloads of a desk's events as bytes, and what is left of them once something in them is forgotten.

A payload is msgpack, tagged by its kind, behind a byte that tells the version. One that this version cannot read is of
a newer one: readers skip it, and whatever forgets drops it, since nobody here can tell what it says.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from proxy.language.values import Values
from proxy.types.desk import Board, Called, Edit, Hidden, Mark, Payload

VERSION = b"\x01"
TELLING = ("hidden", "board", "mark", "edit", "called")  # kinds whose payloads say what somebody has said
QUOTED = 40  # characters of a line from which on nobody else writes it by chance

# An escape of JSON, where some is quoted within another text.
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt\"/])")

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Payload).decode


def packed(payload: Payload) -> bytes:
    """Returns the payload as it is stored."""
    return VERSION + _encode(payload)


def unpacked(stored: bytes) -> Payload | None:
    """Returns the payload of `packed`; None if this version cannot read it."""
    if not stored.startswith(VERSION):
        return None
    try:
        payload: Payload = _decode(stored[len(VERSION) :])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return payload


def kind_of(payload: Payload) -> str:
    """Returns the tag of the payload's kind."""
    return str(payload.__struct_config__.tag)


@dataclass(frozen=True)
class Gone:
    """Forgotten messages and facts of a scope, and whatever repeats them. Requests tell of their own messages."""

    links: frozenset[bytes] = frozenset()
    facts: frozenset[str] = frozenset()  # ids
    values: Values = field(default_factory=Values)
    quotes: frozenset[str] = frozenset()  # lines of these messages, as `lines_of` gives them
    requests: frozenset[str] = frozenset()  # ids
    is_all: bool = False

    def says(self, text: str) -> bool:
        """Tells whether a text, which may be JSON, repeats something of it."""
        if self.is_all or not self.repeats:
            return self.is_all and bool(text)
        said = _unfolded(text)
        return self.values.is_in(said) or (bool(self.quotes) and not self.quotes.isdisjoint(_lines(said)))

    def is_in(self, raw: bytes) -> bool:
        """Tells whether a message's JSON repeats something of it."""
        return self.says(raw.decode("utf-8", "replace"))

    @cached_property
    def repeats(self) -> bool:
        """True if texts have to be looked at."""
        return bool(self.values.texts or self.quotes)


def lines_of(raw: bytes) -> frozenset[str]:
    """Returns the lines of a message's texts that are long enough to be recognised where they are quoted."""
    return frozenset(_lines(_unfolded(raw.decode("utf-8", "replace"))))


def is_about(event: Payload | None, links: frozenset[bytes]) -> bool:
    """Tells whether an event is a hidden exchange between, or behind, these messages."""
    return isinstance(event, Hidden) and not links.isdisjoint((event.link, event.answer))


def left_of(event: Payload, request_id: str, gone: Gone) -> Payload | None:
    """Returns what is left of an event: the same one, if it says nothing of what is gone; one without its texts; or
    None, if without them it means nothing."""
    is_of_request = request_id in gone.requests and bool(request_id)
    match event:
        case Hidden():
            is_meant = gone.is_all or is_of_request or is_about(event, gone.links)
            texts = (*event.before, event.instead, *event.after, *event.spans)
            return None if is_meant or any(map(gone.is_in, texts)) else event
        case Board():
            return None if gone.is_all or event.link in gone.links or gone.says(event.text) else event
        case Mark(text=text) if text:
            is_meant = is_of_request or not gone.links.isdisjoint(event.links)
            return None if is_meant or gone.says(text) else event
        case Edit():
            is_meant = is_of_request or event.fact in gone.facts or gone.says(event.before) or gone.says(event.after)
            state = "declined" if event.state == "waiting" else event.state
            left: Payload = msgspec.structs.replace(event, before="", after="", state=state)
        case Called():
            is_meant = is_of_request or gone.says(event.arguments)
            left = msgspec.structs.replace(event, arguments="")
        case _:
            return event
    return event if not is_meant or left == event else left


def _unfolded(text: str) -> str:
    """Returns what a text says, be it JSON, or a text that quotes some."""
    return _ESCAPED.sub(_unescaped, "\n".join(_leaves(text)))


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else " "


def _lines(text: str) -> Iterator[str]:
    """Yields the lines of a text that are worth comparing, however they are spaced."""
    return (line for each in text.splitlines() if len(line := " ".join(each.split()).casefold()) >= QUOTED)


def _leaves(text: str) -> Iterator[str]:
    """Yields a text; if it is JSON, all texts in it instead, and those in texts of it, as arguments of calls are."""
    waiting: list[object] = [text]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, str) and each.lstrip()[:1] in ("{", "["):
            try:
                waiting.append(msgspec.json.decode(each))
            except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
                yield each
        elif isinstance(each, str):
            yield each
