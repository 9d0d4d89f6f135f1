"""Learns `proxy/reuse/learned.json`, and prints what it does to sentences it has not seen.

    python -m tests.bench.bypass_train [--write] [--unseen] [--test FILE.jsonl]

Material: `bypass_sentences.jsonl`, `gate_dev.jsonl` (the questions of the pairs that reuse is built on, read and
labelled by somebody else), `gate_more.jsonl` (messages of two classes that look alike) and the templates beside this
file, the tables of tests/reuse/test_cacheable.py, and, from `OLVIDO_EVAL_DATA`, the authored messages and a sample of
ordinary questions, taken for cacheable at a smaller weight since some are not. One pass learns with everything; the
features with the largest weights stay, and a second learns those. A message counts twice, with its embedding and
without. What the lists say of sentences that they were written from is hidden, or they would be trusted beyond their
worth. Rates are of five folds of the first three, two questions of a pair in one; the thresholds let through what
cacheable messages of the strictest of them need.
"""

import argparse
import asyncio
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from proxy.embedding.engines import LocalEngine
from proxy.embedding.exported import BUILTIN
from proxy.reuse import cacheable as cacheable_gate
from proxy.reuse.cacheable import ASKED, VERDICTS, grouped, listed, verdicts
from proxy.types import Vector
from tests.bench.bypass import DATA
from tests.bench.bypass_frames import sentences
from tests.reuse.test_cacheable import NEVER_REUSED, REUSABLE

Floats = npt.NDArray[np.float64]

HERE = Path(__file__).parent
SENTENCES = HERE / "bypass_sentences.jsonl"
QUESTIONS = HERE / "gate_dev.jsonl"
ALIKE = HERE / "gate_more.jsonl"
TRIED = ("sentences", "questions", "alike")
QUESTION_WEIGHT = 0.7  # of a question of a pair: its other one says the same or nearly
FEATURES = 8000
FOLDS = 5
PENALTY = 100.0
VECTOR_SCALE = 2.0
LIST_SCALE = 0.5
WRONGLY_BYPASSED = 0.06  # of the unseen cacheable messages of a source: where the thresholds are put
DIMENSIONS = 384
# Ordinary questions: how many of each set, of each language.
ORDINARY = {"xquad": 800, "qqp": 2500, "checklist": 600, "mqp": 400}
TASKS = 200  # of tod: what assistants are told to do, and asked about the weather


class Row(NamedTuple):
    text: str
    label: str
    language: str = ""
    weight: float = 1.0
    hears_lists: bool = True
    fold: int = -1  # -1: never left out
    source: str = ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the weights")
    parser.add_argument("--unseen", action="store_true", help="learn without the authored messages, and measure them")
    parser.add_argument("--test", type=Path, help="messages that are only measured")
    chosen = parser.parse_args()
    rows = material()
    test = DATA if chosen.unseen else chosen.test
    known = [Row(**row) for row in read(test)] if test else []
    if chosen.unseen:
        unseen_texts = {row.text for row in known}
        rows = [row for row in rows if row.text not in unseen_texts]
    vectors = asyncio.run(embedded([row.text for row in (*rows, *known)]))
    print(Counter(row.label for row in rows))

    columns = vocabulary(rows, matrix(rows, vectors, None), labels(rows))
    inputs = matrix(rows, vectors, columns)
    unseen = np.full((len(rows), 2), np.nan)
    folds = np.array([row.fold for row in rows])
    for fold in range(FOLDS):
        weights = fitted(rows, inputs, np.flatnonzero(folds != fold))
        left_out = np.flatnonzero(folds == fold)
        unseen[left_out] = both(inputs[left_out], weights)
    plain = [[at for at, row in enumerate(rows) if row.source == of and row.label == "cacheable"] for of in TRIED]
    thresholds = np.max([np.quantile(unseen[those], 1 - WRONGLY_BYPASSED, axis=0) for those in plain], axis=0)
    weights = fitted(rows, inputs, np.arange(len(rows)))
    for source in TRIED:
        tried = [at for at, row in enumerate(rows) if row.source == source]
        report(f"five folds, {source}", [rows[at] for at in tried], unseen[tried] > thresholds)
    if known:
        report(str(test), known, both(matrix(known, vectors, columns), weights) > thresholds)
    if chosen.write:
        write(columns, weights, thresholds)


