"""What of a message its author says in their own words, sentence by sentence.

Code, tables, lines quoted with `>`, blocks that were added to the message, and what stands in quotation marks are
somebody else's words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

EDGE = 2_000  # characters of either end that are read: what is longer was pasted, and an instruction is at an end

_BLOCK = re.compile(
    r"<(?P<tag>memory|recalled|system|context|documents?|examples?|quote)\b[^>]{0,80}>.*?(?:</(?P=tag)>|\Z)"
    r"|```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_LINE = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,800}\"|\u201c[^\u201d\n]{1,800}\u201d|«[^»\n]{1,800}»|(?<![^\W_])'[^'\n]{1,300}'(?![^\W_])|(?<!\w)\u2018[^\u2019\n]{1,300}\u2019(?!\w)"
)
_NAME_WORDS = 2  # a quotation of more is no name or title
_HIDDEN = "\0"
_END = re.compile(
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMs)(?<!\bvs)(?<!\bAv)(?<!\bSra)(?<!\bMrs)(?<!\bDra)(?<!\bIng)(?<!\bLic)(?<!\betc)"
    r"[.!…]+[)]*(?=\s|\Z)|\?+[)]*(?=\s|[,;]|\Z)|\n+|(?=¿)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str  # verbatim, without the white space around it
    asked: bool  # it is a question
    quotes: bool  # somebody else's words are in it
    opens_paragraph: bool


def prose(text: str) -> str:
    """`text` without what its author did not write; of a long one, its two ends."""
    if len(text) > 2 * EDGE:
        head = _BLOCK.sub("\n", text[: 4 * EDGE])[:EDGE]
        # The half line and the block that the tail may begin in the middle of are nobody's statement.
        tail = text[-EDGE:]
        closed = max(tail.rfind("```"), tail.rfind("~~~"), tail.rfind("</"))
        text = f"{head}\n{tail[max(closed, tail.find(chr(10))) + 1 :]}"
    if "<" in text or "```" in text or "~~~" in text:
        text = _BLOCK.sub("\n", text)
    if ">" in text or "|" in text:
        text = _LINE.sub("", text)
    return text


def sentences(text: str) -> Iterator[Sentence]:
    masked = _QUOTED.sub(_hide, text) if not _QUOTES.isdisjoint(text) else text
    start, fresh = 0, True
    for end in (*(found.end() for found in _END.finditer(masked)), len(text)):
        piece = text[start:end]
        said = piece.strip()
        if any(map(str.isalpha, said)):
            asked = said.startswith("¿") or said.rstrip('"\u201d»),.; ').endswith("?")
            yield Sentence(said, asked, _HIDDEN in masked[start:end], fresh)
            fresh = False
        fresh = fresh or "\n\n" in piece
        start = end


_QUOTES = frozenset("\"\u201c«'\u2018")


def _hide(quotation: re.Match[str]) -> str:
    said = quotation.group()
    return _HIDDEN * len(said) if len(said.split()) > _NAME_WORDS else said
