"""The message that said a fact, as it is shown to whoever looks after what is remembered."""

import re
from collections.abc import Iterator

from proxy.conversation.blocks import without_ours

MOST_SHOWN = 300  # characters of an excerpt
_LEAST_WORDS = 2


def excerpt(said: str, value: str, most: int = MOST_SHOWN) -> str:
    """At most `most` characters of a message, verbatim, with the value in it where it stands there; "…" where something
    was left out."""
    text = without_ours(said).strip()
    if len(text) <= most:
        return text
    start, stop = _place(text, value)
    room = max(0, most - 2 - (stop - start))
    begin = max(0, min(start - room // 2, len(text) - (most - 2)))
    end = min(len(text), begin + most - 2)
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _place(text: str, value: str) -> tuple[int, int]:
    """Where the value stands, or as much of its beginning as there is; (0, 0) if nothing of it does: it may be made of
    several sentences, with others between."""
    for words in _beginnings(value.split()):
        if found := re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE):
            return found.span()
    return 0, 0


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    for count in range(len(words), min(len(words), _LEAST_WORDS) - 1, -1):
        if count:
            yield words[:count]
