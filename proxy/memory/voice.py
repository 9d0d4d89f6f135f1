"""Models that tell the author's own words in a message from pasted text, trained on messages whose pieces people had
labelled.

A piece ends with its sentence, its line, or at a colon, dash or arrow. Enclosed text (fence, tag, quotation marks,
quoted line) is a piece that is never the author's own. For the others two linear models give the probability, both in
`voice.npz`, made by `tests/bench/voice_train.py`: the first from the piece's words, its neighbours' and the message's
shape, the second also from the first one's results for the pieces around it. Nothing is random or downloaded.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from proxy.language.finding import Finder
from proxy.linear import LinearModel, feature, flat, load_models, sigmoid, word_runs
from proxy.memory.shapes import HANDOVER, enclosed, is_foreign, is_spoken
from proxy.memory.signals import folded
from proxy.memory.tokens import tokens, word_pairs, words

FILE = Path(__file__).with_name("voice.npz")
BUCKETS = 2**16  # of hashed features
_GRADES = 6  # into which a probability is divided
_READ = 40  # words of a piece that are features
# Weights of the words of a piece, of the previous, the next, the first and the last one, and of its signs.
_WEIGHTS = (1.0, 0.6, 0.4, 0.6, 0.4, 1.6)
_AROUND = 0.7 * math.sqrt(12)  # of the graded probabilities around a piece, of which there are twelve
_ENDS = re.compile(
    r"(?=[.!?\u2026\n\u00bf:;\s=>\u2192-])"  # where else nothing needs to be looked at
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMrs)(?<!\bSra)(?<!\bDra)"
    r"(?:[.!?\u2026]+[)\"'\u201d»]*(?=\s|\Z)|\n+|(?=\u00bf)|:(?=\s)|\s[-\u2013\u2014]+\s|\s?(?:->|=>|>>+|\u2192)\s|;\s)"
)
_LEADS_OVER = ("-", "\u2013", "\u2014", "->", "=>", "\u2192")
_YOU = re.compile(r"\b(?:you|your|te|tu|vos|usted|podes|puedes|me)\b")
_NAMES = """
works makes fiction points play asks brings first_person orders remember own_label dear mail_head signs_off
context_label question_label refers_back follows
"""
_TABLES = _NAMES.split()

Group = frozenset[int]  # distinct hashed features


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
    known, model = features(text, found), _model()
    every = {id(group): group for each in known for group in each.groups}  # pieces share them
    shares = model.shares(flat([*every.values()]), [*map(len, every.values())])
    place = {name: at for at, name in enumerate(every)}
    rows = [[place[id(group)] for group in each.groups] for each in known]
    scores = np.array(_WEIGHTS) @ shares.take(rows, axis=0) + model.intercept  # (pieces, models)
    likely = [sigmoid(score) for score in scores[:, 0].tolist()]
    around = [near(likely, at, each) for at, each in enumerate(known)]
    scores += _AROUND * model.shares(flat(around), [*map(len, around)])
    surer = [sigmoid(score) for score in scores[:, 1].tolist()]
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

    groups: tuple[Group, Group, Group, Group, Group, Group]
    gap: str  # the separator before it: "start", "blank", "line", "colon", "dash", "same"


def features(text: str, found: Sequence[Piece]) -> list[Known]:
    """Extracts the features of all pieces of a message."""
    said = [tokens(text[each.start : each.end])[:_READ] for each in found]
    own, before, behind = (
        [frozenset(told(spoken)) for spoken in each]
        for told, each in ((_own, said), (_before, [("^",), *said[:-1]]), (_behind, [*said[1:], ("$",)]))
    )
    first = frozenset((*words("3w=", said[0]), *word_runs("3b=", [word.encode() for word in said[0]], 2)))
    last = frozenset(words("4w=", said[-1]))
    firsts, lasts = [_IS_FIRST, *[first] * (len(found) - 1)], [*[last] * (len(found) - 1), _IS_LAST]
    gaps = [_gap_before(text[: each.start]) for each in found]
    signs = [
        frozenset((*map(_sign, told), _sign(f"len={min(len(spoken) // 3, 8)}")))
        for told, spoken in zip(_signs(text, found, gaps), said, strict=True)
    ]
    groups = zip(own, before, behind, firsts, lasts, signs, strict=True)
    return [Known(each, gap) for each, gap in zip(groups, gaps, strict=True)]


_IS_FIRST, _IS_LAST = frozenset({feature("3^")}), frozenset({feature("4$")})
_SIGN = feature("5")


@lru_cache(4_096)  # there are few of them
def _sign(name: str) -> int:
    return feature(name, _SIGN)


def _own(said: Sequence[str]) -> Iterator[int]:
    yield from words("0w=", said)
    yield from word_pairs(said, "0b=")
    yield feature(f"00={' '.join(said[:2])}")
    yield feature(f"000={' '.join(said[:3])}")


def _before(said: Sequence[str]) -> Iterator[int]:
    yield from words("1w=", said)
    yield feature(f"10={' '.join(said[:2])}")
    yield feature(f"1l={' '.join(said[-2:])}")


def _behind(said: Sequence[str]) -> Iterator[int]:
    yield from words("2w=", said)
    yield feature(f"20={' '.join(said[:2])}")


def _signs(text: str, found: Sequence[Piece], gaps: Sequence[str]) -> Iterator[list[str]]:
    tables = [_tables(text[each.start : each.end]) for each in found]
    so_far = list(accumulate(tables, frozenset.union, initial=frozenset[str]()))
    to_come = list(accumulate(reversed(tables), frozenset.union, initial=frozenset[str]()))[::-1]
    closed = [each.is_enclosed for each in found]
    last, lines = len(found) - 1, sum(bool(line.strip()) for line in text.split("\n"))
    foreign = lru_cache(lambda line: (is_foreign(line, alone=lines == 1), is_spoken(line)))
    for at, (piece, gap) in enumerate(zip(found, gaps, strict=True)):
        raw = text[piece.start : piece.end]
        shown, earlier = raw.strip(), so_far[at]
        line = text[text.rfind("\n", 0, piece.start) + 1 :].partition("\n")[0]
        is_other, has_speaker = foreign(line)
        then = _gap_behind(raw, text[piece.end :])
        yield [
            f"enclosed={piece.is_enclosed}",
            f"gap={gap}",
            f"then={then}",
            f"gaps={gap}{then}",
            f"ends={'a' if shown[-1:].isalnum() else shown[-1:]}",
            f"at={min(at, 5)}",
            f"left={min(last - at, 5)}",
            f"pieces={min(last + 1, 10)}",
            f"lines={min(lines, 6)}",
            f"foreign={is_other}",
            f"spoken={has_speaker}",
            f"upper={shown[:1].isupper()}",
            f"indented={line.startswith(('  ', chr(9)))}",
            *(f"t={name}" for name in tables[at]),
            *(f"before={name}" for name in (tables[at - 1] if at else ())),
            *(f"behind={name}" for name in (tables[at + 1] if at < last else ())),
            *(f"earlier={name}" for name in earlier),
            *(f"later={name}" for name in to_come[at + 1]),
            f"you={_YOU.search(folded(raw)) is not None}",
            f"asks={'?' in raw}",
            f"closed before={any(closed[:at])}",
            f"closed behind={any(closed[at + 1 :])}",
            f"asked={gap}{not earlier.isdisjoint(('works', 'makes', 'points'))}",
            f"worked={gap}{'works' in earlier}",
            f"told={gap}{'fiction' in earlier}",
            f"work={gap}{at > 0 and 'works' in tables[at - 1]}",
        ]


@lru_cache(1_024)
def _tables(said: str) -> frozenset[str]:
    plainly = folded(said)
    return frozenset(_FINDER.found(plainly))


_FINDER = Finder({name: HANDOVER[name] for name in _TABLES})


def _gap_before(before: str) -> str:
    """Classifies the separator before a piece."""
    said = before.rstrip()
    if not said:
        return "start"
    if _has_blank_line(before[len(said) :]):
        return "blank"
    stripped = before.rstrip(" \t")
    if stripped.endswith("\n"):
        return "line"
    if stripped.endswith(":"):
        return "colon"
    return "dash" if said.endswith(_LEADS_OVER) else "same"


def _gap_behind(raw: str, behind: str) -> str:
    said = behind.lstrip()
    if not said:
        return "end"
    if _has_blank_line(raw[len(raw.rstrip()) :]) or _has_blank_line(behind[: len(behind) - len(said)]):
        return "blank"
    return "line" if raw.endswith("\n") or behind.startswith("\n") else "same"


def _has_blank_line(space: str) -> bool:
    return space.count("\n") > 1


def near(likely: Sequence[float], at: int, known: Known) -> Group:
    """Returns the features that the first model's results for a piece and those around it give."""
    grades = [min(int(each * _GRADES), _GRADES - 1) for each in likely]
    before = str(grades[at - 1]) if at else "-"
    behind = str(grades[at + 1]) if at + 1 < len(grades) else "-"
    told = (
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
    )
    return frozenset(map(_graded, told))


_NEAR = feature("S")


@lru_cache(4_096)
def _graded(name: str) -> int:
    return feature(name, _NEAR)


def _grade(likely: Sequence[float]) -> int:
    return min(int((sum(likely) / len(likely) if likely else 0.5) * _GRADES), _GRADES - 1)


def groups(known: Known, around: Group = frozenset()) -> list[tuple[Group, float]]:
    """Returns the features of a piece in groups, each with its weight. `around`: those that are `near` it."""
    return [*zip(known.groups, _WEIGHTS, strict=True), (around, _AROUND)]


# --- the models ------------------------------------------------------------------------------------------------------


@lru_cache(1)
def _model() -> LinearModel:
    """Returns both models as the classes of one."""
    both = load_models(FILE, "first", "second")
    parts = zip(*((model.weights, model.scale, model.intercept) for model in both), strict=True)
    return LinearModel(*(np.concatenate(part, axis=-1) for part in parts))
