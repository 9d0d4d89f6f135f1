"""Messages split into passages, short enough to be about one thing, so that a match stands out: a long answer as a
whole matches everything a little (BEAM: half of the evidence lost)."""

import re
from collections.abc import Iterator, Sequence

BYTES_PER_TOKEN = 4  # of UTF-8; the o200k ranks take 4.4 for English, 4.1 for Spanish and 3.5 for code

# From the best place to cut to the worst: paragraphs, lines, sentences, words.
_CUTS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"(?<=[.!?…:;])\s+", r"\s+"))


def estimate(text: str) -> int:
    """Estimates the number of tokens of `text` without counting them."""
    size = len(text) if text.isascii() else len(text.encode())
    return -(-size // BYTES_PER_TOKEN)


def spans(text: str, most: int) -> list[tuple[int, int]]:
    """Splits `text` at the best places to cut; returns the start and end of each passage, of at most `most` tokens by
    the estimate, without the space between them. A text of white space has none."""
    found: list[tuple[int, int]] = []
    start, end = 0, 0  # of the passage that is being filled
    for piece_start, piece_end in _pieces(text, 0, len(text), most, 0):
        if end > start and estimate(text[start:piece_end]) <= most:
            end = piece_end
            continue
        if end > start:
            found.append((start, end))
        start, end = piece_start, piece_end
    return [*found, (start, end)] if end > start else found


def _pieces(text: str, start: int, end: int, most: int, level: int) -> Iterator[tuple[int, int]]:
    """Yields spans of at most `most` tokens: too long a paragraph is split into lines, a line into sentences, and so
    on."""
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return
    if estimate(bare) <= most:
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(bare)
        return
    if level == len(_CUTS):  # a word without a space: a key, a hash, base64
        for at in range(start, end, most):  # a character is four bytes at most: a token by the estimate
            yield at, min(at + most, end)
        return
    for cut in _CUTS[level].finditer(text, start, end):
        yield from _pieces(text, start, cut.start(), most, level + 1)
        start = cut.end()
    yield from _pieces(text, start, end, most, level + 1)


_FENCE = re.compile(r"^(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FEWEST = 2  # fenced passages; fewer are recalled with their message
_PASTED = 4  # passages of prose; more of them are a pasted text


def needed(text: str, spans: Sequence[tuple[int, int]], matched: Sequence[bool]) -> set[int]:
    """Returns the numbers of the passages that are recalled with a message: its prose, and the code blocks that match.
    `matched`: the passage has words of the question."""
    fences = [found.span() for found in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    fenced = {
        at for at, (start, end) in enumerate(spans) if any(opens <= start and end <= closes for opens, closes in fences)
    }
    prose = [at for at in range(len(spans)) if at not in fenced or len(fenced) < _FEWEST]
    if len(prose) > _PASTED:
        prose = [prose[0], prose[-1]]
    return {*prose, *(at for at, has in enumerate(matched) if has)}