def material() -> list[Row]:
    """Everything to learn from, in an order that depends on nothing."""
    rows = [Row(**row)._replace(fold=_fold(row["text"]), source="sentences") for row in read(SENTENCES)]
    rows += (Row(**row)._replace(fold=_fold(row["text"]), source="alike") for row in read(ALIKE))
    pairs = [str(row["pair"]) for row in _jsonl(QUESTIONS)]
    for row, pair in zip(read(QUESTIONS), pairs, strict=True):
        rows.append(Row(**row)._replace(fold=_fold(pair), source="questions", weight=QUESTION_WEIGHT))
    for language in ("es", "en"):
        templated = sentences(HERE / f"bypass_frames_{language}.txt", language)
        rows += (Row(text, label, language, 0.5, hears_lists=_often(text)) for text, label, language in templated)
    for text in NEVER_REUSED.strip().splitlines():
        rows.append(Row(text, listed(text) or "time_dependent", weight=3.0, hears_lists=False))
    rows += (Row(text, "cacheable", weight=3.0) for text in REUSABLE.strip().splitlines())
    rows += (Row(**row)._replace(hears_lists=row["label"] == "cacheable") for row in read(DATA))
    return rows + ordinary(DATA.parents[1])


def ordinary(data: Path) -> list[Row]:
    rows = []
    for language in ("es", "en"):
        for pair in _jsonl(data / "authored" / f"pairs_{language}.jsonl"):
            rows += [Row(pair[side], "cacheable", language, 0.4) for side in "ab"]
    asked: dict[tuple[str, str], dict[str, None]] = {}
    for pair in _jsonl(data / "dedup_pairs.jsonl"):
        asked.setdefault((pair["ds"], pair["lang"]), {}).update(dict.fromkeys((pair["a"], pair["b"])))
    for (name, language), texts in sorted(asked.items()):
        sample = sorted(texts, key=lambda text: zlib.crc32(text.encode()))
        if name == "tod":
            tasks = sample[:TASKS]
            rows += (Row(text, listed(text) or "time_dependent", language, 0.4) for text in tasks)
        elif name in ORDINARY:
            # Of Quora's questions many are of their day; those on which the lists are silent are mostly not.
            calm = [text for text in sample if name == "xquad" or listed(text) is None]
            rows += (Row(text, "cacheable", language, 0.4) for text in calm[: ORDINARY[name]])
    return [*{row.text: row for row in rows}.values()]


def read(path: Path) -> list[dict[str, Any]]:
    """Fields of Rows."""
    return [{"text": row["text"], "label": row["class"], "language": row["lang"]} for row in _jsonl(path)]


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def _fold(name: str) -> int:
    return zlib.crc32(name.encode()) % FOLDS


def _often(text: str) -> bool:
    return zlib.crc32(text.encode()) % 2 == 0


async def embedded(texts: Sequence[str]) -> dict[str, Vector]:
    with tempfile.TemporaryDirectory() as folder:
        engine = LocalEngine(BUILTIN, [Path(folder)])
        await engine.open()
        found = {text: (await engine.vectors([text]))[0] for text in dict.fromkeys(texts)}
        await engine.close()
    return found


def labels(rows: Sequence[Row]) -> npt.NDArray[np.str_]:
    return np.array([row.label for row in rows])


def matrix(rows: Sequence[Row], vectors: dict[str, Vector], columns: dict[str, int] | None) -> Any:
    """Features, what the lists say, 1, embedding: a row each. Without `columns`, all features there are, by name."""
    names = columns if columns is not None else every_feature(rows)
    at, to, values = [], [], []
    for number, row in enumerate(rows):
        for group in grouped(row.text):
            for name in group:
                if name in names:
                    at.append(number)
                    to.append(names[name])
                    values.append(len(group) ** -0.5)
    features = sparse.csr_matrix((values, (at, to)), shape=(len(rows), len(names)))
    heard = [verdicts(row.text) if row.hears_lists else () for row in rows]
    said = sparse.csr_matrix([[LIST_SCALE * (verdict in found) for verdict in VERDICTS] for found in heard])
    ones = sparse.csr_matrix(np.ones((len(rows), 1)))
    meanings = sparse.csr_matrix(np.array([vectors[row.text] * VECTOR_SCALE for row in rows]))
    return sparse.hstack([features, said, ones, meanings]).tocsr()


