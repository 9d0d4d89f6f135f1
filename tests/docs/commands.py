"""Commands in documents: each `olvido …` is one that the parser takes, with its options; each `make …`, `python -m …`
and each path of the repository is there.

Documents abbreviate: `olvido memory list|show`, `olvido serve [--port N]`. Alternatives are looked at one by one.
"""

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from proxy.cli.parser import tree
from tests.docs.documents import ROOT, Document

SHELLS = ("sh", "bash", "console")
PROGRAM = "olvido"

_JOINTS = re.compile(r"\s*(?:&&|\|\||;|\n|(?<=\s)\|(?=\s))\s*")
_RUNNERS = ("uvx", ".", PROGRAM)  # `uvx --from . olvido …`, `docker compose exec olvido olvido …`
_OPTIONAL = re.compile(r"(?<=\s)\[|\](?=\s|$)")
_MODULE = re.compile(r"python3? -m ([\w.]+)")
_MAKE = re.compile(r"(?:^|\s)make ([\w-]+)")
_PATH = re.compile(r"(?<![\w./-])(?:deploy|grafana|proxy|tests)/[\w./-]*\w")


def problems(document: Document) -> Iterator[str]:
    """Each command that there is not."""
    known = _targets()
    for text, line, is_block in _texts(document):
        where = f"{document.name}:{line}"
        for command in commands(text, is_block=is_block):
            yield from (f"{where}: {' '.join(command)}: {wrong}" for wrong in refusals(command))
        for module in _MODULE.findall(text):
            if module.startswith(("tests.", "proxy.", "grafana.")) and not _is_module(module):
                yield f"{where}: python -m {module}: there is no such module"
        if text.startswith("make ") or is_block:
            yield from (f"{where}: make {each}: no such target" for each in _MAKE.findall(text) if each not in known)
        if is_block or re.fullmatch(r"[\w./-]+", text):
            for path in _PATH.findall(text):
                if not (ROOT / path).exists():
                    yield f"{where}: {path}: there is no such file"


def _texts(document: Document) -> Iterator[tuple[str, int, bool]]:
    for block in document.blocks():
        if block.language in SHELLS:
            yield re.sub(r"(?m)(^|\s)#.*$", "", block.text).replace("\\\n", " "), block.line, True
    for code in document.codes():
        yield code.text, code.line, False


def commands(text: str, *, is_block: bool) -> Iterator[Sequence[str]]:
    """The words behind `olvido` of each of its commands in a text. Where alternatives stand, each of them is one."""
    for part in _JOINTS.split(text) if is_block else [text.replace(" | ", "|")]:
        try:
            words = shlex.split(_OPTIONAL.sub(" ", part))
        except ValueError:
            continue
        for at, word in enumerate(words):
            if (word == PROGRAM or word.endswith(f"/bin/{PROGRAM}")) and _is_run(words, at):
                yield from (list(each) for each in product(*(_alternatives(word) for word in words[at + 1 :])))
                break


def _is_run(words: Sequence[str], at: int) -> bool:
    """True if the word at this place is the program, and not the name of a package, an image or a user."""
    if at == 0:
        return len(words) > 1
    is_told = words[at].endswith(f"/bin/{PROGRAM}") or words[at - 1] in _RUNNERS
    return is_told and words[at + 1 : at + 2] not in ([], [PROGRAM])


def _alternatives(word: str) -> Sequence[str]:
    return word.strip("|…,").split("|") if "|" in word else [word]


@cache
def _tree() -> argparse.ArgumentParser:
    return tree()


def refusals(command: Sequence[str]) -> Iterator[str]:
    """What the parser would not take of a command, values aside."""
    parser = _tree()
    options = dict(parser._option_string_actions)  # noqa: SLF001 (it has no other way to ask)
    skip = False
    for word in command:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            name, given, _ = word.partition("=")
            if name not in options:
                yield f"{parser.prog} has no {name}"
            elif not given and options[name].nargs != 0:
                skip = True
        elif (below := _below(parser)) is not None:
            if re.fullmatch(r"[a-z][a-z-]*", word):
                if word not in below:
                    yield f"{parser.prog} has no {word}"
                    return
                parser = below[word]
                options |= parser._option_string_actions  # noqa: SLF001 (as above)
            else:
                return


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser] | None:
    for action in parser._actions:  # noqa: SLF001 (as above)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (as above)
            return dict(action.choices)
    return None


def _targets() -> frozenset[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^([a-z][\w-]*):", text, re.MULTILINE))


def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__main__.py").exists()
