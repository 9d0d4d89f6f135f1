"""Models that tell the author's own words in a message from pasted text, trained on messages whose pieces people had
labelled.

A piece ends with its sentence, its line, or at a colon, dash or arrow. Enclosed text (fence, tag, quotation marks,
quoted line) is a piece that is never the author's own. For the others two linear models give the probability, both in
`voice.npz`, made by `tests/bench/voice_train.py`: the first from the piece's words, its neighbours' and the message's
shape, the second also from the first one's results for the pieces around it. Nothing is random or downloaded.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from proxy.linear import LinearModel, bucket, hashed, load_models
from proxy.memory.clauses import tokens, word_pairs
from proxy.memory.shapes import HANDOVER, enclosed, is_foreign, is_spoken
from proxy.memory.signals import folded

FILE = Path(__file__).with_name("voice.npz")
BUCKETS = 2**16  # of hashed features
_GRADES = 6  # into which a probability is divided
_READ = 40  # words of a piece that are features
# Weights of the words of a piece, of the previous, the next, the first and the last one, and of its signs.
_WEIGHTS = (1.0, 0.6, 0.4, 0.6, 0.4, 1.6)
_AROUND = 0.7  # weight of each graded probability around a piece
_ENDS = re.compile(
    r"(?=[.!?\u2026\n\u00bf:;\s=>\u2192-])"  # where else nothing needs to be looked at
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMrs)(?<!\bSra)(?<!\bDra)"
    r"(?:[.!?\u2026]+[)\"'\u201d»]*(?=\s|\Z)|\n+|(?=\u00bf)|:(?=\s)|\s[-\u2013\u2014]+\s|\s?(?:->|=>|>>+|\u2192)\s|;\s)"
)
_BLANK_BEFORE, _BLANK_BEHIND = re.compile(r"\n\s*\n\s*\Z"), re.compile(r"\s*\n\s*\n")
_LED_OVER = re.compile(r"(?:[-\u2013\u2014]|->|=>|\u2192)\s*\Z")
_YOU = re.compile(r"\b(?:you|your|te|tu|vos|usted|podes|puedes|me)\b")
_NAMES = """
works makes fiction points play asks brings first_person orders remember own_label dear mail_head signs_off
context_label question_label refers_back follows
"""
_TABLES = _NAMES.split()

Strings = list[str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a message that has one speaker."""

    start: int  # in the message
    end: int
    is_enclosed: bool


def voices(text: str) -> list[tuple[Piece, float]]:
    """Returns the pieces of a message in their order, each with the probability, 0 to 1, that it is the author's
    own."""
    found = pieces(text)
    if not found:
        return []
    first, second = _models()
    known = features(text, found)
    vectors = [vector(each) for each in known]
    likely = [first.likelihood(each) for each in vectors]
    beside = [with_near(each, near(likely, at, known[at])) for at, each in enumerate(vectors)]
    surer = [second.likelihood(each) for each in beside]
    return [(piece, 0.0 if piece.is_enclosed else says) for piece, says in zip(found, surer, strict=True)]


def pieces(text: str) -> list[Piece]:
    """Splits a message into pieces."""
    closed = enclosed(text)
    starts, inside = {start for start, _ in closed}, [range(start + 1, end) for start, end in closed]
    cuts = {0, len(text), *(found.end() for found in _ENDS.finditer(text)), *starts, *(end for _, end in closed)}
    ordered = sorted(cut for cut in cuts if not any(cut in each for each in inside))
    return [
        Piece(start, end, start in starts) for start, end in pairwise(ordered) if any(map(str.isalnum, text[start:end]))
    ]


