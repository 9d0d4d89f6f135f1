"""Reuse by intent on pairs, and the gate on messages, by an author who had not read the code: sums alone.

    python -m tests.bench.pairs_unseen
    python -m tests.bench.pairs_unseen --dev [--rows]    # the pairs that rules may be built on, row by row

`pairs_unseen.jsonl`: 20 classes of near pairs with different answers and 8 of pairs with the same, 15 of each in both
languages. `gate_unseen.jsonl`: messages whose answers are of the moment, of the heart or an order, and plain ones. Both
are for measuring: nothing may be tuned on them, so no row is ever printed.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.bench.bypass import wilson
from tests.bench.reuse_data import Language, Pair
from tests.bench.reuse_stage import Decision, open_stage

PAIRS = Path(__file__).with_name("pairs_unseen.jsonl")
DEV = tuple(Path(__file__).with_name(f"pairs_{name}.jsonl") for name in ("dev", "fresh", "small"))
GATE = Path(__file__).with_name("gate_unseen.jsonl")
LANGUAGES: tuple[Language, ...] = ("en", "es")


class Message(msgspec.Struct, frozen=True):
    lang: Language
    kind: str  # "cacheable", or why it is not
    text: str


def read(*files: Path) -> tuple[list[Pair], list[Message]]:
    pairs = [msgspec.json.decode(line, type=Pair) for file in files for line in file.read_bytes().splitlines()]
    return pairs, [msgspec.json.decode(line, type=Message) for line in GATE.read_bytes().splitlines()]


async def decided(pairs: Sequence[Pair], messages: Sequence[Message]) -> tuple[list[Decision], list[Decision]]:
    """What became of every pair; and of every message asked twice."""
    twice = [Pair(m.lang, m.kind, m.text, m.text, int(m.kind == "cacheable"), "bypass") for m in messages]
    async with open_stage() as stage:
        return await stage.decide(pairs), await stage.decide(twice)


def rate(hits: int, n: int) -> str:
    low, high = wilson(hits, n)
    return f"{hits}/{n} = {hits / n:.1%} ({low:.1%} to {high:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    pairs, messages = asyncio.run(decided(*read(*(DEV if options.dev else (PAIRS,)))))
    if options.dev and options.rows:
        for each in pairs:
            if each.hit != bool(each.pair.label):
                print(f"{each.pair.lang} {each.pair.phenomenon} {each.result}: {each.pair.a} / {each.pair.b}")
    of = Counter((d.pair.label, d.pair.phenomenon, d.pair.lang) for d in pairs)
    hits = Counter((d.pair.label, d.pair.phenomenon, d.pair.lang) for d in pairs if d.hit)
    for label, title in ((0, "wrongly reused"), (1, "found")):
        names = sorted({name for each, name, _ in of if each == label})
        print(f"\n{title}, of each class (en / es)")
        for name in names:
            print(
                f"  {name}: "
                + " / ".join(f"{hits[label, name, lang]} of {of[label, name, lang]}" for lang in LANGUAGES)
            )
        for lang in LANGUAGES:
            counts = [(hits[label, name, lang], of[label, name, lang]) for name in names]
            print(f"  all, {lang}: {rate(sum(h for h, _ in counts), sum(n for _, n in counts))}")
    print("\nthe gate: messages that were answered from memory when asked again")
    for kind in sorted({d.pair.phenomenon for d in messages}):
        for lang in LANGUAGES:
            those = [d.hit for d in messages if (d.pair.phenomenon, d.pair.lang) == (kind, lang)]
            print(f"  {kind}, {lang}: {rate(sum(those), len(those))}")


if __name__ == "__main__":
    main()
