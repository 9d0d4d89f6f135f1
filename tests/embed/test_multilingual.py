"""What every embedder does is in tests/contract; here that the vectors are E5's, and on MiniLM's scale."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from proxy.embed.base import EmbeddingRefused, Vectors
from proxy.embed.checks import checked
from proxy.embed.e5_file import E5File
from proxy.embed.exported import read
from proxy.embed.multilingual import MAX_TOKENS, PROMPT, made, tokenizer_of
from proxy.embed.session import Session
from proxy.embed.source import E5_PACKAGE, MULTILINGUAL, source_of
from tests.embed.sentences import SENTENCES

FILE = E5File(
    hidden=32,
    layers=0,
    heads=1,
    epsilon=1e-12,
    pieces=(("<s>", 0), ("<pad>", 0), ("</s>", 0), ("<unk>", 0), ("\u2581", -3), ("\u2581a", -1), ("b", -2), ("é", -2)),
    begin=0,
    end=2,
    unknown=3,
    tensors={},
)


@pytest.fixture(scope="module")
def session(multilingual_folder: Path) -> Session:
    source = source_of(MULTILINGUAL)
    exported = read(multilingual_folder / source.folder, source)
    assert exported is not None
    assert (exported.manifest.max_tokens, exported.manifest.prompt) == (MAX_TOKENS, PROMPT)
    return Session(exported)


def cosines(vectors: Vectors) -> Vectors:
    every: Vectors = vectors @ vectors.T
    np.fill_diagonal(every, -1)
    return every


def test_vectors_differ_from_each_other_as_those_of_the_packages_own_engine_do(session: Session) -> None:
    # In the tests alone: the proxy never loads it.
    theirs = checked(SENTENCES, importlib.import_module(E5_PACKAGE).E5(num_threads=1).query(list(SENTENCES)))
    ours = checked(SENTENCES, session.vectors(SENTENCES))
    pairs = np.triu_indices(len(SENTENCES), 1)
    apart = theirs - theirs.mean(axis=0)
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    centred = ours - ours.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    assert np.corrcoef(cosines(apart)[pairs], cosines(centred)[pairs])[0, 1] > 0.98


def test_what_means_the_same_is_near_and_what_does_not_is_not(session: Session) -> None:
    every = cosines(checked(SENTENCES, session.vectors(SENTENCES)))
    nearest = every.argmax(axis=1)
    assert sum(int(index) == place ^ 1 for place, index in enumerate(nearest)) >= 0.9 * len(SENTENCES)
    # As with MiniLM in English: without what all vectors have in common it would be 0.8.
    assert np.median(every) < 0.25


def test_a_question_is_near_its_translation(session: Session) -> None:
    spanish, english, other = checked(
        ("a", "b", "c"),
        session.vectors(["¿Cómo se cocina el arroz?", "How do I cook rice?", "How do I renew my passport?"]),
    )
    assert spanish @ english > 0.5 > spanish @ other


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("ab", ["\u2581a", "b"]),
        ("a\n\t a", ["\u2581a", "\u2581a"]),
        ("a\x07b", ["\u2581a", "b"]),
        ("be\u0301", ["\u2581", "b", "é"]),
        ("\uff41", ["\u2581a"]),
        ("", []),
    ],
)
def test_texts_are_normalised_and_cut_into_the_likeliest_pieces(text: str, pieces: list[str]) -> None:
    assert tokenizer_of(FILE).encode(text).tokens == ["<s>", *pieces, "</s>"]


def test_an_altered_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(b"another")
    monkeypatch.setattr("proxy.embed.multilingual.multilingual_model", lambda: tmp_path / "e5-small-q4.bin")
    with pytest.raises(EmbeddingRefused, match="is not that of multilingual-e5-small"):
        made(source_of(MULTILINGUAL), tmp_path)
