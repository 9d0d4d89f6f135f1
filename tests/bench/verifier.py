"""Learns the weights of `proxy.reuse.verifier` from the development data, and measures them by cross-validation.

    python -m tests.bench.verifier [--threshold 0.65]

Prints a table to paste into WEIGHTS. Deterministic: a logistic regression by Newton's method, folds by the question's
hash (CheckList's by phenomenon: its rows are made of one template). Pairs that a guard rejects, that agree in every
word, or that the verifier is never asked about are not learned from. Reads `OLVIDO_EVAL_DATA`.
"""

import asyncio
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxy.language.language import language_of
from proxy.reuse.align import align
from proxy.reuse.guards import QUESTION_GUARDS
from proxy.reuse.question import analyse, warm
from proxy.reuse.roles import ALIGNED_GUARDS
from proxy.reuse.verdict import judge, left_over
from proxy.reuse.verifier import evidence, is_out_of_bounds
from tests.bench import reuse_data
from tests.bench.reuse_data import Pair
from tests.bench.reuse_stage import CHUNK, open_stage

LOWEST = 0.8  # cosine of pairs that are learned from
SERVED = 0.85  # and of those that are asked about
AGREED = 0.4
FOLDS = 8
PENALTY = 1.0
TEMPLATES = 0.3  # what a row of CheckList weighs: there are a hundred of each
HARD = 3.0  # what a negative weighs that was written to be one: QQP's own are half wrong

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    pair: Pair
    cosine: float
    features: dict[str, float]

    @property
    def weight(self) -> float:
        template = TEMPLATES if self.pair.source == "checklist" else 1.0
        return template * (HARD if self.pair.source != "qqp" and not self.pair.label else 1.0)

    @property
    def fold(self) -> int:
        template = self.pair.phenomenon if self.pair.source == "checklist" else self.pair.a
        return zlib.crc32(template.encode()) % FOLDS


async def cosines(pairs: Sequence[Pair]) -> list[float]:
    found: list[float] = []
    async with open_stage() as stage:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in (pair.a, pair.b)))
            vector = dict(zip(texts, await stage.intent.embedder.embed(texts), strict=True))
            found += [float(vector[pair.a] @ vector[pair.b]) for pair in chunk]
    return found


def example(pair: Pair, cosine: float) -> Example | None:
    asked, earlier = analyse(pair.a, language_of(pair.lang)), analyse(pair.b, language_of(pair.lang))
    if cosine < LOWEST or any(differs(asked, earlier) for differs in QUESTION_GUARDS.values()):
        return None
    if asked.is_long or earlier.is_long:
        return None
    alignment = align(asked, earlier)
    over = left_over(alignment)
    if is_out_of_bounds(alignment, *over) or any(differs(alignment) for differs in ALIGNED_GUARDS.values()):
        return None
    return Example(pair, cosine, evidence(alignment, *over, cosine))


def learn(examples: Sequence[Example], names: Sequence[str]) -> Floats:
    matrix = np.array([[each.features[name] for name in names] for each in examples])
    truth = np.array([each.pair.label for each in examples], dtype=np.float64)
    weight = np.array([each.weight for each in examples])
    penalty = np.diag([0.0 if name == "always" else PENALTY for name in names])
    found = np.zeros(len(names))
    for _ in range(25):
        guess = 1 / (1 + np.exp(-matrix @ found))
        slope = matrix.T @ (weight * (truth - guess)) - penalty @ found
        curve = (matrix * (weight * guess * (1 - guess))[:, None]).T @ matrix + penalty
        found = found + np.linalg.solve(curve, slope)
    return found


def main(threshold: float) -> None:
    if not reuse_data.PAIRS.exists():
        print(f"skipped: no evaluation data at {reuse_data.FOLDER} (set OLVIDO_EVAL_DATA)")
        return
    warm()
    pairs = [pair for pair in reuse_data.pairs() if pair.source != "tod" and not pair.is_mislabelled]
    found = asyncio.run(cosines(pairs))
    agreed: Counter[tuple[str, int]] = Counter()
    examples: list[Example] = []
    for pair, cosine in zip(pairs, found, strict=True):
        questions = analyse(pair.a, language_of(pair.lang)), analyse(pair.b, language_of(pair.lang))
        if judge(*questions, cosine, min_cosine=2.0, min_cosine_agreed=AGREED, paraphrases=True).reused:
            agreed[pair.source, pair.label] += 1
        elif one := example(pair, cosine):
            examples.append(one)
    names = list(examples[0].features)
    hits: Counter[tuple[str, str, int]] = Counter()
    for fold in range(FOLDS):
        weights = learn([each for each in examples if each.fold != fold], names)
        for each in examples:
            if each.fold == fold and each.cosine >= SERVED:
                score = sum(weights[at] * each.features[name] for at, name in enumerate(names))
                hits[each.pair.source, each.pair.lang, each.pair.label] += 1 / (1 + np.exp(-score)) >= threshold
    print({key: int(n) for key, n in sorted(hits.items())}, "of", len(examples))
    positives = sum(pair.source == "qqp" and pair.label == 1 for pair in pairs)
    right, wrong = (agreed["qqp", label] + hits["qqp", "en", label] for label in (1, 0))
    print(f"QQP: recall {right / positives:.3f}, precision {right / (right + wrong):.3f}")
    for name, weight in zip(names, learn(examples, names), strict=True):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main(float(sys.argv[sys.argv.index("--threshold") + 1]) if "--threshold" in sys.argv else 0.65)
