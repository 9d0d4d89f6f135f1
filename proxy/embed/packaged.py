"""The packaged all-MiniLM-L6-v2, made ready to run here in a second or two, without torch.

Its file has int8 weights that the graph turns back into floats before every product: close to the original (a mean
cosine of 0.9995), and three times as slow as products of int8. So the weights are turned back once, smoothed
(`smoothing`), and quantised for such products: 0.997. Pooling and normalisation become part of the graph, which goes
from token ids to vector.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from proxy.embed.exported import Made, described
from proxy.embed.int8 import Weights, activations, quantised, smoothed
from proxy.embed.session import INPUT, OUTPUT
from proxy.embed.source import TOKENIZER, TOKENIZER_SHA256, WEIGHTS_SHA256, Source, checked, packaged_model

MAX_TOKENS = 256  # the original's
DIMENSIONS = 384
_NAME = "all-minilm-l6-v2/int8"
_HIDDEN, _MASK, _TYPES = "last_hidden_state", "attention_mask", "token_type_ids"
_INT8, _SCALE = "_q", "_scale"  # how the names of a weight's two halves end


def made(source: Source, scratch: Path) -> Made:
    """Raises EmbeddingRefused if the package is absent or altered."""
    tokenizer = checked(TOKENIZER, TOKENIZER_SHA256)
    model = onnx.load_from_string(checked(packaged_model(), WEIGHTS_SHA256))
    nodes, weights = _in_floats(model)
    linear = [node for node in nodes if node.op_type == "MatMul" and node.input[1] in weights]
    watched = _graph(model, nodes, weights, [node.input[0] for node in linear])
    smooth, scaled = smoothed(nodes, weights, activations(watched, linear, tokenizer))
    small = quantised(_graph(model, smooth, scaled), scratch)
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
            *(each for each in model.graph.initializer if each.name in used),
            *(numpy_helper.from_array(array, name) for name, array in weights.items()),
        ],
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
