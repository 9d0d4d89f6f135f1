"""Precision and recall of the decision whether two remembered statements are one fact.

    python -m tests.bench.same_facts [--data FILE.jsonl] [--errors] [--part N/M]

A row has two statements `a` and `b` about one user, and `same`. `--part`: only every Mth row, so that what is
developed on one part can be measured on the others.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from proxy.memory.same_fact import difference, nominated, same_fact

DEV = Path(__file__).with_name("fact_pairs_dev.jsonl")


def rows(data: Path, part: str) -> list[dict[str, Any]]:
    read = [msgspec.json.decode(line) for line in data.read_bytes().splitlines()]
    first, _, step = part.partition("/")
    return read[int(first) :: int(step)]


def shares(right: Sequence[tuple[bool, bool]]) -> str:
    """Renders precision and recall of (label, verdict)."""
    kept, wanted = sum(said for _, said in right), sum(label for label, _ in right)
    both = sum(label and said for label, said in right)
    precision = f"{both / kept:.3f}" if kept else "    -"
    recall = f"{both / wanted:.3f}" if wanted else "    -"
    return f"n {len(right):4}  precision {precision}  recall {recall}  wrong {kept - both:3}  missed {wanted - both:3}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEV)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--part", default="0/1")
    asked = parser.parse_args()
    read = rows(asked.data, asked.part)
    for row in read:
        same_fact(row["a"], row["b"])
    start = perf_counter()
    said = [same_fact(row["a"], row["b"]) for row in read]
    took = (perf_counter() - start) / len(read)
    pairs = [(bool(row["same"]), verdict) for row, verdict in zip(read, said, strict=True)]
    print(f"all      {shares(pairs)}  {took * 1e3:.3f} ms a pair")
    for language in sorted({row["lang"] for row in read}):
        print(
            f"{language:8} {shares([pair for row, pair in zip(read, pairs, strict=True) if row['lang'] == language])}"
        )
    print(f"nominated of the same: {sum(nominated(row['a'], row['b']) for row in read if row['same'])}", end="")
    print(f" of {sum(row['same'] for row in read)}")
    wrong = Counter((row["kind"], label) for row, (label, verdict) in zip(read, pairs, strict=True) if label != verdict)
    every = Counter((row["kind"], bool(row["same"])) for row in read)
    for (kind, label), number in sorted(every.items(), key=lambda each: (each[0][1], each[0][0])):
        print(f"  {'same' if label else 'other'} {kind:16} {number - wrong[kind, label]:3} of {number:3}")
    if asked.errors:
        for row, (label, verdict) in zip(read, pairs, strict=True):
            if label != verdict:
                why = "" if verdict else difference(row["a"], row["b"])
                print(f"{'MISSED' if label else 'WRONG '} {row['id']} {row['kind']}: {row['a']} | {row['b']}  [{why}]")


if __name__ == "__main__":
    main()
