"""Blocks of text that we add to a prompt: the memory head and the volatile block. They are delimited, so that a model
can tell them from the user's own words, and we can recognise them when a client sends them back."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from proxy.types import Excerpt

_HEAD = "<memory>\n{}\n</memory>"
_RECALLED = "<recalled>\n{}\n</recalled>"

FACTS_TITLE = "What the user has stated:"
SUMMARIES_TITLE = "Earlier parts of this conversation:"
RECALLED_TITLE = "Earlier user messages that may matter now, by turn:"

# A block of ours is recognised with its title, since others use tags of these names, too (`#include <memory>`), and
# removed with the line ends that separate it from the text after it or, in a system message, before it.
_OURS = rf"<memory>\n(?:{FACTS_TITLE}|{SUMMARIES_TITLE})\n.*?\n</memory>|<recalled>\n{RECALLED_TITLE}\n.*?\n</recalled>"
_ANY_OF_OURS = re.compile(rf"\n\n(?:{_OURS})\Z|(?:{_OURS})\n?\n?", re.DOTALL)
# A tag that would end a block, or that a model could take for its end.
_ENDS = re.compile(r"<(\s*/\s*(?:memory|recalled)\s*)>", re.IGNORECASE)


def head(facts: str, summaries: Sequence[str]) -> str:
    """Renders the memory head from rendered facts and summaries; "" if there are none."""
    parts = []
    if facts:
        parts.append(f"{FACTS_TITLE}\n{facts}")
    if summaries:
        parts.append("\n".join((SUMMARIES_TITLE, *summaries)))
    return _HEAD.format(quoted("\n".join(parts))) if parts else ""


def without_summaries(head: str) -> str:
    """Returns the head with its facts alone, byte for byte; "" if it has none."""
    facts, title, _ = head.partition(f"\n{SUMMARIES_TITLE}\n")
    if not title:
        return head
    return "" if FACTS_TITLE not in facts else f"{facts}\n</memory>"


def volatile(facts: str, excerpts: Sequence[Excerpt], *, now: float, session: str) -> str:
    """Renders the volatile block: facts, and excerpts in the order of time; "" if there are none."""
    blocks = [head(facts, ())] if facts else []
    if excerpts:
        lines = "\n".join((RECALLED_TITLE, *excerpt_lines(excerpts, now=now, session=session)))
        blocks.append(_RECALLED.format(quoted(lines)))
    return "\n".join(blocks)


def excerpt_lines(excerpts: Sequence[Excerpt], *, now: float, session: str) -> Iterator[str]:
    """Yields a line for each excerpt, and headings where another day or conversation begins. Excerpts are short, so
    only lines that are not the user's name the speaker."""
    before = _place(now, is_other=False)
    for excerpt in excerpts:
        place = _place(excerpt.at, is_other=excerpt.session != session)
        if place != before:
            yield f"[{place}]"
            before = place
        who = "" if excerpt.role == "user" else f" {excerpt.role}"
        yield f"{excerpt.turn}{who}: {excerpt.text}"


@lru_cache(1_000)
def _place(at: float, *, is_other: bool) -> str:
    day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return f"{day}, another conversation" if is_other else day


def quoted(said: str) -> str:
    """Returns `said` as it may stand in a block: verbatim, except that no tag in it can end the block."""
    return _ENDS.sub("\u2039\\1\u203a", said) if "<" in said else said


def without_ours(text: str) -> str:
    """Returns `text` without our blocks, and otherwise unchanged: clients may send back a prompt that they have from
    us."""
    return _ANY_OF_OURS.sub("", text) if "</" in text else text


def ours(text: str) -> tuple[str, ...]:
    """Returns our blocks in `text`."""
    return tuple(found[0].strip() for found in _ANY_OF_OURS.finditer(text)) if "</" in text else ()
