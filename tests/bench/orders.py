"""How well orders to remember are obeyed, and nothing else taken for one.

    python -m tests.bench.orders [FILE.jsonl]

Reads `orders_unseen.jsonl` beside this script, 240 messages by an author who had not seen the code, and prints counts
by language and kind; no text. A row: `text`, `order` (it orders something to be kept) and `fact` (the clause that is,
in its words). An order is obeyed if the values of the message's facts cover the content words of the clause. Of what
orders nothing a fact is told apart: made by the rule for orders, or by the reading of statements, which may be right
about it. Bounds are Wilson's, 95 %.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proxy.language.words import terms
from proxy.memory.analysis import terms_of
from proxy.memory.commands import commands
from proxy.memory.extract import extract, ordered
from proxy.types.memory import Statement
from tests.bench.bypass import wilson

UNSEEN = Path(__file__).with_name("orders_unseen.jsonl")


@dataclass(slots=True)
class Tally:
    orders: int = 0
    obeyed: int = 0
    beside: int = 0  # messages with an order of which also something else was kept
    others: int = 0  # messages without one
    mistaken: int = 0  # of these, those with a fact by the rule for orders
    kept: int = 0  # of these, those with any fact

    def add(self, other: "Tally") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def learnt(text: str) -> tuple[Statement, ...]:
    """Returns what is kept of a message: nothing of a command to forget."""
    return () if commands((text,)) else extract(text)


def judge(tally: Tally, row: Mapping[str, Any]) -> None:
    """Counts a message: is its order obeyed, or something kept that nobody ordered?"""
    values = [each.value for each in learnt(row["text"])]
    if not row["order"]:
        tally.others += 1
        tally.mistaken += not commands((row["text"],)) and bool(ordered(row["text"]))
        tally.kept += bool(values)
        return
    wanted = frozenset(terms(row["fact"]))
    tally.orders += 1
    tally.obeyed += wanted <= terms_of(values)
    tally.beside += any(wanted.isdisjoint(terms(value)) for value in values)


def line(name: str, tally: Tally) -> str:
    told = f"{name:40}"
    if tally.orders:
        told += f"obeyed {tally.obeyed:3}/{tally.orders:<3} {tally.obeyed / tally.orders:6.1%}"
        told += f" ≥{wilson(tally.obeyed, tally.orders)[0]:6.1%}  something beside it {tally.beside}"
    if tally.others:
        told += f"  taken for an order {tally.mistaken}/{tally.others}, any fact {tally.kept}/{tally.others}"
    return told


def report(path: Path) -> None:
    """Prints the counts by language and kind, and their sums."""
    tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
    for row in map(msgspec.json.decode, path.read_bytes().splitlines()):
        judge(tallies[row["lang"], row["kind"]], row)
    sums: defaultdict[str, Tally] = defaultdict(Tally)
    for (language, kind), tally in sorted(tallies.items()):
        print(line(f"{language} {kind}", tally))
        for name in (language, "all"):
            sums[name].add(tally)
    for name, tally in sorted(sums.items(), reverse=True):
        print(line(name, tally))
        right = tally.obeyed + tally.mistaken
        print(f"{'':40}precision of orders {tally.obeyed / max(right, 1):.1%} ≥{wilson(tally.obeyed, right)[0]:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=UNSEEN, help="messages, one a line")
    report(parser.parse_args().file)


if __name__ == "__main__":
    main()
