"""Reads the word tables of a language: data files in one folder per language, `proxy/language/<code>/<subject>.txt`.

    # A line that begins with "#" is a comment: it says what the table below it is for.
    [section]
    entry | entry | entry with (a|an) expression in it
    an entry that is too long for its line
      goes on in the next one, which is indented; (a group that is broken behind a|
      bar) goes on without a space
    an entry with {name}, the expression of another section; with {any:name}, one of its entries; and with
    {any:name what=other}, one of its entries with the section `other` where they have {what}

What an entry means is the business of whoever asks for the section: words, expressions or rules. Of an expression that
stands on its own the lines are joined as they are; ␣ is a space at the edge of a line. Other ways to write one down:

    groups         the first of a line stands for all of its words
    shorthand      `short other = its words`, entries apart by a bar or a line's end
    rewrites       `expression => replacement`, a rule a line, in the order in which they are applied
    pairs          `one=other`

What is the same in every language (names of programs, marks) stands in the folder `any`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from proxy.language.phrases import prefix_tree

_SECTION = re.compile(r"\[([\w-]+|=[\w ]*)\]")
_GROUP_GOES_ON = re.compile(r"(?<=\S\|)\n\s+")
_GOES_ON = re.compile(r"\n\s+")
_REFERENCE = re.compile(r"\{(any:)?([a-z][a-z-]*)(?: ([a-z-]+)=([a-z-]+))?\}")
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


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
    for code in languages(subject):
        for name, entries in tables(code, subject).items():
            found[name] = f"{found[name]}\n{entries}" if name in found else entries
    return MappingProxyType(found)


def named(table: str) -> dict[str, str]:
    """The names that words have, of a table whose lines are `name: word word word`."""
    lines = (line.partition(": ") for line in table.splitlines())
    return {word: name for name, _, words in lines for word in words.split()}


def parse(text: str) -> Mapping[str, str]:
    """Returns the sections of a data file by their names. Raises ValueError for a section that is there twice, or a
    line before the first."""
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


def filled(sections: Mapping[str, str], name: str, names: Mapping[str, str] = _NO_NAMES) -> str:
    """The section `name` with the sections that it refers to in their places. Raises KeyError if there is none.
    `names`: which section is meant by a name that is none."""

    def insert(found: re.Match[str]) -> str:
        is_any, inner, what, other = found.groups()
        text = filled(sections, names.get(inner, inner), {**names, what: other} if what else names)
        return prefix_tree(text) if is_any else text.replace("\n", "")

    return _REFERENCE.sub(insert, sections[name]).replace("␣", " ")


def table(code: str, subject: str, section: str) -> str:
    """A section of a language, filled; an empty one if the language has none."""
    sections = tables(code, subject)
    return filled(sections, section) if section in sections else ""


@cache
def languages(subject: str) -> tuple[str, ...]:
    """The codes of all languages that have a file of `subject`, in their order."""
    folders = (folder for folder in files(__package__).iterdir() if folder.joinpath(f"{subject}.txt").is_file())
    return tuple(sorted(folder.name for folder in folders))


def everywhere(subject: str, section: str) -> tuple[str, ...]:
    """A section in all languages that have it: for a text whose language is not decided."""
    return tuple(filter(None, (table(code, subject, section) for code in languages(subject))))


def words_everywhere(subject: str, section: str) -> frozenset[str]:
    """The words of a section in all languages that have it."""
    return frozenset(" ".join(everywhere(subject, section)).split())


def function_words(code: str, use: str) -> frozenset[str]:
    """The function words of a language, as they count in one use of them: `comparison`, `standing`, `gate`, `orders`,
    `terms`, `detection`, `smalltalk`. There is one list; a use adds words to it (`[use-also]`) and takes words from it
    (`[use-not]`). None of a language that has neither for that use."""
    if code not in languages("function"):
        return frozenset()
    also, common, other = (table(code, "function", name).split() for name in (f"{use}-also", "words", f"{use}-not"))
    return frozenset((*common, *also)).difference(other) if also or other else frozenset()


def function_words_everywhere(use: str) -> frozenset[str]:
    """The function words of all languages together, as they count in one use."""
    return frozenset().union(*(function_words(code, use) for code in languages("function")))


# --- what sections mean -----------------------------------------------------------------------------------------------


def groups(text: str) -> dict[str, str]:
    """Every word of a line to the first of its line."""
    return {word: line.split()[0] for line in text.splitlines() for word in line.split()}


def shorthand(text: str) -> dict[str, tuple[str, ...]]:
    """Returns what short forms are short for, word by word."""
    pairs = (entry.split("=") for entry in split(text))
    return {short: tuple(long.split()) for shorts, long in pairs for short in shorts.split()}


def rewrites(text: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiles rules of the form `expression => replacement`."""
    lines = (line.split("=>") for line in text.strip().splitlines())
    return tuple((re.compile(pattern.strip()), replacement.strip()) for pattern, replacement in lines)


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Returns entries of the form `one=other`."""
    return tuple((one, other) for one, other in (pair.split("=") for pair in text.split()))


def pairs_of_lines(text: str) -> tuple[tuple[str, str], ...]:
    """Returns entries of the form `one=other words`, one a line."""
    lines = (line.partition("=") for line in text.splitlines())
    return tuple((one.strip(), other.strip()) for one, _, other in lines)


def split(text: str) -> Iterator[str]:
    """Entries apart by a bar, with spaces around it or without, or by a line's end."""
    return (entry for entry in re.split(r"\||\n", text) if entry.strip())
