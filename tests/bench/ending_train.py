"""The training of `proxy/memory/ending.npz`: which older statements a newer one ends.

    python -m tests.bench.ending_train [--write] [--folds]

Material, by authors who had not seen the code: `endings.jsonl`, groups of older statements and what was said after
them, with those that it `ends`; and the conversations of `told_dev.jsonl` in which something changes, as they are read.
`--folds` prints recall and precision over each author's groups, learnt from all others'; `--write` learns from all and
replaces the weights.
"""

import argparse
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from proxy.memory import ending
from proxy.memory.commands import commands
from proxy.memory.ending_features import pairs
from proxy.memory.extract import extract
from proxy.memory.likeness import compared
from proxy.memory.trees import Floats
from tests.bench.memory_train import curve, fit, quantised, read, sparse
from tests.bench.told import holds, is_known

HERE = Path(__file__).parent
ENDINGS, TOLD = HERE / "endings.jsonl", HERE / "told_dev.jsonl"
PENALTY = 8.0
FOLDS = 5  # over which the likelihoods of a change are made that the trees learn from
NATURAL = 3.0  # the weight of groups that were written as life has them, and of conversations
THRESHOLDS = (0.15, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    author: str
    older: tuple[str, ...]
    new: str
    ends: frozenset[int]
    changes: bool  # does it tell of a change, of whatever

    @property
    def is_natural(self) -> bool:
        return not self.author.startswith("p")


def groups() -> list[Group]:
    found = [_group(row) for row in read(ENDINGS)]
    return [group for each in found for group in each] + _conversations()


def _group(row: Mapping[str, Any]) -> list[Group]:
    """What one of several clauses ends is not said: those are left out."""
    if len(row["new"]) > 1 and row["ends"]:
        return []
    ends = frozenset(row["ends"])
    changes = row.get("changes", bool(ends))
    return [Group(row["author"], tuple(row["old"]), new, ends, changes) for new in row["new"]]


def _conversations() -> list[Group]:
    """What was read of each last message that says one thing, against all that was read before it."""
    found = []
    for row in read(TOLD):
        messages = [message for messages in row["conversations"] for message in messages]
        if row["kind"] != "statement" or row["class"] in ("forget", "back") or len(messages) == 1:
            continue
        if any(commands((message,)) for message in messages):
            continue
        *before, said = [[statement.value for statement in extract(message)] for message in messages]
        older = tuple(value for values in before for value in values)
        ends = {at for at, value in enumerate(older) if _is_gone(value, row)}
        if older and (len(said) == 1 or not ends):
            found += [Group("told", older, new, frozenset(ends), bool(ends)) for new in said]
    return found


def _is_gone(value: str, row: Mapping[str, Any]) -> bool:
    is_kept = any(holds(value, item) for item in row["keep"])
    return not is_kept and any(is_known(value, item) for item in row["gone"])


# --- learning --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Models:
    change: LogisticRegression
    trees: HistGradientBoostingClassifier


def changes(model: LogisticRegression, found: Sequence[Group]) -> list[float]:
    vectors = sparse([ending.change_vector(group.new) for group in found], ending.CHANGE)
    return list(model.predict_proba(vectors)[:, 1])


def learn_change(found: Sequence[Group]) -> LogisticRegression:
    vectors = sparse([ending.change_vector(group.new) for group in found], ending.CHANGE)
    return fit(vectors, [group.changes for group in found], PENALTY)


def rows(found: Sequence[Group], likely: Sequence[float]) -> Floats:
    return np.concatenate(
        [
            pairs(compared(group.new), [compared(old) for old in group.older], says)
            for group, says in zip(found, likely, strict=True)
        ]
    )


def wanted(found: Sequence[Group]) -> Bools:
    return np.array([at in group.ends for group in found for at in range(len(group.older))])


def learn(found: Sequence[Group]) -> Models:
    """The trees learn from likelihoods of a change that were made without their own group."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(found))
    likely = np.zeros(len(found))
    for number in range(FOLDS):
        rest = [group for group, of in zip(found, fold, strict=True) if of != number]
        own = [group for group, of in zip(found, fold, strict=True) if of == number]
        likely[fold == number] = changes(learn_change(rest), own)
    weights = np.array([NATURAL if group.is_natural else 1.0 for group in found for _ in group.older])
    trees = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=20,
        l2_regularization=1.0,
        random_state=0,
        early_stopping=False,
    ).fit(rows(found, list(likely)), wanted(found), sample_weight=weights)
    return Models(learn_change(found), trees)


def report(found: Sequence[Group]) -> None:
    everything: list[tuple[float, bool]] = []
    natural: list[tuple[float, bool]] = []
    for author in sorted({group.author for group in found}):
        own = [group for group in found if group.author == author]
        models = learn([group for group in found if group.author != author])
        likely = models.trees.predict_proba(rows(own, changes(models.change, own)))[:, 1]
        both = list(zip(likely, wanted(own), strict=True))
        curve(author, likely, wanted(own), THRESHOLDS)
        everything += both
        natural += both if own[0].is_natural else []
    for name, each in (("as in life", natural), ("all", everything)):
        curve(name, [likely for likely, _ in each], [ends for _, ends in each], THRESHOLDS)


# --- writing ---------------------------------------------------------------------------------------------------------


def arrays(trees: HistGradientBoostingClassifier) -> dict[str, Any]:
    """The nodes of all trees, in arrays of trees by nodes."""
    nodes = [each[0].nodes for each in trees._predictors]  # noqa: SLF001 (it has no other way out)
    most = max(map(len, nodes))
    shape = (len(nodes), most)
    feature, left, right = (np.zeros(shape, np.int16) for _ in range(3))
    threshold, value = np.zeros(shape), np.zeros(shape)
    for tree, made in enumerate(nodes):
        size, own = len(made), np.arange(len(made))
        is_leaf = made["is_leaf"].astype(bool)
        feature[tree, :size] = np.where(is_leaf, 0, made["feature_idx"])
        threshold[tree, :size] = np.where(is_leaf, 0.0, made["num_threshold"])
        left[tree, :size] = np.where(is_leaf, own, made["left"])
        right[tree, :size] = np.where(is_leaf, own, made["right"])
        value[tree, :size] = np.where(is_leaf, made["value"], 0.0)
    base = float(np.ravel(trees._baseline_prediction)[0])  # noqa: SLF001 (as above)
    return {
        "feature": feature,
        "left": left,
        "right": right,
        "threshold": threshold,
        "value": value,
        "base": base,
    }


def write(models: Models) -> None:
    linear = {f"change_{part}": array for part, array in quantised(models.change).items()}
    written = io.BytesIO()
    np.savez_compressed(written, **linear, **arrays(models.trees))
    ending.FILE.write_bytes(written.getvalue())
    print(f"{ending.FILE.name}: {len(written.getvalue())} bytes")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the weights")
    parser.add_argument("--folds", action="store_true", help="measure on what was left out")
    chosen = parser.parse_args()
    found = groups()
    print(f"{len(found)} groups, {sum(group.is_natural for group in found)} as in life, {wanted(found).sum()} endings")
    if chosen.folds:
        report(found)
    if chosen.write:
        write(learn(found))


if __name__ == "__main__":
    main()
