"""How much of what a question needs is in the prompt: recall on its own, on an index of each conversation.

    python -m tests.bench.recall [--ablate | --curve]

The prompt has a window of the newest two turns (30 % of the budget and 1,200 tokens at most), excerpts at 4 tokens of
framing each, and the question. A turn of LoCoMo or BEAM counts if the whole of its text is there, an answer of the
authored conversations if its words are. Questions without evidence are left out. `window` has the newest turns alone,
`words` no vectors, `gated` what the gate gives. Macro over questions; of LoCoMo all categories unless said, adversarial
questions (5) in a column of their own as well.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from proxy.memory.recall import WEIGHTS, Weights
from tests.bench.context_data import Question, authored, beam, locomo
from tests.bench.recall_cases import Case, Method, Vectors, case, prompt, wanted

BUDGETS = (1_000, 2_000, 4_000)
AUTHORED_BUDGET, AUTHORED_WINDOW = 1_500, 600
SHARES = (0.1, 0.15, 0.2, 0.3, 0.4, 1.0)  # of a short conversation
CURVE = (-0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2)  # added to the floor
METHODS: tuple[Method, ...] = ("window", "words", "fused", "gated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ablate", action="store_true", help="what each weight is worth: at 0, halved, doubled")
    parser.add_argument("--curve", action="store_true", help="tokens recalled against evidence, as the floor moves")
    options = parser.parse_args()
    talks, chats, told = locomo(), beam(), authored()
    vectors = Vectors.open(wanted((*talks, *chats, *told)))
    sets = [[case(each, vectors) for each in conversations] for conversations in (talks, chats, told)]
    if options.ablate:
        ablate(sets, vectors)
        return
    if options.curve:
        curve(sets, vectors)
        return
    for method in METHODS:
        report(sets, vectors, method)


def report(sets: Sequence[Sequence[Case]], vectors: Vectors, method: Method) -> None:
    talks, chats, told = sets
    for budget in BUDGETS:
        shares = scored(talks, vectors, method, budget=budget)
        kinds = {
            "all": mean(shares),
            "1-4": mean(shares, lambda asked: asked.kind != "5"),
            "multi-hop": mean(shares, lambda asked: asked.kind == "1"),
            "adversarial": mean(shares, lambda asked: asked.kind == "5"),
        }
        row = "  ".join(f"{kind} {share:.1f}" for kind, share in kinds.items())
        print(f"{method:7s} LoCoMo {budget:5d}  {row}  (n={len(shares)}, recalled tokens {recalled(shares):.0f})")
    shares = scored(chats, vectors, method, budget=BUDGETS[-1])
    kinds = {kind: mean([each for each in shares if each[0].kind == kind]) for kind in _kinds(shares)}
    row = "  ".join(f"{kind} {share:.0f}" for kind, share in kinds.items())
    print(f"{method:7s} BEAM    4000  all {mean(shares):.1f}  ({row}, n={len(shares)})")
    told_es = [each for each in told if each.conversation.lang == "es"]
    for name, cases in (("authored", told), ("Spanish", told_es)):
        shares = scored(cases, vectors, method, budget=AUTHORED_BUDGET, limit=AUTHORED_WINDOW)
        newest = mean(shares, lambda asked: asked.kind == "updated_fact")
        stale = outdated(cases, vectors, method)
        print(
            f"{method:7s} {name} {AUTHORED_BUDGET}  answers {mean(shares):.1f}  newest value {newest:.1f}"
            f"  outdated alone {stale:.1f}  (n={len(shares)}, recalled tokens {recalled(shares):.0f})"
        )


Scored = list[tuple[Question, float, int]]  # what was asked, the share of its evidence, tokens recalled


def scored(
    cases: Sequence[Case],
    vectors: Vectors,
    method: Method,
    *,
    budget: int,
    limit: float | None = None,
    weights: Weights = WEIGHTS,
) -> Scored:
    found: Scored = []
    for each in cases:
        for asked in each.conversation.questions:
            if asked.evidence or asked.answers:
                made = prompt(each, asked, vectors, method, budget=budget, limit=limit, weights=weights)
                found.append((asked, made.evidence(asked), made.recalled))
    return found


def mean(shares: Scored, which: Callable[[Question], bool] = lambda _: True) -> float:
    chosen = [share for asked, share, _ in shares if which(asked)]
    return 100 * float(np.mean(chosen)) if chosen else float("nan")


def recalled(shares: Scored) -> float:
    return float(np.mean([tokens for _, _, tokens in shares]))


def outdated(cases: Sequence[Case], vectors: Vectors, method: Method) -> float:
    """Percent of updated facts whose old value is in the prompt, and not the new one."""
    alone = []
    for each in cases:
        for asked in each.conversation.questions:
            if asked.outdated:
                made = prompt(each, asked, vectors, method, budget=AUTHORED_BUDGET, limit=AUTHORED_WINDOW)
                said = "\n".join(made.texts).casefold()
                old = any(value.casefold() in said for value in asked.outdated)
                alone.append(old and not any(value.casefold() in said for value in asked.answers))
    return 100 * float(np.mean(alone)) if alone else float("nan")


def ablate(sets: Sequence[Sequence[Case]], vectors: Vectors) -> None:
    tried: dict[str, Weights] = {"as it is": WEIGHTS}
    for name in Weights.__slots__:
        value = getattr(WEIGHTS, name)
        for factor in (0, 0.5, 2):
            if factor or name not in ("saturation", "stretch_messages"):
                changed = type(value)(value * factor)
                tried[f"{name} {changed:g}"] = replace(WEIGHTS, **{name: changed})
    for label, weights in tried.items():
        talks, chats, told = sets
        row = [
            *(mean(scored(talks, vectors, "fused", budget=b, weights=weights)) for b in BUDGETS),
            mean(scored(chats, vectors, "fused", budget=BUDGETS[-1], weights=weights)),
            mean(
                scored(told, vectors, "fused", budget=AUTHORED_BUDGET, limit=AUTHORED_WINDOW, weights=weights),
            ),
        ]
        print(f"{label:22s} LoCoMo {row[0]:.1f} {row[1]:.1f} {row[2]:.1f}  BEAM {row[3]:.1f}  authored {row[4]:.1f}")


def curve(sets: Sequence[Sequence[Case]], vectors: Vectors) -> None:
    """What each step of the floor costs and finds; `flat`: a quarter of the best score, however much there is to
    choose from. Then the same of the share of a short conversation."""
    talks, chats, told = sets
    steps = {f"{shift:+.2f}": replace(WEIGHTS, floor=WEIGHTS.floor + shift) for shift in CURVE}
    flat = replace(WEIGHTS, floor=0.25, floor_per_filling=0.0, floor_by_words=0.0)
    for label, weights in {"flat": flat, **steps}.items():
        rows = [
            *(scored(talks, vectors, "fused", budget=b, weights=weights) for b in BUDGETS),
            scored(chats, vectors, "fused", budget=BUDGETS[-1], weights=weights),
            scored(told, vectors, "fused", budget=AUTHORED_BUDGET, limit=AUTHORED_WINDOW, weights=weights),
        ]
        names = (*(f"LoCoMo {b}" for b in BUDGETS), "BEAM", "authored")
        cells = (f"{name} {mean(row):.1f} % of {recalled(row):.0f}" for name, row in zip(names, rows, strict=True))
        print(f"{label:6s} {'  '.join(cells)}")

    for share in SHARES:
        row = scored(
            told,
            vectors,
            "fused",
            budget=AUTHORED_BUDGET,
            limit=AUTHORED_WINDOW,
            weights=replace(WEIGHTS, share=share),
        )
        print(f"a share of {share:.2f}  authored {mean(row):.1f} % of {recalled(row):.0f}")


def _kinds(shares: Scored) -> list[str]:
    return sorted({asked.kind for asked, _, _ in shares})


if __name__ == "__main__":
    main()
