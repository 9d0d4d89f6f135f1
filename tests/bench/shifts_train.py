"""Learns the weights of `proxy.conversation.topics` from conversations whose topic shifts are labelled.

    python -m tests.bench.shifts_train [--penalty 3]

Prints a table to paste into WEIGHTS, and how well each conversation's shifts are found by weights that were learned
from the others alone, at several thresholds; turn by turn, the age of a topic by the shifts that were found before.
Deterministic: a logistic regression by Newton's method on standardised evidence. Announced turns are not learned from.
Reads `OLVIDO_EVAL_DATA`.
"""

import argparse
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from proxy.conversation.topics import continuity, evidence, phrase
from tests.bench.topics_data import FOLDER, Conversation, conversations, cosines

Floats = npt.NDArray[np.float64]
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5)


def near(told: Conversation, turn: int, cosine: float) -> float:
    return continuity(told.message(turn), told.before(turn), cosine)


def examples(told: Conversation, cosine: Sequence[float]) -> list[tuple[dict[str, float], bool]]:
    found, begun = [], 1
    for turn in range(2, len(told.turns) + 1):
        is_shift = turn in told.shifts
        if not phrase(told.message(turn)):
            close = near(told, turn, cosine[turn - 1])
            found.append((evidence(told.message(turn), told.before(turn), since=turn - begun, near=close), is_shift))
        begun = turn if is_shift else begun
    return found


def learn(rows: Sequence[tuple[Mapping[str, float], bool]], penalty: float) -> dict[str, float]:
    names = list(rows[0][0])
    matrix = np.array([[found[name] for name in names] for found, _ in rows])
    truth = np.array([is_shift for _, is_shift in rows], np.float64)
    mean, spread = matrix.mean(0), matrix.std(0)
    always = names.index("always")
    mean[always], spread[spread == 0] = 0.0, 1.0
    scaled = (matrix - mean) / spread
    ridge = np.diag([0.0 if name == "always" else penalty for name in names])
    weights: Floats = np.zeros(len(names))
    for _ in range(25):
        guess = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (truth - guess) - ridge @ weights
        curve = (scaled * (guess * (1 - guess))[:, None]).T @ scaled + ridge
        weights = weights + np.linalg.solve(curve, slope)
    raw = weights / spread
    raw[always] -= float(raw @ mean)
    return dict(zip(names, raw.tolist(), strict=True))


def found_in(told: Conversation, cosine: Sequence[float], weights: Mapping[str, float], threshold: float) -> set[int]:
    """Turns that change the topic, by these weights."""
    found, begun = set(), 1
    least = np.log(threshold / (1 - threshold))
    for turn in range(2, len(told.turns) + 1):
        message, before = told.message(turn), told.before(turn)
        known = evidence(message, before, since=turn - begun, near=near(told, turn, cosine[turn - 1]))
        if phrase(message) or sum(weights[name] * value for name, value in known.items()) > least:
            found.add(turn)
            begun = turn
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--penalty", type=float, default=3.0)
    penalty = parser.parse_args().penalty
    if not FOLDER.exists():
        print(f"skipped: no evaluation data at {FOLDER} (set OLVIDO_EVAL_DATA)")
        return
    told = conversations()
    cosine = cosines(told)
    rows = [examples(*each) for each in zip(told, cosine, strict=True)]
    learned = [
        learn([row for other, group in enumerate(rows) if other != at for row in group], penalty)
        for at in range(len(told))
    ]
    for threshold in THRESHOLDS:
        right = wrong = missed = 0
        for each, near_each, weights in zip(told, cosine, learned, strict=True):
            found = found_in(each, near_each, weights, threshold)
            right += len(found & each.shifts.keys())
            wrong += len(found - each.shifts.keys())
            missed += len(each.shifts.keys() - found)
        print(f"unseen, threshold {threshold}: F1 {2 * right / (2 * right + wrong + missed):.3f}", end=" ")
        print(f"({right} right, {wrong} wrong, {missed} missed)")
    for name, weight in learn([row for group in rows for row in group], penalty).items():
        print(f'        "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
