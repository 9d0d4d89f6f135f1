"""Anthropic's memory tool, in place of the eight: its commands, read, and what they do to a text.

A command is about a file below `/memories`, which is the person's folder. The answers are those that the provider
documents (https://docs.claude.com/en/docs/agents-and-tools/tool-use/memory-tool): its models know them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from proxy.desk.tools import LONGEST_TEXT, Unclear, may_be_written

ROOT = "/memories"
AROUND = 2  # lines that are shown before and behind a change
KILO = 1024

_object = msgspec.json.Decoder(dict[str, Any])
_TRAVERSAL = re.compile(r"(?:^|/)\.\.?(?:/|$)|\\|%2e|%2f|\x00", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class View:
    """The folder, or lines of a file, are asked for."""

    name: str  # "": the folder
    first: int = 1
    last: int | None = None  # None: to the end


@dataclass(frozen=True, slots=True)
class Create:
    """A file is to be made."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """A text in a file is to be another."""

    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Insert:
    """A text is to be put behind a line of a file."""

    name: str
    line: int  # 0: at its beginning
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """A file is to go."""

    name: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A file is to have another name."""

    name: str
    new_name: str


Command: TypeAlias = View | Create | Replace | Insert | Delete | Rename


class Refused(Exception):
    """Raised where a command cannot be carried out; its message is told to the model."""


def read(arguments: str | None) -> Command:
    """Returns the command that a call is. Raises `Unclear`."""
    try:
        given = _object.decode(arguments or "{}")
    except (ValueError, RecursionError):
        raise Unclear("not-json", "command, path") from None
    made = _COMMANDS.get(str(given.get("command")))
    if made is None:
        raise Unclear("bad-command", ", ".join(_COMMANDS))
    return made(given)


def path_of(name: str) -> str:
    """Returns the path of a file; of "", that of the folder."""
    return f"{ROOT}/{name}" if name else ROOT


# --- what is told -----------------------------------------------------------------------------------------------------


def listed(sizes: Mapping[str, int]) -> str:
    """Returns the listing of the folder. `sizes`: bytes of its files, by name."""
    lines = [f"{_size(sum(sizes.values()))}\t{ROOT}"]
    lines += [f"{_size(size)}\t{path_of(name)}" for name, size in sorted(sizes.items())]
    head = f"Here're the files and directories up to 2 levels deep in {ROOT}, excluding hidden items and node_modules:"
    return "\n".join([head, *lines])


def viewed(command: View, text: str) -> str:
    """Returns the lines of a file that are asked for; none of those that it does not have."""
    head = f"Here's the content of {path_of(command.name)} with line numbers:"
    return f"{head}\n" + "\n".join(_numbered(text.split("\n"), command.first, command.last))


def replaced(command: Replace, text: str) -> tuple[str, str]:
    """Returns a file's text with the replacement, and what is told of it. Raises `Refused`."""
    path, old = path_of(command.name), command.old
    found = text.count(old) if old else 0
    if not found:
        raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if found > 1:
        lines = ", ".join(str(each) for each in _lines_with(text, old))
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure "
            "it is unique"
        )
    changed = text.replace(old, command.new)
    at = text[: text.index(old)].count("\n") + 1
    shown = _numbered(changed.split("\n"), max(1, at - AROUND), at + AROUND)
    return changed, "\n".join(["The memory file has been edited.", *shown])


def inserted(command: Insert, text: str) -> str:
    """Returns a file's text with the insertion, in lines of its own. Raises `Refused`."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if not 0 <= command.line <= len(lines):
        raise Refused(
            f"Error: Invalid `insert_line` parameter: {command.line}. It should be within the range of lines of the "
            f"file: [0, {len(lines)}]"
        )
    made = "\n".join([*lines[: command.line], command.text.rstrip("\n"), *lines[command.line :]])
    return made if made.endswith("\n") else f"{made}\n"


def unknown(name: str) -> Refused:
    """Returns the refusal of a file that is not there."""
    return Refused(f"Error: The path {path_of(name)} does not exist. Please provide a valid path.")


def existing(name: str) -> Refused:
    """Returns the refusal of a file that would replace another."""
    return Refused(f"Error: File {path_of(name)} already exists")


def _size(size: int) -> str:
    """Returns bytes as `ls -h` tells them."""
    if size < KILO:
        return f"{size}B"
    kilobytes = size / KILO
    return f"{kilobytes:.1f}K" if kilobytes < KILO else f"{kilobytes / KILO:.1f}M"


def _lines_with(text: str, old: str) -> Sequence[int]:
    """Returns the numbers of the lines in which a text begins."""
    starts = [found.start() for found in re.finditer(f"(?={re.escape(old)})", text)]
    return [text[:start].count("\n") + 1 for start in starts]


def _numbered(lines: Sequence[str], first: int, last: int | None) -> list[str]:
    shown = lines[first - 1 : last]
    return [f"{number:6d}\t{line}" for number, line in enumerate(shown, first)]


# --- what is given ----------------------------------------------------------------------------------------------------


def _path(given: Mapping[str, Any], name: str = "path", *, may_be_folder: bool = False) -> str:
    """Returns the file's name in a path. Raises `Unclear`."""
    path = _string(given, name)
    inside = path.strip().rstrip("/")
    if inside == ROOT and may_be_folder:
        return ""
    file_name = inside.removeprefix(f"{ROOT}/")
    if file_name == inside or _TRAVERSAL.search(inside) or not may_be_written(file_name):
        raise Unclear("bad-path", path[:80])
    return file_name


def _string(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if value is None:
        raise Unclear("missing", name)
    if not isinstance(value, str):
        raise Unclear("wrong-type", name)
    if len(value) > LONGEST_TEXT:
        raise Unclear("too-long", name)
    return value


def _view(given: Mapping[str, Any]) -> View:
    name = _path(given, may_be_folder=True)
    match given.get("view_range"):
        case None:
            return View(name)
        case [int(first), int(last)]:
            return View(name, max(first, 1), None if last == -1 else max(last, 0))
        case _:
            raise Unclear("wrong-type", "view_range")


def _insert(given: Mapping[str, Any]) -> Insert:
    line = given.get("insert_line")
    if not isinstance(line, int) or isinstance(line, bool):
        raise Unclear("missing" if line is None else "wrong-type", "insert_line")
    return Insert(_path(given), line, _string(given, "insert_text"))


_COMMANDS: Mapping[str, Callable[[Mapping[str, Any]], Command]] = MappingProxyType(
    {
        "view": _view,
        "create": lambda given: Create(_path(given), _string(given, "file_text")),
        "str_replace": lambda given: Replace(_path(given), _string(given, "old_str"), str(given.get("new_str") or "")),
        "insert": _insert,
        "delete": lambda given: Delete(_path(given)),
        "rename": lambda given: Rename(_path(given, "old_path"), _path(given, "new_path")),
    }
)
