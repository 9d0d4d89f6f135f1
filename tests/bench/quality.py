"""Did an answer hold? The comparison against people's labels.

    python -m tests.bench.quality [--misses] [--no-vectors]

The pairs (`tests/quality/pairs.jsonl`, Spanish and English) were written and labelled before the comparison was: half
of each language is for development, the others are held out (`Pair.is_held_out`). Precision and recall are those of
finding an answer that has *not* held, which is what somebody would look at.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.config.model import Embedding
from proxy.embedding.service import open_embedder
from proxy.quality.comparing import compared
from proxy.types.quality import Comparison, Said
from tests.builders import config

PAIRS = Path(__file__).parent.parent / "quality" / "pairs.jsonl"


class Pair(msgspec.Struct, frozen=True):
    """Two answers to one question, and whether the managed one has held."""

    id: str
    question: str
    original: str
    managed: str
    held: bool
    phenomenon: str

    @property
    def is_held_out(self) -> bool:
        """True if the comparison was not developed with it."""
        return int(self.id.rpartition("-")[2]) // 2 % 2 == 0


@dataclass(frozen=True, slots=True)
class Scores:
    """How well answers that have not held are found."""

    pairs: int
    found: int
    wrong: int  # alarms
    missed: int

    @property
    def precision(self) -> float:
        """Share of alarms that are right."""
        return self.found / (self.found + self.wrong) if self.found + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of answers that have not held of which an alarm tells."""
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0


def pairs() -> list[Pair]:
    """Returns the labelled pairs."""
    return [msgspec.json.decode(line, type=Pair) for line in PAIRS.read_bytes().splitlines()]


async def similarities(of: Sequence[Pair]) -> list[float]:
    """Returns the cosines of the two answers of each pair, by the built-in model."""
    embedder = open_embedder(config(embedding=Embedding()))
    embedder.start()
    try:
        while embedder.state == "warming":  # noqa: ASYNC110 (what it waits for tells nobody)
            await asyncio.sleep(0.05)
        vectors = await embedder.embed([text for pair in of for text in (pair.managed, pair.original)])
    finally:
        await embedder.close()
    return [float(vectors[at] @ vectors[at + 1]) for at in range(0, len(vectors), 2)]


def decided(of: Sequence[Pair], cosines: Sequence[float | None]) -> list[Comparison]:
    """Returns the comparison of each pair."""
    return [compared(Said(pair.managed), Said(pair.original), cosine) for pair, cosine in zip(of, cosines, strict=True)]


def scores(of: Sequence[Pair], made: Sequence[Comparison]) -> Scores:
    """Returns the scores of comparisons."""
    both = list(zip(of, made, strict=True))
    return Scores(
        len(of),
        found=sum(not pair.held and not each.held for pair, each in both),
        wrong=sum(pair.held and not each.held for pair, each in both),
        missed=sum(not pair.held and each.held for pair, each in both),
    )


def main() -> int:
    """Prints the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="show the pairs that are decided wrongly")
    parser.add_argument("--no-vectors", action="store_true", help="without similarity")
    options = parser.parse_args()
    every = pairs()
    cosines: Sequence[float | None] = [None] * len(every)
    if not options.no_vectors:
        cosines = asyncio.run(similarities(every))
    made = decided(every, cosines)
    print(f"{'':12}{'pairs':>6}{'precision':>11}{'recall':>8}{'right':>7}")
    for name, want in (("development", False), ("held out", True)):
        some = [(pair, each) for pair, each in zip(every, made, strict=True) if pair.is_held_out is want]
        told = scores([pair for pair, _ in some], [each for _, each in some])
        right = 1 - (told.wrong + told.missed) / told.pairs
        print(f"{name:12}{told.pairs:>6}{told.precision:>11.2f}{told.recall:>8.2f}{right:>7.2f}")
    if options.misses:
        for pair, each in zip(every, made, strict=True):
            if pair.held != each.held and not pair.is_held_out:
                print(
                    f"{pair.id} {pair.phenomenon}: {each.reason} {each.measures}\n  {pair.original}\n  {pair.managed}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
