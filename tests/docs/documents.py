"""The documents that are checked, and their parts: headings, links, blocks of code, words in code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from proxy.page.markdown import headings, tokens

ROOT = Path(__file__).parents[2]
KEPT = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
FOLDERS = ("deploy", "grafana")


@dataclass(frozen=True, slots=True)
class Link:
    """A link or a picture."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code. `words`: what stands behind its language: `client` if it is none of ours to check."""

    language: str
    words: Sequence[str]
    text: str
    line: int
    section: str  # the nearest heading above it


@dataclass(frozen=True, slots=True)
class Code:
    """Words in code, within a line of text."""

    text: str
    line: int


@dataclass(frozen=True)
class Document:
    """A Markdown file."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.name

    @cached_property
    def _tokens(self) -> Sequence[Any]:
        return tokens(self.text)

    @property
    def anchors(self) -> frozenset[str]:
        return frozenset(each.anchor for each in headings(self._tokens))

    def links(self) -> Iterator[Link]:
        for token, line in self._inline():
            if token.type in ("link_open", "image"):
                yield Link(str(token.attrs["href" if token.type == "link_open" else "src"]), line)

    def codes(self) -> Iterator[Code]:
        for token, line in self._inline():
            if token.type == "code_inline":
                yield Code(token.content, line)

    def blocks(self) -> Iterator[Block]:
        section = ""
        for at, token in enumerate(self._tokens):
            if token.type == "heading_open":
                section = self._tokens[at + 1].content
            elif token.type == "fence":
                language, *words = token.info.split() or [""]
                yield Block(language, tuple(words), token.content, (token.map or (0,))[0] + 1, section)

    def _inline(self) -> Iterator[tuple[Any, int]]:
        """Each part of the running text, with the first line of its paragraph."""
        for token in self._tokens:
            for child in token.children or ():
                yield child, (token.map or (0,))[0] + 1


def read(path: Path) -> Document:
    return Document(path, path.read_text(encoding="utf-8"))


def documents() -> Sequence[Document]:
    """Every document of the repository that people read."""
    below = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    return [read(path) for path in (*(ROOT / name for name in KEPT), *below)]
