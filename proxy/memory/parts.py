"""Which passages of a long message of the user's are recalled: their own words, and what is fenced or pasted only where
it has words of the question."""

import re
from collections.abc import Sequence

_FENCE = re.compile(r"^(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FEWEST = 2  # passages of fences: a shorter one is recalled with its message
_PASTED = 4  # passages of prose: more of it is a text that was pasted


def needed(text: str, spans: Sequence[tuple[int, int]], matched: Sequence[bool]) -> set[int]:
    """Numbers of these passages. `matched`: the passage has words of the question."""
    fences = [found.span() for found in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    fenced = {
        at for at, (start, end) in enumerate(spans) if any(opens <= start and end <= closes for opens, closes in fences)
    }
    prose = [at for at in range(len(spans)) if at not in fenced or len(fenced) < _FEWEST]
    if len(prose) > _PASTED:
        prose = [prose[0], prose[-1]]
    return {*prose, *(at for at, has in enumerate(matched) if has)}
