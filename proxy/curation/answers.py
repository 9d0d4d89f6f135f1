"""Answers of memory's model, read. Whatever the model sends, reading it ends with what it proposes or with a reason,
never with an exception: prose, other JSON, half an answer, megabytes.

The answer is one JSON object, bare or in a fence; text around it is passed over. What stands in it is read one by one,
so a malformed operation is refused alone. Texts are cleaned on the way: one line, no control characters. Nothing is
believed here: `operations.py` and `consolidating.py` decide what holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

import msgspec

from proxy.types.curation import OperationName

LONGEST = 256 * 2**10  # bytes of an answer: four times what 4,096 tokens take, fences and spaces included
MOST_OPERATIONS = 40  # of one answer; more are no facts of one conversation
MOST_EVENTS = 8
MOST_IDS = 12  # of one merge

# Reasons for which nothing of an answer is read.
Unreadable = Literal["empty answer", "endless answer", "no JSON", "broken JSON", "other JSON"]
UNREADABLE = frozenset(get_args(Unreadable))

_FENCE = "```"
_FENCES = 8  # blocks of an answer that may be the object


class Operation(msgspec.Struct, frozen=True):
    """An operation as the model wrote it; fields that it left out, or set to null, are empty."""

    op: OperationName
    id: str | None = None
    ids: tuple[str, ...] | None = None
    key: str | None = None
    value: str | None = None
    domain: str | None = None
    turn: int | None = None
    quote: str | None = None
    by: str | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The short ids of the facts that it is about, each once."""
        named = (self.id,) if self.id else ()
        return tuple(dict.fromkeys([*named, *(self.ids or ())]))


class Event(msgspec.Struct, frozen=True):
    """Something that happened, as the model wrote it."""

    turn: int
    text: str


class SummaryText(msgspec.Struct, frozen=True):
    """A summary as the model wrote it."""

    topic: str
    discussed: tuple[str, ...] | None = None
    outcome: str | None = None
    decisions: tuple[str, ...] | None = None
    open_questions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that could be read. None stands for an element that is malformed."""

    operations: tuple[Operation | None, ...] = ()
    events: tuple[Event | None, ...] = ()
    summary: SummaryText | None = None
    slug: str = ""
    left_out: int = 0  # operations and events beyond the most that are read


class _Answer(msgspec.Struct):
    operations: list[msgspec.Raw]
    events: msgspec.Raw = msgspec.Raw(b"null")
    summary: msgspec.Raw = msgspec.Raw(b"null")
    slug: msgspec.Raw = msgspec.Raw(b"null")


class _Digest(msgspec.Struct):
    digest: str


T = TypeVar("T")


def read(answer: bytes) -> Answer | Unreadable:
    """Reads an answer to an extraction or a consolidation."""
    found = object_in(answer, _Answer)
    if isinstance(found, str):
        return found
    events = decoded(found.events, list[msgspec.Raw]) or []
    left_out = max(0, len(found.operations) - MOST_OPERATIONS) + max(0, len(events) - MOST_EVENTS)
    return Answer(
        tuple(decoded(each, Operation) for each in found.operations[:MOST_OPERATIONS]),
        tuple(decoded(each, Event) for each in events[:MOST_EVENTS]),
        decoded(found.summary, SummaryText),
        decoded(found.slug, str) or "",
        left_out,
    )


def read_digest(answer: bytes) -> str | None:
    """Reads an answer to a digestion; None if there is none in it."""
    found = object_in(answer, _Digest)
    return None if isinstance(found, str) else clean(found.digest) or None


def clean(text: str | None) -> str:
    """Returns the text on one line, without control characters; "" for None."""
    return "".join(mark for mark in " ".join((text or "").split()) if mark.isprintable())


def object_in(answer: bytes, kind: type[T]) -> T | Unreadable:
    """Returns the one JSON object of an answer; the reason, if none can be read."""
    if len(answer) > LONGEST:
        return "endless answer"
    text = answer.decode("utf-8", "replace").strip()
    if not text:
        return "empty answer"
    if "{" not in text:
        return "no JSON"
    reason: Unreadable = "broken JSON"
    for candidate in _candidates(text):
        try:
            return msgspec.json.decode(candidate, type=kind)
        except msgspec.ValidationError:
            reason = "other JSON"
        except (ValueError, RecursionError):
            continue
    return reason


def _candidates(text: str) -> Iterator[str]:
    """Yields what may be the object: the whole text, what is fenced, and from the first brace to the last."""
    yield text
    yield from map(_braced, text.split(_FENCE, 2 * _FENCES)[1::2])
    yield _braced(text)


def _braced(text: str) -> str:
    return text[max(0, text.find("{")) : text.rfind("}") + 1]


def decoded(raw: msgspec.Raw, kind: type[T]) -> T | None:
    """Returns an element of an answer; None if it is malformed."""
    try:
        return msgspec.json.decode(raw, type=kind, strict=False)  # "2" is the number 2
    except (ValueError, RecursionError):
        return None
