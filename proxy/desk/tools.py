"""Calls of the eight tools, read: typed orders, or the reason why a call is none.

Models write arguments loosely: numbers as strings, ranges where single ids are meant ("12-31", as the dashboard shows
them), a missing ".md". What is meant beyond doubt is taken so; the rest is refused with a reason that the model is told
in a sentence it can act on (`sentences.py`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from proxy.desk.schemas import MEMORY, MEMORY_OFFER, NAMES, SECTIONS
from proxy.types.desk import SectionName, ToolName

MOST_IDS = 2_000  # of a call
LONGEST_KEY = 80  # characters
LONGEST_VALUE = 500  # characters, of a fact
LONGEST_TEXT = 200_000  # characters, of a file or a section

Reason = Literal[
    "not-json",  # arguments that are no JSON object
    "missing",  # an argument
    "wrong-type",
    "unknown-argument",
    "too-long",
    "empty",
    "bad-range",  # the end before the start
    "bad-name",  # of a file
    "bad-section",
    "reserved",  # a file that is not the model's to write
    "bad-path",  # of the memory tool
    "bad-command",
]

_FILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\.md")
_RESERVED = re.compile(r"memory\.md|identity\.md|session_log.*|\d{4}-\d\d-\d\d\.md")
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:[-\u2013\u2026]|\.\.)\s*(\d{1,9})\s*")
_NUMBER = re.compile(r"\s*#?(\d{1,9})\s*")
_object = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Prune:
    """Messages are to be left out."""

    ids: tuple[int, ...]  # ascending, each once


@dataclass(frozen=True, slots=True)
class Summarise:
    """A range of messages is to be replaced by a text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Recall:
    """The original of a message is asked for."""

    id: int


@dataclass(frozen=True, slots=True)
class Save:
    """A file is to be written."""

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class Load:
    """A file is asked for."""

    name: str


@dataclass(frozen=True, slots=True)
class EditSection:
    """A section is to be replaced."""

    section: SectionName
    content: str


@dataclass(frozen=True, slots=True)
class Remember:
    """A fact is to be kept."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Forget:
    """A fact is to go."""

    key: str


Order: TypeAlias = Prune | Summarise | Recall | Save | Load | EditSection | Remember | Forget


class Unclear(Exception):
    """Raised for a call that is no order. `about`: the argument, or what it should be."""

    def __init__(self, reason: Reason, about: str = "") -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.about = about


def read(name: ToolName, arguments: str | None) -> Order:
    """Returns the order that a call is. Raises `Unclear`."""
    wanted, made = _ORDERS[name]
    return made(_given(wanted, arguments))


def named(offered: str, names: tuple[str, ...]) -> ToolName | Literal["memory"] | None:
    """Returns the tool that is offered under a name; None if none is. `names`: all, in the order of `NAMES`, or the
    memory tool's."""
    if names == MEMORY_OFFER:
        return MEMORY if offered == MEMORY else None
    return next((name for name, given in zip(NAMES, names, strict=True) if given == offered), None)


def section_of(file_name: str) -> SectionName | None:
    """Returns the section whose file, of whatever project, has that name; None if none has."""
    stem = file_name.removesuffix(".md").partition("-")[0]
    return stem if stem in SECTIONS else None


def may_be_written(file_name: str) -> bool:
    """Tells whether a document may have this name."""
    return _FILE.fullmatch(file_name) is not None and _RESERVED.fullmatch(file_name) is None


def _given(wanted: Sequence[str], arguments: str | None) -> Mapping[str, Any]:
    try:
        given = _object.decode(arguments or "{}")
    except (ValueError, RecursionError):
        raise Unclear("not-json", ", ".join(wanted)) from None
    for each in wanted:
        if given.get(each) is None:
            raise Unclear("missing", each)
    if unknown := next((each for each in given if each not in wanted), None):
        raise Unclear("unknown-argument", unknown[:LONGEST_KEY])
    return given


def _ids(given: Any) -> tuple[int, ...]:
    items = given if isinstance(given, list) else [given]
    found: set[int] = set()
    for item in items:
        span = _RANGE.fullmatch(item) if isinstance(item, str) else None
        first, last = (int(span[1]), int(span[2])) if span else (_number(item, "message_ids"),) * 2
        if last < first:
            raise Unclear("bad-range")
        if len(found) + last - first >= MOST_IDS:
            raise Unclear("too-long", "message_ids")
        found.update(range(first, last + 1))
    if not found:
        raise Unclear("empty", "message_ids")
    return tuple(sorted(found))


def _number(given: Any, name: str) -> int:
    if isinstance(given, bool):
        raise Unclear("wrong-type", name)
    if isinstance(given, int):
        return given
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, str) and (match := _NUMBER.fullmatch(given)):
        return int(match[1])
    raise Unclear("wrong-type", name)


def _text(given: Mapping[str, Any], name: str, most: int, *, may_be_empty: bool = False) -> str:
    text = given[name]
    if not isinstance(text, str):
        raise Unclear("wrong-type", name)
    if not text.strip() and not may_be_empty:
        raise Unclear("empty", name)
    if len(text) > most:
        raise Unclear("too-long", name)
    return text


def _file(given: Mapping[str, Any]) -> str:
    """Returns the name of a file; one without an ending is meant with it, and letter case makes no difference."""
    name = _text(given, "file_name", 200).strip().lower()
    name = name if "." in name else f"{name}.md"
    if _FILE.fullmatch(name) is None:
        raise Unclear("bad-name")
    return name


def _section(given: Mapping[str, Any]) -> SectionName:
    name = _text(given, "section_name", 200).strip().lower().removesuffix(".md").replace(" ", "_").replace("-", "_")
    if name not in SECTIONS:
        raise Unclear("bad-section", ", ".join(SECTIONS))
    return name


def _summarise(given: Mapping[str, Any]) -> Summarise:
    start, end = (_number(given[each], each) for each in ("start_id", "end_id"))
    if end < start:
        raise Unclear("bad-range")
    return Summarise(start, end, _text(given, "summary_text", LONGEST_TEXT))


def _save(given: Mapping[str, Any]) -> Save:
    name = _file(given)
    if _RESERVED.fullmatch(name):
        raise Unclear("reserved", name)
    return Save(name, _text(given, "content", LONGEST_TEXT, may_be_empty=True))


# Of each tool the arguments, all of them required, and the order that they make.
_ORDERS: Mapping[ToolName, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Order]]] = {
    "prune_messages": (("message_ids",), lambda given: Prune(_ids(given["message_ids"]))),
    "summarize_range": (("start_id", "end_id", "summary_text"), _summarise),
    "recall_original": (("message_id",), lambda given: Recall(_number(given["message_id"], "message_id"))),
    "save_to_disk": (("file_name", "content"), _save),
    "load_from_disk": (("file_name",), lambda given: Load(_file(given))),
    "edit_section": (
        ("section_name", "new_content"),
        lambda given: EditSection(_section(given), _text(given, "new_content", LONGEST_TEXT, may_be_empty=True)),
    ),
    "remember": (
        ("key", "value"),
        lambda given: Remember(_text(given, "key", LONGEST_KEY), _text(given, "value", LONGEST_VALUE)),
    ),
    "forget": (("key",), lambda given: Forget(_text(given, "key", LONGEST_KEY))),
}