def every_feature(rows: Sequence[Row]) -> dict[str, int]:
    seen = Counter(name for row in rows for group in grouped(row.text) for name in group)
    return {name: number for number, name in enumerate(sorted(name for name, count in seen.items() if count > 1))}


def vocabulary(rows: Sequence[Row], inputs: Any, known: npt.NDArray[np.str_]) -> dict[str, int]:
    """The features that decide most: by the largest weight, times the root of how many messages have them."""
    assert len(known) == len(rows)
    names = [*every_feature(rows)]
    weights = fitted(rows, inputs, np.arange(len(rows)))
    often = np.asarray((inputs[:, : len(names)] > 0).sum(axis=0)).ravel()
    decides = np.abs(weights[:, : len(names)]).max(axis=0) * np.sqrt(often)
    kept = sorted(names[column] for column in np.argsort(-decides, kind="stable")[:FEATURES])
    return {name: number for number, name in enumerate(kept)}


def fitted(rows: Sequence[Row], inputs: Any, chosen: npt.NDArray[np.intp]) -> Floats:
    """Three rows of weights, in the order of ASKED: each class against the cacheable."""
    known, counts = labels(rows), np.array([row.weight for row in rows])
    found = []
    for asked in ASKED:
        of = chosen[(known[chosen] == asked) | (known[chosen] == "cacheable")]
        twice = sparse.vstack([inputs[of], without_embedding(inputs[of])]).tocsr()
        model = LogisticRegression(C=PENALTY, solver="liblinear", fit_intercept=False, random_state=0)
        model.fit(twice, np.tile(known[of] == asked, 2), sample_weight=np.tile(counts[of] / 2, 2))
        found.append(model.coef_[0])
    return np.array(found)


def without_embedding(inputs: Any) -> Any:
    kept = inputs.shape[1] - DIMENSIONS
    return sparse.hstack([inputs[:, :kept], sparse.csr_matrix((inputs.shape[0], DIMENSIONS))]).tocsr()


def both(inputs: Any, weights: Floats) -> Floats:
    """The largest score of every message: with its embedding, without."""
    return np.stack([(form @ weights.T).max(axis=1) for form in (inputs, without_embedding(inputs))], axis=1)


def report(title: str, rows: Sequence[Row], bypassed: npt.NDArray[np.bool_]) -> None:
    print(f"{title}\n{'class':16}{'lang':6}{'n':>6}{'bypassed':>10}{'text only':>11}")
    for label, language in sorted({(row.label, row.language) for row in rows}):
        hits = bypassed[[row.label == label and row.language == language for row in rows]]
        print(f"{label:16}{language:6}{len(hits):6}{hits[:, 0].mean():10.1%}{hits[:, 1].mean():11.1%}")


def write(columns: dict[str, int], weights: Floats, thresholds: Floats) -> None:
    said = slice(len(columns), len(columns) + len(VERDICTS))
    found = cacheable_gate.Weights(
        threshold=round(float(thresholds[0]), 2),
        threshold_text=round(float(thresholds[1]), 2),
        bias=_triple(weights[:, said.stop]),
        verdicts={name: _triple(of) for name, of in zip(VERDICTS, weights[:, said].T * LIST_SCALE, strict=True)},
        vector=tuple([_tenths(weight) for weight in of] for of in weights[:, -DIMENSIONS:] * VECTOR_SCALE),  # type: ignore[arg-type]  # one of each ASKED
        features={name: _triple(weights[:, column]) for name, column in columns.items()},
    )
    text = msgspec.json.encode(found).decode().replace("],", "],\n")
    Path(cacheable_gate.__file__).with_name("learned.json").write_text(text + "\n", encoding="utf-8")


def _tenths(value: float) -> int:
    return round(float(value) * 10)


def _triple(values: Floats) -> tuple[int, int, int]:
    time, effect, feeling = map(_tenths, values)
    return time, effect, feeling


if __name__ == "__main__":
    main()
