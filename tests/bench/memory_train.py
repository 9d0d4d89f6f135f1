"""The training of `proxy/memory/clause_models.npz`: where clauses begin, which state something lasting and what about,
and what questions need.

    python -m tests.bench.memory_train [--write] [--folds]

Material, by authors who had not seen the code: `clauses.jsonl`, messages cut into clauses, each with a label ("":
nothing to keep, "?": arguable, left out, "+": a fact, unsaid what about), and `needs.jsonl`, questions with the kinds
of facts that a good answer needs. `--folds` prints recall and precision on each author's messages, learnt from all
others', and on a fifth of the questions, learnt from the rest; `--write` learns from all and replaces the weights.
"""

import argparse
import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from proxy.linear import hashed
from proxy.memory import clauses, predictions
from proxy.memory.predictions import ATTRIBUTES, KINDS, Features
from proxy.memory.signals import spoken_in
from proxy.memory.tokens import starts as tokens_at
from proxy.memory.tokens import tokens

HERE = Path(__file__).parent
CLAUSES, NEEDS = HERE / "clauses.jsonl", HERE / "needs.jsonl"
PENALTY = 12.0
NEED_PENALTY = 50.0
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
FOLDS = 5

Rows = list[tuple[Features, str]]
Floats = npt.NDArray[np.float64]


def read(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def labelled(messages: Sequence[dict[str, Any]]) -> Rows:
    """The features of each clause, and its label."""
    return [
        (predictions.features(texts, at, message["lang"]), label)
        for message in messages
        for texts in [[text for text, _ in message["clauses"]]]
        for at, (_, label) in enumerate(message["clauses"])
        if label != "?"
    ]


def beginnings(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[list[int], bool]]:
    """Of each place where a clause could begin: its features, and whether one does."""
    for message in messages:
        if message["author"].startswith("d"):
            continue  # cut by what was learnt before
        texts = [text for text, _ in message["clauses"]]
        whole = " ".join(texts)
        starts = {sum(len(text) + 1 for text in texts[:at]) for at in range(len(texts))}
        for start, end in clauses.sentences(whole):
            said = tokens(whole[start:end])
            for at, place in enumerate(tokens_at(whole[start:end])):
                if at and clauses.may_begin(said, at):
                    yield clauses.boundaries(clauses.surrounded(said), at), start + place in starts


def sparse(vectors: Sequence[dict[int, float]], buckets: int) -> csr_matrix:
    rows = np.repeat(np.arange(len(vectors)), [len(vector) for vector in vectors])
    columns = np.fromiter((bucket for vector in vectors for bucket in vector), dtype=np.intp, count=len(rows))
    values = np.fromiter((weight for vector in vectors for weight in vector.values()), dtype=float, count=len(rows))
    return csr_matrix((values, (rows, columns)), shape=(len(vectors), buckets))


def fit(inputs: csr_matrix, wanted: Sequence[Any], penalty: float = PENALTY) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=4000).fit(inputs, wanted)


def facts_of(rows: Rows) -> tuple[csr_matrix, list[bool]]:
    return sparse([hashed(predictions.said_groups(found), predictions.FACT) for found, _ in rows], predictions.FACT), [
        bool(label) for _, label in rows
    ]


def abouts_of(rows: Rows) -> tuple[csr_matrix, list[str]]:
    told = [(found, label) for found, label in rows if label not in ("", "+")]
    return sparse(
        [hashed(predictions.about_groups(found), predictions.ABOUT) for found, _ in told], predictions.ABOUT
    ), [label for _, label in told]


def cuts_of(messages: Sequence[dict[str, Any]]) -> tuple[csr_matrix, list[bool]]:
    found = list(beginnings(messages))
    return sparse([hashed([(each, 1.0)], clauses.CUT) for each, _ in found], clauses.CUT), [
        begins for _, begins in found
    ]


def questions(rows: Sequence[dict[str, Any]]) -> csr_matrix:
    found = [predictions.features([row["question"]], 0, spoken_in(row["question"])) for row in rows]
    return sparse([hashed(predictions.said_groups(each), predictions.NEED) for each in found], predictions.NEED)


