"""What it does to the vectors of the packaged models is in test_session.py and test_multilingual.py."""

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from proxy.embed.int8 import Weights, smoothed

INPUTS = np.array([[1, -100, 3], [2, 50, -1]], np.float32)
WEIGHTS: Weights = {"w": np.array([[1, 2], [0.01, -0.02], [3, 1]], np.float32)}
NODES = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]


def run(nodes: list[onnx.NodeProto], weights: Weights, output: str) -> np.ndarray:
    float32 = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", float32, [2, 3])],
        [helper.make_tensor_value_info(output, float32, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (found,) = ReferenceEvaluator(model).run(None, {"x": INPUTS})
    assert isinstance(found, np.ndarray)
    return found


def test_smoothing_moves_range_from_inputs_to_weights_and_changes_no_result() -> None:
    nodes, weights = smoothed(NODES, WEIGHTS, {"x": np.abs(INPUTS).max(axis=0)})
    assert [node.op_type for node in nodes] == ["Mul", "MatMul", "Relu"]
    np.testing.assert_allclose(run(nodes, weights, "z"), run(NODES, WEIGHTS, "z"), rtol=1e-5)
    ranges = np.abs(INPUTS * weights["w_inverse"]).max(axis=0)
    assert ranges.max() / ranges.min() < np.abs(INPUTS).max() / 3
