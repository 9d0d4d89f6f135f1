"""Reads the word tables of a language: data files in one folder per language, `proxy/language/<code>/<subject>.txt`.

    # A line that begins with "#" is a comment: it says what the table below it is for.
    [section]
    entry | entry | entry with (a|an) expression in it
    an entry that is too long for its line
      goes on in the next one, which is indented; (a group that is broken behind a|
      bar) goes on without a space

What an entry means is the business of whoever asks for the section: words, expressions or rules. What is the same in
every language (names of programs, marks) stands in the folder `any`.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_SECTION = re.compile(r"\[([\w-]+)\]")
_GROUP_GOES_ON = re.compile(r"(?<=\S\|)\n\s+")
_GOES_ON = re.compile(r"\n\s+")


@cache
def tables(code: str, subject: str) -> Mapping[str, str]:
    """The sections of one data file by their names, lines that go on joined, comments and blank lines left out.

    Raises FileNotFoundError if the language has no such file, and ValueError if a section is there twice or something
    stands before the first one."""
    return parse(files(__package__).joinpath(code, f"{subject}.txt").read_text(encoding="utf-8"))


@cache
def union(subject: str) -> Mapping[str, str]:
    """The sections of one subject in every language that has it, joined by their names: for text whose language is not
    known. Languages follow each other in the order of their codes."""
    found: dict[str, str] = {}
    for folder in sorted(files(__package__).iterdir(), key=lambda each: each.name):
        if folder.joinpath(f"{subject}.txt").is_file():
            for name, entries in tables(folder.name, subject).items():
                found[name] = f"{found[name]}\n{entries}" if name in found else entries
    return MappingProxyType(found)


def named(table: str) -> dict[str, str]:
    """The names that words have, of a table whose lines are `name: word word word`."""
    lines = (line.partition(": ") for line in table.splitlines())
    return {word: name for name, _, words in lines for word in words.split()}


def parse(text: str) -> Mapping[str, str]:
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if (heading := _SECTION.fullmatch(line.rstrip())) is not None:
            if heading[1] in found:
                raise ValueError(f"the section [{heading[1]}] is there twice")
            lines = found[heading[1]] = []
        elif lines is None:
            raise ValueError(f"no section begins before {line!r}")
        else:
            lines.append(line.rstrip())
    return MappingProxyType({name: _joined("\n".join(lines)) for name, lines in found.items()})


def _joined(lines: str) -> str:
    return _GOES_ON.sub(" ", _GROUP_GOES_ON.sub("", lines))
