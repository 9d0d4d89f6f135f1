"""Linear layers of an ONNX graph in int8, smoothed (`smoothing`): what the packaged models are made with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper
from tokenizers import Tokenizer

from proxy.embed.session import INPUT
from proxy.embed.smoothing import SAMPLES, Floats, smoothing

Weights = dict[str, Floats]  # of a graph, by name
_SEVERITY_ERROR = 3


def run_samples(model: Any, names: Sequence[str], tokenizer: bytes, prompt: str = "") -> list[list[Any]]:
    """What the graph gives under `names` for each of the samples, `prompt` before it."""
    import onnxruntime  # noqa: PLC0415 (behind `session`, which sets what it reads)

    reader = Tokenizer.from_buffer(tokenizer)
    reader.no_padding()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SEVERITY_ERROR
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ids = (np.array([reader.encode(prompt + text).ids], np.int64) for text in SAMPLES)
    return [list(session.run(list(names), {INPUT: each})) for each in ids]


def activations(model: Any, linear: Sequence[Any], tokenizer: bytes, prompt: str = "") -> Mapping[str, Floats]:
    """By input of a linear layer, the largest absolute value of each channel over the samples. The inputs are outputs
    of `model`."""
    names = list(dict.fromkeys(node.input[0] for node in linear))
    largest: dict[str, Floats] = {}
    for seen in run_samples(model, names, tokenizer, prompt):
        for name, values in zip(names, seen, strict=True):
            most = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
            largest[name] = np.maximum(largest[name], most) if name in largest else most
    return largest


def smoothed(nodes: Sequence[Any], weights: Weights, largest: Mapping[str, Floats]) -> tuple[list[Any], Weights]:
    """The nodes and weights with the inputs of linear layers divided by a factor per channel."""
    found, scaled = [], dict(weights)
    for node in nodes:
        name = node.input[1] if len(node.input) > 1 else ""
        if node.op_type != "MatMul" or name not in weights:
            found.append(node)
            continue
        factors = smoothing(largest[node.input[0]], np.abs(weights[name]).max(axis=1))
        scaled[name] = weights[name] * factors[:, None]
        scaled[f"{name}_inverse"] = np.reciprocal(factors)
        found += [
            helper.make_node("Mul", [node.input[0], f"{name}_inverse"], [f"{name}_input"]),
            helper.make_node("MatMul", [f"{name}_input", name], list(node.output)),
        ]
    return found, scaled


def quantised(model: Any, scratch: Path, operators: Sequence[str] | None = None) -> bytes:
    """The graph with weights of int8 per channel. `operators`: whose weights (default: of all that can)."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 (half a second to load)

    whole, small = scratch / "float32.onnx", scratch / "int8.onnx"
    onnx.save(model, whole)
    quantize_dynamic(whole, small, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=operators)
    return small.read_bytes()
