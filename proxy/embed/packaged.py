"""The packaged all-MiniLM-L6-v2, made ready to run here in a second, without torch.

Its file has int8 weights that the graph turns back into floats before every product: close to the original (a mean
cosine of 0.9995), and three times as slow as products of int8. So the weights are turned back once, smoothed
(`smoothing`), and quantised for such products: 0.998. Pooling and normalisation become part of the graph, which goes
from token ids to vector.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from proxy.embed.exported import Made, described
from proxy.embed.int8 import activations
from proxy.embed.session import INPUT, OUTPUT
from proxy.embed.smoothing import Floats, smoothing
from proxy.embed.source import TOKENIZER, TOKENIZER_SHA256, WEIGHTS_SHA256, Source, checked, packaged_model

MAX_TOKENS = 256  # the original's
DIMENSIONS = 384
_NAME = "all-minilm-l6-v2/int8"
_HIDDEN, _MASK, _TYPES = "last_hidden_state", "attention_mask", "token_type_ids"
_INT8, _SCALE = "_q", "_scale"  # how the names of a weight's two halves end
_MOST = 127.0  # of int8

Weights = dict[str, npt.NDArray[Any]]


def made(source: Source) -> Made:
    """Raises EmbeddingRefused if the package is absent or altered."""
    tokenizer = checked(TOKENIZER, TOKENIZER_SHA256)
    model = onnx.load_from_string(checked(packaged_model(), WEIGHTS_SHA256))
    nodes, weights = _in_floats(model)
    linear = [node for node in nodes if node.op_type == "MatMul" and node.input[1] in weights]
    largest = activations(_graph(model, nodes, weights, [node.input[0] for node in linear]), linear, tokenizer)
    small = _graph(model, *_quantised(*_embedded(model, nodes, weights), largest)).SerializeToString()
    return described(source, _NAME, small, tokenizer, dimensions=DIMENSIONS, max_tokens=MAX_TOKENS, prompt="")


def _in_floats(model: Any) -> tuple[list[Any], Weights]:
    """The nodes without those that turn weights into floats, and the weights as floats."""
    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    casts = {
        node.output[0]: node.input[0]
        for node in model.graph.node
        if node.op_type == "Cast" and node.input[0] in stored and node.input[0].endswith(_INT8)
    }
    nodes, weights = [], {}
    for node in model.graph.node:
        if node.op_type == "Mul" and node.input[0] in casts:
            weights[node.output[0]] = stored[casts[node.input[0]]].astype(np.float32) * stored[node.input[1]]
        elif node.output[0] not in casts:
            nodes.append(node)
    return nodes, weights


def _graph(model: Any, nodes: Sequence[Any], weights: Weights, watched: Sequence[str] = ()) -> Any:
    """From token ids, of one text without padding, to its vector. `watched`: what else is to be told."""
    one, none = (helper.make_tensor(name, onnx.TensorProto.INT64, [1], [value]) for name, value in (("1", 1), ("0", 0)))
    before = [
        helper.make_node("Shape", [INPUT], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], [_MASK], value=one),
        helper.make_node("ConstantOfShape", ["shape"], [_TYPES], value=none),
    ]
    behind = [
        helper.make_node("ReduceMean", [_HIDDEN], ["mean"], axes=[1], keepdims=0),
        helper.make_node("LpNormalization", ["mean"], [OUTPUT], axis=1, p=2),
    ]
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        [*before, *nodes, *behind],
        _NAME,
        [helper.make_tensor_value_info(INPUT, onnx.TensorProto.INT64, [1, "tokens"])],
        [
            helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, [1, DIMENSIONS]),
            *(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in dict.fromkeys(watched)),
        ],
        [
            *(each for each in model.graph.initializer if each.name in used and each.name not in weights),
            *(numpy_helper.from_array(array, name) for name, array in weights.items()),
        ],
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _embedded(model: Any, nodes: Sequence[Any], weights: Weights) -> tuple[list[Any], Weights]:
    """Rows of an embedding are looked up as they are stored, and turned into floats then."""
    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    found, kept = [], dict(weights)
    for node in nodes:
        name = node.input[0]
        if node.op_type != "Gather" or name not in weights:
            found.append(node)
            continue
        del kept[name]
        kept[f"{name}{_INT8}"], kept[f"{name}{_SCALE}"] = stored[f"{name}{_INT8}"], stored[f"{name}{_SCALE}"]
        rows, floats, steps = f"{name}_rows", f"{name}_floats", f"{name}_steps"
        found += [
            helper.make_node("Gather", [f"{name}{_INT8}", node.input[1]], [rows], axis=0),
            helper.make_node("Gather", [f"{name}{_SCALE}", node.input[1]], [steps], axis=0),
            helper.make_node("Cast", [rows], [floats], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [floats, steps], list(node.output)),
        ]
    return found, kept


def _quantised(nodes: Sequence[Any], weights: Weights, largest: Mapping[str, Floats]) -> tuple[list[Any], Weights]:
    """Every product with a weight as one of int8: the weight smoothed, with a scale for each of its columns, the other
    side smoothed and quantised as it comes."""
    found, kept = [], dict(weights)
    for node in nodes:
        name = node.input[1] if len(node.input) > 1 else ""
        if node.op_type != "MatMul" or name not in weights:
            found.append(node)
            continue
        factors = smoothing(largest[node.input[0]], np.abs(weights[name]).max(axis=1))
        scaled = kept.pop(name) * factors[:, None]
        steps = np.maximum(np.abs(scaled).max(axis=0), np.finfo(np.float32).tiny) / _MOST
        kept[f"{name}_inverse"] = np.reciprocal(factors)
        kept[f"{name}_steps"] = steps.astype(np.float32)
        kept[f"{name}_int8"] = np.round(scaled / steps).astype(np.int8)
        smooth, small, step, zero, product, floats, scale = (f"{name}_{at}" for at in range(7))
        found += [
            helper.make_node("Mul", [node.input[0], f"{name}_inverse"], [smooth]),
            helper.make_node("DynamicQuantizeLinear", [smooth], [small, step, zero]),
            helper.make_node("MatMulInteger", [small, f"{name}_int8", zero], [product]),
            helper.make_node("Cast", [product], [floats], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [step, f"{name}_steps"], [scale]),
            helper.make_node("Mul", [floats, scale], list(node.output)),
        ]
    return found, kept
