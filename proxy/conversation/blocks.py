"""Our own blocks in a prompt, the memory head and the volatile block: rendered, recognised, removed. They are
delimited: a model tells them from the user's own words, and a turn is read without those that a client sends back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from proxy.types import Excerpt, Language

_HEAD = "<memory>\n{}\n</memory>"
_RECALLED = "<recalled>\n{}\n</recalled>"
FACTS_TITLE = "What the user has stated:"
SUMMARIES_TITLE = "Earlier parts of this conversation:"
DESK_TITLE = "Your own memory:"
RECALLED_TITLE = "Earlier user messages that may matter now, by turn:"
STATUS_TITLES: Mapping[Language, str] = {"en": "Status of your memory:", "es": "Estado de tu memoria:"}
# A block of ours is recognised with its title, since others use tags of these names, too (`#include <memory>`), and
# removed with the line ends that separate it from the text after it or, in a system message, before it.
_TITLES = "|".join((FACTS_TITLE, SUMMARIES_TITLE, DESK_TITLE, *STATUS_TITLES.values()))
_OURS = rf"<memory>\n(?:{_TITLES})\n.*?\n</memory>|<recalled>\n{RECALLED_TITLE}\n.*?\n</recalled>"
_ANY_OF_OURS = re.compile(rf"\n\n(?:{_OURS})\Z|(?:{_OURS})\n?\n?", re.DOTALL)
# A tag that would end a block, or that a model could take for its end.
_ENDS = re.compile(r"<(\s*/\s*(?:memory|recalled)\s*)>", re.IGNORECASE)


def memory_head(facts: str, summaries: Sequence[str], desk: str = "") -> str:
    """Renders the memory head from rendered facts and summaries; "" if there are none. `desk`: what the model keeps
    itself, before them."""
    parts = [f"{DESK_TITLE}\n{desk}\n"] if desk else []
    if facts:
        parts.append(f"{FACTS_TITLE}\n{facts}")
    if summaries:
        parts.append("\n".join((SUMMARIES_TITLE, *summaries)))
    return _HEAD.format(quoted("\n".join(parts))) if parts else ""


def status_block(status: str, language: Language) -> str:
    """Renders the dashboard: the model's own memory, measured."""
    return _HEAD.format(f"{STATUS_TITLES[language]}\n{quoted(status)}")


def without_summaries(head: str) -> str:
    """Returns the head without its summaries, byte for byte; "" if nothing else is in it."""
    facts, title, _ = head.partition(f"\n{SUMMARIES_TITLE}\n")
    if not title:
        return head
    return f"{facts}\n</memory>" if facts.startswith((f"<memory>\n{FACTS_TITLE}", f"<memory>\n{DESK_TITLE}")) else ""


def volatile_block(facts: str, excerpts: Sequence[Excerpt], *, now: float, session: str) -> str:
    """Renders the volatile block: facts, and excerpts in the order of time; "" if there are none."""
    blocks = [memory_head(facts, ())] if facts else []
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
    """Returns `text` without our blocks, which clients may send back, and otherwise unchanged."""
    return _ANY_OF_OURS.sub("", text) if "</" in text else text


def ours(text: str) -> tuple[str, ...]:
    """Returns our blocks in `text`."""
    return tuple(found[0].strip() for found in _ANY_OF_OURS.finditer(text)) if "</" in text else ()
