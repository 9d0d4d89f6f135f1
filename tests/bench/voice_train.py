"""The training of `proxy/memory/voice.npz`: whose words a piece of a message is.

    python -m tests.bench.voice_train [--write] [--folds]

Material, by authors who had not seen the code: `voices.jsonl`, messages in pieces, each "own" or "other"; the messages
of `told_dev.jsonl`, of those that hand something over as far as their labels tell; and messages of `clauses.jsonl`,
which are their authors' own. `--folds` prints, of each author's messages, learnt from all others', which share of the
pieces is read as the author's own: of those that are, and of those that are not; `--write` learns from all and replaces
the weights.
"""

import argparse
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from proxy.linear import hashed
from proxy.memory import voice
from proxy.memory.shapes import HANDOVER
from proxy.memory.signals import folded
from tests.bench.memory_train import CLAUSES, quantised, read, sparse

HERE = Path(__file__).parent
VOICES, TOLD = HERE / "voices.jsonl", HERE / "told_dev.jsonl"
PENALTY = 3.0
PLAIN = 4_000  # messages of `clauses.jsonl`
WEAK = 0.5  # the weight of pieces whose label was not given as such
FOLDS = 5
GAPS = (" ", " ", " ", "\n", "\n\n")  # between two sentences of a plain message
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s")
THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Message:
    author: str
    language: str
    pieces: tuple[voice.Known, ...]
    own: tuple[bool | None, ...]  # None: not told

    @property
    def weight(self) -> float:
        return WEAK if self.author in ("told", "plain") else 1.0


def messages() -> list[Message]:
    return [message for message in (*_cut(), *_told(), *_plain()) if message.pieces]


def _cut() -> Iterator[Message]:
    for row in read(VOICES):
        text = "".join(said for _, said in row["pieces"])
        of = [who == "own" for who, said in row["pieces"] for _ in said]
        found = voice.pieces(text)
        own = tuple(sum(of[piece.start : piece.end]) * 2 > piece.end - piece.start for piece in found)
        yield Message(row["author"], row["lang"], tuple(voice.features(text, found)), own)


def _told() -> Iterator[Message]:
    """All of a statement is its author's own; in what hands something over a piece that holds what must be kept is, and
    one that holds what must not be known is not."""
    for row in read(TOLD):
        for text in (message for conversation in row["conversations"] for message in conversation):
            found = voice.pieces(text)
            said = [text[piece.start : piece.end].lower() for piece in found]
            kept, gone = (
                [any(each.lower() in piece for item in row[label] for each in item["has"]) for piece in said]
                for label in ("keep", "gone")
            )
            own = tuple(None if keeps == is_gone else keeps for keeps, is_gone in zip(kept, gone, strict=True))
            if row["kind"] == "statement":
                own = (True,) * len(found)
            yield Message("told", row["lang"], tuple(voice.features(text, found)), own)


def _plain() -> Iterator[Message]:
    """Messages that ask for no work on a text, as they were typed and in lines and paragraphs, as others type."""
    rows = read(CLAUSES)
    for number, at in enumerate(np.random.default_rng(0).permutation(len(rows))[:PLAIN]):
        text = " ".join(clause for clause, _ in rows[at]["clauses"])
        text = _SENTENCE_ENDS.sub(GAPS[number % len(GAPS)], text)
        plainly = folded(text)
        if not (HANDOVER["works"].search(plainly) or HANDOVER["fiction"].search(plainly)):
            found = tuple(voice.features(text, voice.pieces(text)))
            yield Message("plain", rows[at]["lang"], found, (True,) * len(found))


# --- learning --------------------------------------------------------------------------------------------------------

Models = tuple[LogisticRegression, LogisticRegression]


def _vector(known: voice.Known, around: voice.Group) -> dict[int, float]:
    return hashed(voice.groups(known, around), voice.BUCKETS)


def _fit(found: Sequence[Message], around: Sequence[Sequence[voice.Group]] | None = None) -> LogisticRegression:
    vectors, wanted, weights = [], [], []
    for number, message in enumerate(found):
        for at, (known, own) in enumerate(zip(message.pieces, message.own, strict=True)):
            if own is not None:
                vectors.append(_vector(known, around[number][at] if around else frozenset()))
                wanted.append(own)
                weights.append(message.weight)
    model = LogisticRegression(C=PENALTY, max_iter=4000)
    return model.fit(sparse(vectors, voice.BUCKETS), wanted, sample_weight=weights)


def _likely(model: LogisticRegression, message: Message, around: Sequence[voice.Group] | None = None) -> list[float]:
    vectors = [_vector(known, around[at] if around else frozenset()) for at, known in enumerate(message.pieces)]
    return list(model.predict_proba(sparse(vectors, voice.BUCKETS))[:, 1])


def _around(likely: Sequence[float], message: Message) -> list[voice.Group]:
    return [voice.near(likely, at, known) for at, known in enumerate(message.pieces)]


def learn(found: Sequence[Message]) -> Models:
    """The second model learns from what the first said that had been learnt without the message."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(found))
    around: list[list[voice.Group]] = [[] for _ in found]
    for number in range(FOLDS):
        model = _fit([message for message, of in zip(found, fold, strict=True) if of != number])
        for at in np.flatnonzero(fold == number).tolist():
            around[at] = _around(_likely(model, found[at]), found[at])
    return _fit(found), _fit(found, around)


def guessed(models: Models, message: Message) -> list[float]:
    first, second = models
    return _likely(second, message, _around(_likely(first, message), message))


def report(found: Sequence[Message]) -> None:
    everything: dict[str, list[tuple[float, bool]]] = {}
    for author in sorted({message.author for message in found} - {"told", "plain"}):
        models = learn([message for message in found if message.author != author])
        for message in (message for message in found if message.author == author):
            told = zip(guessed(models, message), message.own, strict=True)
            both = [(likely, own) for likely, own in told if own is not None]
            for name in (author, f"all {message.language}", "all"):
                everything.setdefault(name, []).extend(both)
        _show(author, everything[author])
    for name in ("all en", "all es", "all"):
        _show(name, everything[name])


def _show(name: str, found: Sequence[tuple[float, bool]]) -> None:
    own = np.array([likely for likely, is_own in found if is_own])
    other = np.array([likely for likely, is_own in found if not is_own])
    told = "   ".join(f"{limit}: {(own > limit).mean():.3f} / {(other > limit).mean():.3f}" for limit in THRESHOLDS)
    print(f"{name:10} own {len(own):5} other {len(other):5}  read as own, of both  {told}")


def write(models: Models) -> None:
    named = zip(("first", "second"), models, strict=True)
    arrays = {f"{name}_{part}": array for name, model in named for part, array in quantised(model).items()}
    written = io.BytesIO()
    np.savez_compressed(written, **arrays)
    voice.FILE.write_bytes(written.getvalue())
    print(f"{voice.FILE.name}: {len(written.getvalue())} bytes")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the weights")
    parser.add_argument("--folds", action="store_true", help="measure on what was left out")
    chosen = parser.parse_args()
    found = messages()
    print(f"{len(found)} messages, {sum(len(message.pieces) for message in found)} pieces")
    if chosen.folds:
        report(found)
    if chosen.write:
        write(learn(found))


if __name__ == "__main__":
    main()
