"""What we add to a prompt, as text: the memory head and the volatile block. Delimited, so that a model can tell it from
the user's own words and we can tell it from both when it comes back to us."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from proxy.types import Excerpt

_HEAD = "<memory>\n{}\n</memory>"
_RECALLED = "<recalled>\n{}\n</recalled>"
_OURS = re.compile(r"<(memory|recalled)>\n.*?\n</\1>\s*", re.DOTALL)

FACTS_TITLE = "What the user has stated:"
SUMMARIES_TITLE = "Earlier parts of this conversation:"
RECALLED_TITLE = "Earlier messages that may matter now, by turn:"


def head(facts: str, summaries: Sequence[str]) -> str:
    """Standing facts and summaries, as rendered by their own modules; "" if there are none."""
    parts = []
    if facts:
        parts.append(f"{FACTS_TITLE}\n{facts}")
    if summaries:
        parts.append("\n".join((SUMMARIES_TITLE, *summaries)))
    return _HEAD.format("\n".join(parts)) if parts else ""


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
        blocks.append(_RECALLED.format("\n".join((RECALLED_TITLE, *excerpt_lines(excerpts, now=now, session=session)))))
    return "\n".join(blocks)


def excerpt_lines(excerpts: Sequence[Excerpt], *, now: float, session: str) -> Iterator[str]:
    """A line each: many are short, so a token of framing is a tenth of one. Under a heading where the date says
    something: of another day, or of another conversation."""
    before = _place(now, is_other=False)
    for excerpt in excerpts:
        place = _place(excerpt.at, is_other=excerpt.session != session)
        if place != before:
            yield f"[{place}]"
            before = place
        yield f"{excerpt.turn} {excerpt.role}: {excerpt.text}"


def _place(at: float, *, is_other: bool) -> str:
    day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return f"{day}, another conversation" if is_other else day


def without_ours(text: str) -> str:
    """`text` without what we have added: a client may send back a prompt that it has from us."""
    return _OURS.sub("", text) if "</" in text else text
