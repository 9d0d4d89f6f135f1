"""Markdown as the HTML of a page: headings with anchors, tables that scroll, links as the caller says. Pure.

The page's policy allows nothing inline, so what markdown-it writes as a style becomes a class.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# What is wider than a phone scrolls by itself, by keys too. An empty cell is nothing's heading.
_REPLACED = (
    ("<table", '<div class="table-wrap" tabindex="0"><table'),
    ("</table>", "</table></div>"),
    ("<pre>", '<pre tabindex="0">'),
)
_EMPTY = re.compile(r"<th[^>]*></th>")
_DROPPED = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document."""

    level: int  # 1 to 6
    text: str
    anchor: str  # without the #


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document as HTML."""

    html: str
    headings: Sequence[Heading]

    @property
    def title(self) -> str:
        """The text of the first heading; "" if there is none."""
        return self.headings[0].text if self.headings else ""


def tokens(text: str) -> "list[Token]":
    """Returns the tokens of a document, as markdown-it has them."""
    return _reader().parse(text)


def headings(parsed: "Sequence[Token]") -> Sequence[Heading]:
    """Returns the headings of a document. Those of the same text are numbered from the second on, as GitHub does."""
    found: list[Heading] = []
    seen: dict[str, int] = {}
    for at, token in enumerate(parsed):
        if token.type == "heading_open":
            text = plain(parsed[at + 1])
            base = anchor(text)
            seen[base] = times = seen.get(base, -1) + 1
            found.append(Heading(int(token.tag[1]), text, f"{base}-{times}" if times else base))
    return found


def anchor(text: str) -> str:
    """Returns the anchor of a heading's text, by GitHub's rule: letters, digits, hyphens; spaces become hyphens."""
    return _DROPPED.sub("", text.strip().lower()).replace(" ", "-")


def plain(inline: "Token") -> str:
    """Returns the text of an inline token without its marks."""
    return "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))


def rendered(text: str, link: Callable[[str], str | None], source: Callable[[str], str | None]) -> Rendered:
    """Returns a document as HTML. `link` gives the address for one in the text, or None where nothing is: the words
    stay, without a link. `source` does the same for pictures, whose text then stands for them."""
    parsed = tokens(text)
    found = headings(parsed)
    anchors = iter(found)
    for token in parsed:
        if token.type == "heading_open":
            token.attrSet("id", next(anchors).anchor)
        elif token.type in ("th_open", "td_open"):
            if "right" in str(token.attrs.pop("style", "")):
                token.attrSet("class", "num")
        elif token.type == "table_open":
            token.attrSet("class", "table")
        elif token.children:
            token.children = _linked(token.children, link, source)
    html: str = _reader().renderer.render(parsed, _reader().options, {})
    for plainly, instead in _REPLACED:
        html = html.replace(plainly, instead)
    return Rendered(_EMPTY.sub("<td></td>", html), found)


def _linked(
    inline: "Sequence[Token]", link: Callable[[str], str | None], source: Callable[[str], str | None]
) -> "list[Token]":
    """The inline tokens with the addresses of links and pictures replaced; links that lead nowhere are left out."""
    kept: list[Token] = []
    open_links: list[bool] = []
    for token in inline:
        if token.type == "link_open":
            place = link(str(token.attrs["href"]))
            open_links.append(place is not None)
            if place is None:
                continue
            token.attrSet("href", place)
        elif token.type == "link_close" and not open_links.pop():
            continue
        elif token.type == "image":
            place = source(str(token.attrs["src"]))
            if place is None:
                continue
            token.attrSet("src", place)
            token.attrSet("loading", "lazy")
        kept.append(token)
    return kept


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 (only whoever reads documents needs it)

    # Raw HTML is allowed: the documents are ours, and nothing inline could run in a page.
    return MarkdownIt("commonmark").enable("table")
