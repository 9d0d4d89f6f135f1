"""How well the gate of recall tells questions about the past from ordinary talk, and what it learns from.

    python -m tests.bench.recall_gate [--fit]

Ordinary talk: the conversations' own user turns, where something lies beyond the last six turns. About the past: the
questions of the evaluation data with evidence beyond them. `--fit` learns the weights anew (every set counts the same)
and tells how those do that were learned without the set.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxy.memory.cues import cues
from proxy.memory.recall import Query, rank
from proxy.memory.selecting import PAST, SOME, evidence, need, wording
from tests.bench.context_data import Conversation, Question, authored, beam, locomo, tau
from tests.bench.recall_cases import Case, Vectors, case, wanted

WINDOW_TURNS = 6


@dataclass(frozen=True, slots=True)
class Row:
    source: str
    lang: str
    about_past: bool
    features: dict[str, float]
    score: float


def rows(conversations: list[Conversation], vectors: Vectors) -> Iterator[Row]:
    for conversation in conversations:
        whole = case(conversation, vectors)
        for at in whole.starts[WINDOW_TURNS + 1 :]:
            text = conversation.messages[at]["content"]
            if found := row(whole, text, vectors, upto=at, about_past=False):
                yield found
        first = whole.starts[-WINDOW_TURNS] if len(whole.starts) >= WINDOW_TURNS else 0
        for asked in conversation.questions:
            if beyond(whole, asked, first) and (
                found := row(whole, asked.text, vectors, upto=len(whole.links), about_past=True)
            ):
                yield found


def row(whole: Case, text: str, vectors: Vectors, *, upto: int, about_past: bool) -> Row | None:
    starts = [start for start in whole.starts if start < upto]
    first = starts[-WINDOW_TURNS] if len(starts) >= WINDOW_TURNS else 0
    query = Query(text, vectors.of([text])[0], whole.links[:upto], frozenset(whole.links[first:upto]))
    ranking = rank(whole.index, query)
    found = evidence(whole.index, query, ranking)
    if found is None:
        return None
    features = {**wording(cues(text)), **found}
    score = need(whole.index, query, ranking).score
    return Row(whole.conversation.source, whole.conversation.lang, about_past, features, score)


def beyond(whole: Case, asked: Question, first: int) -> bool:
    """Does a part of the answer stand before message `first` alone?"""
    recent = [str(said.get("content") or "") for said in whole.conversation.messages[first:]]
    if asked.evidence:
        return not set(asked.evidence) <= set(recent)
    said = "\n".join(recent).casefold()
    return any(answer.casefold() not in said for answer in asked.answers)


def table(found: list[Row], scores: npt.NDArray[np.float64]) -> None:
    past = np.array([each.about_past for each in found])
    groups = np.array([f"{each.source} {each.lang}" for each in found])
    for name in (*sorted(set(groups)), "all"):
        chosen = np.ones(len(found), dtype=np.bool_) if name == "all" else groups == name
        line = f"{name:12s}"
        for about_past, words in ((False, "opens"), (True, "stays shut")):
            mine = scores[chosen & (past == about_past)]
            if len(mine):
                some, wide = (mine < SOME, mine < PAST) if about_past else (mine >= SOME, mine >= PAST)
                line += f"  {words} {100 * some.mean():5.1f} % (wide: {100 * wide.mean():5.1f} %) of {len(mine)}"
        print(line)


def fit(found: list[Row]) -> None:
    from sklearn.linear_model import LogisticRegression

    names = list(found[0].features)
    values = np.array([[each.features[name] for name in names] for each in found], dtype=np.float64)
    past = np.array([each.about_past for each in found])
    sources = np.array([each.source for each in found])

    def learned(chosen: npt.NDArray[np.bool_]) -> tuple[float, npt.NDArray[np.float64]]:
        weights = np.zeros(len(found))
        for source in set(sources[chosen]):
            for about_past in (False, True):
                mine = chosen & (sources == source) & (past == about_past)
                weights[mine] = 1 / max(1, mine.sum())
        scale = values[chosen].std(axis=0) + 1e-9
        model = LogisticRegression(C=1.0, max_iter=3_000)
        model.fit(values[chosen] / scale, past[chosen], sample_weight=weights[chosen] / weights[chosen].mean())
        return float(model.intercept_[0]), model.coef_[0] / scale

    intercept, weights = learned(np.ones(len(found), dtype=np.bool_))
    print("learned from all:", round(intercept, 2), dict(zip(names, weights.round(2).tolist(), strict=True)))
    table(found, intercept + values @ weights)
    print("each set by what was learned from the others:")
    scores = np.zeros(len(found))
    for source in sorted(set(sources)):
        intercept, weights = learned(sources != source)
        scores[sources == source] = intercept + values[sources == source] @ weights
    table(found, scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    conversations = [*locomo(), *beam(), *authored(), *tau()]
    vectors = Vectors.open(wanted(conversations))
    found = list(rows(conversations, vectors))
    table(found, np.array([each.score for each in found]))
    if options.fit:
        fit(found)


if __name__ == "__main__":
    main()
