"""What we add to a prompt, as text: the memory head and the volatile block. Delimited, so that a model can tell it from
the user's own words and we can tell it from both when it comes back to us."""

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

# With its title: tags of these names stand in what others write, too (`#include <memory>`). With the line ends that
# part it from what follows it; behind a system message, from what stands before it.
_OURS = rf"<memory>\n(?:{FACTS_TITLE}|{SUMMARIES_TITLE})\n.*?\n</memory>|<recalled>\n{RECALLED_TITLE}\n.*?\n</recalled>"
_ANY_OF_OURS = re.compile(rf"\n\n(?:{_OURS})\Z|(?:{_OURS})\n?\n?", re.DOTALL)
# A tag that would end a block, or that a model could take for its end.
_ENDS = re.compile(r"<(\s*/\s*(?:memory|recalled)\s*)>", re.IGNORECASE)


def head(facts: str, summaries: Sequence[str]) -> str:
    """Standing facts and summaries, as rendered by their own modules; "" if there are none."""
    parts = []
    if facts:
        parts.append(f"{FACTS_TITLE}\n{facts}")
    if summaries:
        parts.append("\n".join((SUMMARIES_TITLE, *summaries)))
    return _HEAD.format(quoted("\n".join(parts))) if parts else ""


def without_summaries(head: str) -> str:
    """The head with its facts alone, to the byte as they stand in it; "" if it has none."""
    facts, title, _ = head.partition(f"\n{SUMMARIES_TITLE}\n")
    if not title:
        return head
    return "" if FACTS_TITLE not in facts else f"{facts}\n</memory>"


def volatile(facts: str, excerpts: Sequence[Excerpt], *, now: float, session: str) -> str:
    """What this question needs, and the window does not hold: facts, and excerpts in the order of time; "" if there is
    nothing."""
    blocks = [head(facts, ())] if facts else []
    if excerpts:
        lines = "\n".join((RECALLED_TITLE, *excerpt_lines(excerpts, now=now, session=session)))
        blocks.append(_RECALLED.format(quoted(lines)))
    return "\n".join(blocks)


def excerpt_lines(excerpts: Sequence[Excerpt], *, now: float, session: str) -> Iterator[str]:
    """A line each: many are short, so a token of framing is a tenth of one, and most are the user's, so only the others
    say who. Under a heading where the date says something: of another day, or of another conversation."""
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
    """`said` as it may stand in a block: verbatim, but that no tag in it can be taken for the block's end."""
    return _ENDS.sub("\u2039\\1\u203a", said) if "<" in said else said


def without_ours(text: str) -> str:
    """`text` without what we have added, and otherwise to the byte: a client may send back a prompt that it has from
    us."""
    return _ANY_OF_OURS.sub("", text) if "</" in text else text


def ours(text: str) -> tuple[str, ...]:
    """The blocks of ours that stand in `text`."""
    return tuple(found[0].strip() for found in _ANY_OF_OURS.finditer(text)) if "</" in text else ()
