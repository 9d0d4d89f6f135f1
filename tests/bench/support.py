"""Precision and recall of the check that a quotation states what is proposed to be remembered.

    python -m tests.bench.support [--data FILE.jsonl] [--errors] [--part N/M]

A row has a `turn`, a `quote` of it, a `value`, and whether the quotation states it (`ok`). `--part`: only every Mth
row, so that what is developed on one part can be measured on the others.
"""

import argparse
from collections import Counter
from pathlib import Path
from time import perf_counter

from proxy.memory.support import supports
from tests.bench.same_facts import rows, shares

DEV = Path(__file__).with_name("support_dev.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEV)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--part", default="0/1")
    asked = parser.parse_args()
    read = rows(asked.data, asked.part)
    for row in read:
        supports(row["quote"], row["value"], row["turn"])
    start = perf_counter()
    said = [supports(row["quote"], row["value"], row["turn"]) for row in read]
    took = (perf_counter() - start) / len(read)
    pairs = [(bool(row["ok"]), not reason) for row, reason in zip(read, said, strict=True)]
    print(f"all      {shares(pairs)}  {took * 1e3:.3f} ms a quotation")
    for language in sorted({row["lang"] for row in read}):
        print(
            f"{language:8} {shares([pair for row, pair in zip(read, pairs, strict=True) if row['lang'] == language])}"
        )
    wrong = Counter((row["kind"], label) for row, (label, verdict) in zip(read, pairs, strict=True) if label != verdict)
    every = Counter((row["kind"], bool(row["ok"])) for row in read)
    for (kind, label), number in sorted(every.items(), key=lambda each: (each[0][1], each[0][0])):
        print(f"  {'right' if label else 'wrong'} {kind:16} {number - wrong[kind, label]:3} of {number:3}")
    if asked.errors:
        for row, reason, (label, verdict) in zip(read, said, pairs, strict=True):
            if label != verdict:
                print(f"{'MISSED' if label else 'WRONG '} {row['id']} {row['kind']}:", end=" ")
                print(f"{row['quote']} | {row['value']}  [{reason}]")


if __name__ == "__main__":
    main()
