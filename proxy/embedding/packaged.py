"""The packaged all-MiniLM-L6-v2, made ready to run here in a second, without torch.

Its file has int8 weights that the graph turns back into floats before every product: close to the original (a mean
cosine of 0.9995), and three times as slow as products of int8. So the weights are turned back once, smoothed
(`int8`), and quantised for such products: 0.998. Pooling and normalisation become part of the graph, which goes
from token ids to vector.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from proxy.embedding.exported import Made, described
from proxy.embedding.int8 import Arrays, activations, linear_layers, model_of, quantised
from proxy.embedding.session import INPUT, OUTPUT
from proxy.embedding.source import TOKENIZER, TOKENIZER_SHA256, WEIGHTS_SHA256, Source, checked, packaged_model

MAX_TOKENS = 256  # the original's
DIMENSIONS = 384
_NAME = "all-minilm-l6-v2/int8"
_HIDDEN, _MASK, _TYPES = "last_hidden_state", "attention_mask", "token_type_ids"
_INT8, _SCALE = "_q", "_scale"  # how the names of a weight's two halves end


def made(source: Source) -> Made:
    """Makes the export of the packaged model. Raises EmbeddingRefused if the package is absent or altered."""
    tokenizer = checked(TOKENIZER, TOKENIZER_SHA256)
    model = onnx.load_from_string(checked(packaged_model(), WEIGHTS_SHA256))
    nodes, weights = _in_floats(model)
    linear = linear_layers(nodes, weights)
    largest = activations(_graph(model, nodes, weights, [node.input[0] for node in linear]), linear, tokenizer)
    small = _graph(model, *quantised(*_embedded(model, nodes, weights), largest), [OUTPUT]).SerializeToString()
    return described(source, _NAME, small, tokenizer, dimensions=DIMENSIONS, max_tokens=MAX_TOKENS, prompt="")


def _in_floats(model: Any) -> tuple[list[Any], Arrays]:
    """The nodes without those that turn weights into floats, and the weights as floats."""
    stored = _stored(model)
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


def _graph(model: Any, nodes: Sequence[Any], weights: Arrays, outputs: Sequence[str]) -> Any:
    """From token ids, of one text without padding, to its vector."""
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
    versions = {"opset_imports": model.opset_import, "ir_version": model.ir_version}
    return model_of([*before, *nodes, *behind], {**_stored(model), **weights}, outputs, **versions)


def _stored(model: Any) -> Arrays:
    return {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}


def _embedded(model: Any, nodes: Sequence[Any], weights: Arrays) -> tuple[list[Any], Arrays]:
    """Rows of an embedding are looked up as they are stored, and turned into floats then."""
    stored = _stored(model)
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
