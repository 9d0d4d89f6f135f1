"""What reuse by intent is measured on: pairs of questions, single messages, and questions that follow others.

Read from `OLVIDO_EVAL_DATA` (default: `../shared/data` beside the repository).
"""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
Language: TypeAlias = Literal["en", "es"]

UNSEEN = Path(__file__).with_name("reuse_unseen.jsonl")  # written before the rules that they are measured on
FOLDER = Path(os.environ.get("OLVIDO_EVAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
PAIRS = FOLDER / "dedup_pairs.jsonl"
AUTHORED = FOLDER / "authored"

MOST_BEFORE = 4  # earlier questions of a CAsT topic that are its history: with more, nothing is ever reused
REPLY = "Here is what I know."  # in place of the answers that CAsT has not; alike, so that they tell no contexts apart


class Pair(msgspec.Struct, frozen=True, rename={"source": "ds"}):
    """`label` 1: both ask the same."""

    lang: Language
    phenomenon: str
    a: str
    b: str
    label: int
    source: str = "authored"

    @property
    def is_mislabelled(self) -> bool:
        """Said to be two questions, and the same words."""
        return self.label == 0 and " ".join(self.a.casefold().split()) == " ".join(self.b.casefold().split())


class Said(msgspec.Struct, frozen=True):
    role: str
    content: str


class Followup(msgspec.Struct, frozen=True):
    """`other`: the history of another conversation."""

    lang: Language
    history: tuple[Said, ...]
    query: str
    context_dependent: bool
    other: tuple[Said, ...] = ()


class _Single(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    lang: Language
    text: str
    kind: str


class _Turn(msgspec.Struct, frozen=True):
    topic: str
    turn: int
    raw: str
    context_dependent: bool


def pairs(every: int = 1) -> list[Pair]:
    """Of the public pairs one in `every`, of the authored ones all. STS-B is left out: it has no questions."""
    public = [pair for pair in _rows(PAIRS, Pair) if pair.source != "stsb"][::every]
    return [*public, *(pair for lang in ("en", "es") for pair in _rows(AUTHORED / f"pairs_{lang}.jsonl", Pair))]


def unseen() -> list[Pair]:
    """Hard negatives and, in smaller number, pairs that differ in spelling, order or wrapper."""
    return _rows(UNSEEN, Pair)


def singles() -> list[Pair]:
    """Messages of the classes that are never to be reused, and lookalikes, each with itself: whatever is reused at all
    is reused then. The class is the phenomenon."""
    return [
        Pair(row.lang, row.kind, row.text, row.text, int(row.kind == "cacheable"), "bypass")
        for row in _rows(AUTHORED / "bypass.jsonl", _Single)
    ]


def followups() -> dict[str, list[Followup]]:
    """Each with the history of another one of its language; in CAsT, one of another topic and of the same length."""
    authored = _rows(AUTHORED / "followups.jsonl", Followup)
    return {"authored": _with_others(authored), "CAsT": _with_others(_cast())}


def _cast() -> list[Followup]:
    topics: defaultdict[str, list[_Turn]] = defaultdict(list)
    for turn in _rows(FOLDER / "cast_followups.jsonl", _Turn):
        topics[turn.topic].append(turn)
    found = []
    for turns in topics.values():
        turns.sort(key=lambda turn: turn.turn)
        for at in range(1, len(turns)):
            before = [said for turn in turns[max(0, at - MOST_BEFORE) : at] for said in _exchange(turn.raw)]
            found.append(Followup("en", tuple(before), turns[at].raw, turns[at].context_dependent))
    return found


def _exchange(question: str) -> tuple[Said, Said]:
    return Said("user", question), Said("assistant", REPLY)


def _with_others(rows: Sequence[Followup]) -> list[Followup]:
    """The next one, in a circle, with another history of the same length; if there is none, with any other."""
    found = []
    for at, row in enumerate(rows):
        others = [r.history for r in (*rows[at + 1 :], *rows[:at]) if r.lang == row.lang and r.history != row.history]
        alike = (history for history in others if len(history) == len(row.history))
        found.append(msgspec.structs.replace(row, other=next(alike, others[0])))
    return found


def _rows(path: Path, kind: type[T]) -> list[T]:
    decoder = msgspec.json.Decoder(kind)
    return [decoder.decode(line) for line in path.read_bytes().splitlines() if line]