def curve(
    name: str,
    found: Sequence[float] | Floats,
    wanted: Sequence[bool] | npt.NDArray[np.bool_],
    thresholds: Sequence[float] = THRESHOLDS,
) -> None:
    """Recall and precision at each threshold."""
    likely, right = np.array(found), np.array(wanted)

    def at(limit: float) -> str:
        above = likely > limit
        both = (right & above).sum()
        return f"{limit}: {both / right.sum():.3f} / {both / max(1, above.sum()):.3f}"

    told = map(at, thresholds)
    print(f"{name:20} n {len(right):6} of them {right.sum():5}  recall / precision  {'   '.join(told)}")


def report(messages: Sequence[dict[str, Any]], needs: Sequence[dict[str, Any]]) -> None:
    by_author: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for message in messages:
        by_author[message["author"]].append(message)
    fact: list[tuple[float, bool]] = []
    cut: list[tuple[float, bool]] = []
    right = told = 0
    for author in by_author:
        others = [message for name, group in by_author.items() if name != author for message in group]
        rows, test = labelled(others), labelled(by_author[author])
        inputs, wanted = facts_of(test)
        likely = fit(*facts_of(rows)).predict_proba(inputs)[:, 1]
        curve(author, likely, wanted)
        fact += zip(likely, wanted, strict=True)
        inputs, labels = abouts_of(test)
        if labels:
            right += sum(fit(*abouts_of(rows)).predict(inputs) == np.array(labels))
            told += len(labels)
        inputs, wanted = cuts_of(by_author[author])
        if wanted:
            cut += zip(fit(*cuts_of(others)).predict_proba(inputs)[:, 1], wanted, strict=True)
    for name, pairs in (("facts", fact), ("beginnings", cut)):
        curve(name, [likely for likely, _ in pairs], [wanted for _, wanted in pairs])
    print(f"what about: {right / told:.1%} of {told}")
    inputs, any_need = questions(needs), np.array([bool(row["needs"]) for row in needs])
    fold = np.random.default_rng(0).integers(0, FOLDS, len(needs))
    likely = np.zeros(len(needs))
    for number in range(FOLDS):
        rest = fold != number
        likely[~rest] = fit(inputs[rest], any_need[rest], NEED_PENALTY).predict_proba(inputs[~rest])[:, 1]
    curve("questions", likely, any_need)


def quantised(model: LogisticRegression, order: Sequence[str] | None = None) -> dict[str, Any]:
    """Weights as bytes, a scale for each class; a class that was never seen is never the likeliest."""
    weights, intercept = model.coef_, model.intercept_
    if order is not None:
        places = [order.index(label) for label in model.classes_]
        every, never = np.zeros((len(order), weights.shape[1])), np.full(len(order), -10.0)
        every[places], never[places] = weights, intercept
        weights, intercept = every, never
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-9) / 127
    return {
        "weights": np.round(weights / scale[:, None]).astype(np.int8).T.copy(),
        "scale": scale.astype(np.float32),
        "intercept": intercept.astype(np.float32),
    }


def write(messages: Sequence[dict[str, Any]], needs: Sequence[dict[str, Any]]) -> None:
    rows, inputs = labelled(messages), questions(needs)
    kinds = [(at, kind) for at, row in enumerate(needs) for kind in row["needs"]]
    trained = {
        "fact": quantised(fit(*facts_of(rows))),
        "about": quantised(fit(*abouts_of(rows)), ATTRIBUTES),
        "cut": quantised(fit(*cuts_of(messages))),
        "need": quantised(fit(inputs, [bool(row["needs"]) for row in needs], NEED_PENALTY)),
        "kind": quantised(fit(inputs[[at for at, _ in kinds]], [kind for _, kind in kinds], NEED_PENALTY), KINDS),
    }
    written = io.BytesIO()
    np.savez_compressed(
        written, **{f"{name}_{part}": array for name, parts in trained.items() for part, array in parts.items()}
    )
    clauses.FILE.write_bytes(written.getvalue())
    print(f"{clauses.FILE.name}: {len(written.getvalue())} bytes")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the weights")
    parser.add_argument("--folds", action="store_true", help="measure on what was left out")
    chosen = parser.parse_args()
    messages, needs = read(CLAUSES), read(NEEDS)
    print(f"{len(messages)} messages, {len(needs)} questions")
    if chosen.folds:
        report(messages, needs)
    if chosen.write:
        write(messages, needs)


if __name__ == "__main__":
    main()
