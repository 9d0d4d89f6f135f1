"""Reads the word tables of a language: data files in one folder per language, `proxy/language/<code>/<subject>.txt`.

    # A line that begins with "#" is a comment: it says what the table below it is for.
    [section]
    entry | entry | entry with (a|an) expression in it
    an entry that is too long for its line
      goes on in the next one, which is indented

What an entry means is the business of whoever asks for the section: words, expressions or rules.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_SECTION = re.compile(r"\[([\w-]+)\]")
_GOES_ON = re.compile(r"\n\s+")


@cache
def tables(code: str, subject: str) -> Mapping[str, str]:
    """The sections of one data file by their names, lines that go on joined, comments and blank lines left out.

    Raises FileNotFoundError if the language has no such file, and ValueError if a section is there twice or something
    stands before the first one."""
    return parse(files(__package__).joinpath(code, f"{subject}.txt").read_text(encoding="utf-8"))


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
    return MappingProxyType({name: _GOES_ON.sub(" ", "\n".join(lines)) for name, lines in found.items()})
