"""How what people say becomes facts: orders, statements, and what is neither.

    python -m tests.bench.learnt [FILE.jsonl]

Reads `learnt_unseen.jsonl` beside this script, 300 messages by an author who had not seen the code, 25 of a kind and
language, and prints counts by kind and language; no text. A row: `text`, `kind` and `facts`, each of which has
`must_contain`, strings that its value must have, accents aside, and `standing`, whether it holds for every answer. A
fact is found if the values that have one of its strings have all of them together, and whole if one value does. A
standing that is right: the value's with the most of the strings, of the facts that are found. Other facts of such a
message are counted aside; of a message that states nothing for good (reminiscence, one_off, trap) any is wrong. Bounds
are Wilson's, 95 %.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from proxy.language.words import fold
from proxy.types.memory import Statement
from tests.bench.bypass import wilson
from tests.bench.orders import learnt

UNSEEN = Path(__file__).with_name("learnt_unseen.jsonl")


@dataclass(slots=True)
class Tally:
    messages: int = 0
    facts: int = 0  # that are labelled
    found: int = 0
    whole: int = 0  # of these, in one value
    standing: int = 0  # of these, with the right standing
    beside: int = 0  # messages with a fact of which also something else was kept
    nothing: int = 0  # messages without a fact
    wrong: int = 0  # of these, those of which something was kept
    pinned: int = 0  # of these, those of which a rule for all answers was made

    def add(self, other: "Tally") -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


def _has(statement: Statement, strings: list[str]) -> int:
    value = fold(statement.value)
    return sum(fold(each) in value for each in strings)


def judge(tally: Tally, row: Mapping[str, Any]) -> None:
    """Counts a message: are its facts found, or anything kept of one that has none?"""
    kept = learnt(row["text"])
    tally.messages += 1
    if not row["facts"]:
        tally.nothing += 1
        tally.wrong += bool(kept)
        tally.pinned += any(each.pinned for each in kept)
        return
    meant: set[Statement] = set()
    for fact in row["facts"]:
        strings = fact["must_contain"]
        having = [each for each in kept if _has(each, strings)]
        meant.update(having)
        together = fold("\n".join(each.value for each in having))
        tally.facts += 1
        if not all(fold(each) in together for each in strings):
            continue
        best = max(having, key=lambda each: _has(each, strings))
        tally.found += 1
        tally.whole += _has(best, strings) == len(strings)
        tally.standing += best.pinned == fact["standing"]
    tally.beside += any(each not in meant for each in kept)


def _share(hits: int, n: int) -> str:
    low, high = wilson(hits, n)
    return f"{hits:3}/{n:<3} {hits / n:6.1%} [{low:.1%}, {high:.1%}]"


def line(name: str, tally: Tally) -> str:
    told = f"{name:20}"
    if tally.facts:
        told += f"found {_share(tally.found, tally.facts)}  in one value {tally.whole}"
        told += f"  standing right {_share(tally.standing, max(tally.found, 1))}"
        told += f"  beside it {tally.beside}/{tally.messages - tally.nothing}"
    if tally.nothing:
        told += f"{'  ' * bool(tally.facts)}wrong {_share(tally.wrong, tally.nothing)}, as a rule {tally.pinned}"
    return told


def report(path: Path) -> None:
    """Prints the counts by kind and language, and their sums."""
    tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
    sums: defaultdict[str, Tally] = defaultdict(Tally)
    for row in map(msgspec.json.decode, path.read_bytes().splitlines()):
        judge(tallies[row["kind"], row["lang"]], row)
    for (kind, language), tally in sorted(tallies.items()):
        print(line(f"{kind} {language}", tally))
        for name in (language, "all"):
            sums[name].add(tally)
    for name, tally in sorted(sums.items(), reverse=True):
        print(line(name, tally))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=UNSEEN, help="messages, one a line")
    report(parser.parse_args().file)


if __name__ == "__main__":
    main()
