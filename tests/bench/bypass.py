"""How well the not-cacheable classes are told apart, on authored messages nobody's answer may be reused for.

    python -m tests.bench.bypass [--misses]

Reads `authored/bypass.jsonl` in `OLVIDO_EVAL_DATA` (default: `../shared/data` beside the repository). A message counts
as caught for whatever reason it is bypassed. Bounds are Wilson's, 95 %, on the side that hurts. The lists were written
and the weights learned with these messages at hand: rates of unseen ones are what `bypass_train` prints.
"""

import math
import os
import sys
from collections import defaultdict
from pathlib import Path

import msgspec

from proxy.reuse.cacheable import bypass_reason
from tests.builders import chat, user

_HERE = Path(__file__).resolve()
DATA = Path(os.environ.get("OLVIDO_EVAL_DATA", _HERE.parents[3] / "shared" / "data")) / "authored" / "bypass.jsonl"
Z = 1.96


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a rate. Wilson, JASA 22 (1927)."""
    rate = hits / n
    centre = (rate + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(rate * (1 - rate) / n + Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def reason_for(text: str) -> str | None:
    return bypass_reason(chat(user(text)))


def main(*, misses: bool) -> None:
    if not DATA.exists():
        print(f"skipped: no evaluation data at {DATA} (set OLVIDO_EVAL_DATA)")
        return
    rows: defaultdict[tuple[str, str], list[tuple[str, str | None]]] = defaultdict(list)
    for line in DATA.read_bytes().splitlines():
        row = msgspec.json.decode(line)
        for language in (row["lang"], "all"):
            rows[row["class"], language].append((row["text"], reason_for(row["text"])))
    print(f"{'class':16}{'lang':6}{'n':>5}{'bypassed':>10}{'95 % bound':>14}")
    for (name, language), results in sorted(rows.items()):
        n, bypassed = len(results), sum(reason is not None for _, reason in results)
        low, high = wilson(bypassed, n)
        bound = f"<= {high:.1%}" if name == "cacheable" else f">= {low:.1%}"
        print(f"{name:16}{language:6}{n:5}{bypassed / n:10.1%}{bound:>14}")
        if misses and language == "all":
            wrong = [(text, why) for text, why in results if (why is None) != (name == "cacheable")]
            print(*(f"    {why or 'not bypassed'}: {text}" for text, why in wrong), sep="\n")


if __name__ == "__main__":
    main(misses="--misses" in sys.argv[1:])
