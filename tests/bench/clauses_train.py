"""Learns `proxy/memory/learned.npz`: where clauses begin, which state something lasting, and what about.

    python -m tests.bench.clauses_train [--write] [FILE.jsonl …]

Material: `clauses.jsonl` beside this file, messages written by authors who had not seen the code, cut into clauses, each
with a label ("": nothing to keep, "?": arguable, left out). Prints recall and precision on files that were left out, one
after the other, and then learns from all of them.
"""

import argparse
import io
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from proxy.memory import clauses, learned
from proxy.memory.learned import ATTRIBUTES

HERE = Path(__file__).parent
MATERIAL = HERE / "clauses.jsonl"
PENALTY = 12.0


def read(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def rows_of(messages: Sequence[dict[str, Any]]) -> list[tuple[tuple[list[str], ...], str]]:
    rows = []
    for message in messages:
        texts = [text for text, _ in message["clauses"]]
        for at, (_, label) in enumerate(message["clauses"]):
            if label != "?":
                rows.append((clauses.features(texts, at, message["lang"]), label))
    return rows


def cuts_of(messages: Sequence[dict[str, Any]]) -> tuple[list[list[str]], list[bool]]:
    inputs, begins = [], []
    for message in messages:
        if any(label == "+" for _, label in message["clauses"]) or message.get("author", "")[:1] == "d":
            continue  # cut by what was learnt before
        texts = [text for text, _ in message["clauses"]]
        whole = " ".join(texts)
        starts = {0}
        at = 0
        for text in texts:
            starts.add(at)
            at += len(text) + 1
        for start, end in clauses.sentences(whole):
            said = clauses.tokens(whole[start:end])
            for number, token in enumerate(said):
                if number and clauses.may_begin(said, number):
                    inputs.append(clauses.boundaries(said, number))
                    begins.append(start + token.start in starts)
    return inputs, begins


def sparse(vectors: Sequence[dict[int, float]], buckets: int) -> csr_matrix:
    row, column, value = [], [], []
    for at, vector in enumerate(vectors):
        for bucket, weight in vector.items():
            row.append(at)
            column.append(bucket)
            value.append(weight)
    return csr_matrix((value, (row, column)), shape=(len(vectors), buckets))


def fit(inputs: csr_matrix, wanted: Sequence[Any], penalty: float = PENALTY) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=4000).fit(inputs, wanted)


def quantised(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = np.abs(weights).max(axis=1) / 127
    return np.round(weights / scale[:, None]).astype(np.int8).T.copy(), scale.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    chosen = parser.parse_args()
    messages = [message for path in (chosen.files or [MATERIAL]) for message in read(path)]
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for message in messages:
        groups[message.get("author", "")].append(message)
    print(len(messages), "messages", {name: len(group) for name, group in groups.items()})
    if chosen.folds:
        scored: list[tuple[float, bool]] = []
        cut: list[tuple[float, bool]] = []
        named = [0, 0]
        for left_out in groups:
            train = [message for name, group in groups.items() if name != left_out for message in group]
            rows, test = rows_of(train), rows_of(groups[left_out])
            model = fit(sparse([learned.fact_vector(f) for f, _ in rows], learned.FACT), [bool(l) for _, l in rows])
            p = model.predict_proba(sparse([learned.fact_vector(f) for f, _ in test], learned.FACT))[:, 1]
            scored += zip(p, (bool(label) for _, label in test), strict=True)
            about = [(f, l) for f, l in rows if l not in ("", "+")]
            model = fit(sparse([learned.about_vector(f) for f, _ in about], learned.ABOUT), [l for _, l in about])
            print(left_out, end=" ")
            pp = np.array(p)
            tt = np.array([bool(l) for _, l in test])
            print(
                " ".join(
                    f"{th}: {((pp > th) & tt).sum() / tt.sum():.3f}/{((pp > th) & tt).sum() / (pp > th).sum():.3f}"
                    for th in (0.3, 0.4, 0.5, 0.6)
                )
            )
            told = [(f, l) for f, l in test if l not in ("", "+")]
            guess = [] if not told else model.predict(sparse([learned.about_vector(f) for f, _ in told], learned.ABOUT))
            if told:
                named[0] += sum(g == l for g, (_, l) in zip(guess, told, strict=True))
            named[1] += len(told)
            inputs, begins = cuts_of(train)
            model = fit(sparse([learned.cut_vector(f) for f in inputs], learned.CUT), begins)
            inputs, begins = cuts_of(groups[left_out])
            if not inputs:
                continue
            cut += zip(
                model.predict_proba(sparse([learned.cut_vector(f) for f in inputs], learned.CUT))[:, 1],
                begins,
                strict=True,
            )
        for name, pairs in (("fact", scored), ("cut", cut)):
            p, t = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
            print(
                name,
                " ".join(
                    f"{th}: {((p > th) & t).sum() / t.sum():.3f}/{((p > th) & t).sum() / (p > th).sum():.3f}"
                    for th in (0.3, 0.4, 0.5, 0.6, 0.7)
                ),
                len(t),
                t.sum(),
            )
        print("attribute", named[0] / named[1])
    if chosen.write:
        rows = rows_of(messages)
        fact = fit(sparse([learned.fact_vector(f) for f, _ in rows], learned.FACT), [bool(label) for _, label in rows])
        about_rows = [(f, label) for f, label in rows if label not in ("", "+")]
        about = fit(
            sparse([learned.about_vector(f) for f, _ in about_rows], learned.ABOUT),
            [ATTRIBUTES.index(label) for _, label in about_rows],
        )
        inputs, begins = cuts_of(messages)
        cut_model = fit(sparse([learned.cut_vector(f) for f in inputs], learned.CUT), begins)
        arrays = {}
        for name, model in (("fact", fact), ("about", about), ("cut", cut_model)):
            coefficients = model.coef_
            if name == "about":
                coefficients = np.zeros((len(ATTRIBUTES), learned.ABOUT))
                coefficients[model.classes_] = model.coef_
                intercept = np.full(len(ATTRIBUTES), -10.0)
                intercept[model.classes_] = model.intercept_
            else:
                intercept = model.intercept_
            weights, scale = quantised(
                np.where(np.abs(coefficients).max(axis=1, keepdims=True) > 0, coefficients, 1e-9)
            )
            arrays |= {
                f"{name}_weights": weights,
                f"{name}_scale": scale,
                f"{name}_intercept": intercept.astype(np.float32),
            }
        written = io.BytesIO()
        np.savez_compressed(written, **arrays)
        learned.FILE.write_bytes(written.getvalue())
        print("wrote", learned.FILE, len(written.getvalue()))


if __name__ == "__main__":
    main()
