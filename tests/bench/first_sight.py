"""How much of what a question needs is recalled while a history that was never seen before is still being embedded.

    python -m tests.bench.first_sight [--source locomo|beam|authored] [--method fused|gated] [--method …]

The prompts are those of `tests.bench.recall`, with a part of the turns embedded: the newest first, as the proxy reads
a history, and in random order. A row tells, for each budget, the evidence in the prompt, macro over questions, and its
share of what is found once all is embedded. Ends with 1 if a share is below `LEAST`.
"""

import argparse
import random
import sys
from collections.abc import Callable, Mapping, Sequence

from tests.bench.context_data import Conversation, authored, beam, locomo
from tests.bench.recall import mean, recalled, scored
from tests.bench.recall_cases import Case, Method, Vectors, case, turns, wanted

BUDGETS = (1_000, 2_000, 4_000)
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # of the texts that get a vector
LEAST = ((0.5, 0.95), (0.0, 0.90))  # from this share of the vectors on, this share of the settled recall
SEED = 7
SOURCES: Mapping[str, Callable[[], Sequence[Conversation]]] = {"locomo": locomo, "beam": beam, "authored": authored}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", choices=SOURCES, default="locomo")
    parser.add_argument("--method", choices=("fused", "gated"), action="append")
    options = parser.parse_args()
    conversations = SOURCES[options.source]()
    vectors = Vectors.open(wanted(conversations))
    methods: list[Method] = options.method or ["fused", "gated"]
    return int(sum(missed(conversations, vectors, method) for method in methods) > 0)


def missed(conversations: Sequence[Conversation], vectors: Vectors, method: Method) -> int:
    """Prints the rows of both orders; how many of their shares are below the least."""
    below = 0
    settled: dict[int, float] = {}
    for newest_first in (True, False):
        for share in reversed(SHARES):
            cases = [partly(each, vectors, share, newest_first=newest_first) for each in conversations]
            row = []
            for budget in BUDGETS:
                found = scored(cases, vectors, method, budget=budget)
                evidence = mean(found)
                reached = evidence / settled.setdefault(budget, evidence)
                is_below = reached < least(share)
                below += is_below
                row.append(f"{budget} {evidence:5.1f} ({reached:4.0%}{' missed' if is_below else ''})")
            order = "newest first" if newest_first else "any order"
            tokens = recalled(found)
            print(f"{method:6s} {order:12s} {share:4.0%}  {'  '.join(row)}  (n={len(found)}, {tokens:.0f} tokens)")
    return below


def least(share: float) -> float:
    """Of the settled recall, with this share of the vectors."""
    return next(reached for start, reached in LEAST if share >= start)


def partly(conversation: Conversation, vectors: Vectors, share: float, *, newest_first: bool) -> Case:
    """An index of the conversation in which whole turns are embedded until `share` of the texts are."""
    made = case(conversation, None)
    said = turns(conversation)[::-1]
    if not newest_first:
        random.Random(SEED).shuffle(said)
    texts = [made.index.texts(turn) for turn in said]
    left = round(share * sum(map(len, texts)))
    for turn, own in zip(said, texts, strict=True):
        if left <= 0:
            break
        made.index.add(turn, vectors.of(own))
        left -= len(own)
    return made


if __name__ == "__main__":
    sys.exit(main())