# --- features --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """The features of a piece: of its words, of the previous, the next, the first and the last piece's, and its
    signs."""

    groups: tuple[Strings, Strings, Strings, Strings, Strings, Strings]
    gap: str  # the separator before it: "start", "blank", "line", "colon", "dash", "same"


def features(text: str, found: Sequence[Piece]) -> list[Known]:
    """Extracts the features of all pieces of a message."""
    said = [[token.text for token in tokens(text[each.start : each.end])][:_READ] for each in found]
    tables = [_tables(text[each.start : each.end]) for each in found]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    return [_known(text, found, said, tables, lines, at) for at in range(len(found))]


def _known(
    text: str, found: Sequence[Piece], said: Sequence[Strings], tables: Sequence[Strings], lines: int, at: int
) -> Known:
    last, words, gap = len(found) - 1, said[at], _gap_before(text[: found[at].start])
    before, behind = (said[at - 1] if at else ["^"]), (said[at + 1] if at < last else ["$"])
    return Known(
        (
            [f"w={word}" for word in words]
            + word_pairs(words)
            + [f"0={' '.join(words[:2])}", f"00={' '.join(words[:3])}"],
            [f"w={word}" for word in before] + [f"0={' '.join(before[:2])}", f"l={' '.join(before[-2:])}"],
            [f"w={word}" for word in behind] + [f"0={' '.join(behind[:2])}"],
            [f"w={word}" for word in said[0]] + [f"b={one} {two}" for one, two in pairwise(said[0])] if at else ["^"],
            [f"w={word}" for word in said[-1]] if at < last else ["$"],
            [*_signs(text, found, tables, lines, at, gap), f"len={min(len(words) // 3, 8)}"],
        ),
        gap,
    )


def _signs(text: str, found: Sequence[Piece], tables: Sequence[Strings], lines: int, at: int, gap: str) -> Strings:
    piece, last = found[at], len(found) - 1
    raw = text[piece.start : piece.end]
    shown, plainly = raw.strip(), folded(raw)
    line = text[text.rfind("\n", 0, piece.start) + 1 :].partition("\n")[0]
    earlier = {name for each in tables[:at] for name in each}
    later = {name for each in tables[at + 1 :] for name in each}
    asked = bool(earlier & {"works", "makes", "points"})
    return [
        f"enclosed={piece.is_enclosed}",
        f"gap={gap}",
        f"then={_gap_behind(raw, text[piece.end :])}",
        f"gaps={gap}{_gap_behind(raw, text[piece.end :])}",
        f"ends={'a' if shown[-1:].isalnum() else shown[-1:]}",
        f"at={min(at, 5)}",
        f"left={min(last - at, 5)}",
        f"pieces={min(last + 1, 10)}",
        f"lines={min(lines, 6)}",
        f"foreign={is_foreign(line, alone=lines == 1)}",
        f"spoken={is_spoken(line)}",
        f"upper={shown[:1].isupper()}",
        f"indented={line.startswith(('  ', chr(9)))}",
        *(f"t={name}" for name in tables[at]),
        *(f"before={name}" for name in (tables[at - 1] if at else ())),
        *(f"behind={name}" for name in (tables[at + 1] if at < last else ())),
        *(f"earlier={name}" for name in earlier),
        *(f"later={name}" for name in later),
        f"you={_YOU.search(plainly) is not None}",
        f"asks={'?' in raw}",
        f"closed before={any(each.is_enclosed for each in found[:at])}",
        f"closed behind={any(each.is_enclosed for each in found[at + 1 :])}",
        f"asked={gap}{asked}",
        f"worked={gap}{'works' in earlier}",
        f"told={gap}{'fiction' in earlier}",
        f"work={gap}{at > 0 and 'works' in tables[at - 1]}",
    ]


@lru_cache(1_024)
def _tables(said: str) -> Strings:
    plainly = folded(said)
    return [name for name in _TABLES if HANDOVER[name].search(plainly)]


def _gap_before(before: str) -> str:
    """Classifies the separator before a piece."""
    if not before.strip():
        return "start"
    if _BLANK_BEFORE.search(before):
        return "blank"
    stripped = before.rstrip(" \t")
    if stripped.endswith("\n"):
        return "line"
    if stripped.endswith(":"):
        return "colon"
    return "dash" if _LED_OVER.search(before) else "same"


def _gap_behind(raw: str, behind: str) -> str:
    if not behind.strip():
        return "end"
    if _BLANK_BEFORE.search(raw) or _BLANK_BEHIND.match(behind):
        return "blank"
    return "line" if raw.endswith("\n") or behind.startswith("\n") else "same"


def near(likely: Sequence[float], at: int, known: Known) -> Strings:
    """Returns the features that the first model's results for a piece and those around it give."""
    grades = [min(int(each * _GRADES), _GRADES - 1) for each in likely]
    before = str(grades[at - 1]) if at else "-"
    behind = str(grades[at + 1]) if at + 1 < len(grades) else "-"
    return [
        f"={grades[at]}",
        f"p={before}",
        f"n={behind}",
        f"0={grades[0]}",
        f"l={grades[-1]}",
        f"mean={_grade(likely)}",
        f"least={min(grades)}",
        f"gap={grades[at]}{before}{known.gap}",
        f"on={grades[at]}{behind}",
        f"both={before}{behind}",
        f"earlier={_grade(likely[:at])}",
        f"later={_grade(likely[at + 1 :])}",
    ]


def _grade(likely: Sequence[float]) -> int:
    return min(int((sum(likely) / len(likely) if likely else 0.5) * _GRADES), _GRADES - 1)


def vector(known: Known) -> dict[int, float]:
    """Returns the hashed features of a piece: bucket to weight."""
    groups = [
        ([f"{number}{feature}" for feature in group], weight)
        for number, (group, weight) in enumerate(zip(known.groups, _WEIGHTS, strict=True))
    ]
    return hashed(groups, BUCKETS)


def with_near(found: Mapping[int, float], features_near: Iterable[str]) -> dict[int, float]:
    """Returns a copy of the vector `found` with the features of the pieces around it."""
    both = dict(found)
    for feature in features_near:
        place = bucket(f"S{feature}", BUCKETS)
        both[place] = both.get(place, 0.0) + _AROUND
    return both


# --- the models ------------------------------------------------------------------------------------------------------


@lru_cache(1)
def _models() -> tuple[LinearModel, ...]:
    return load_models(FILE, "first", "second")
