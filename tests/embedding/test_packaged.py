"""That its vectors are the original's is in test_engines.py."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from proxy.embedding import EmbeddingRefused, packaged
from proxy.embedding.engines import Session
from proxy.embedding.exported import BUILTIN, Package, source_of, write
from proxy.embedding.packaged import SAMPLES, Arrays, quantised, smoothing

pytestmark = pytest.mark.long  # the model is made from the package, several times


def test_it_is_made_without_torch_and_gives_vectors(tmp_path: Path) -> None:
    made = packaged.made(source_of(BUILTIN))
    assert (made.manifest.dimensions, made.manifest.max_tokens) == (packaged.DIMENSIONS, packaged.MAX_TOKENS)
    one, same, other = Session(write(tmp_path, made)).vectors(
        ["How do I cook rice?", "How is rice cooked?", "El perro ladra."]
    )
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-3)
    assert one @ same > 0.8
    assert one @ other < 0.3


def test_an_altered_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"another")
    monkeypatch.setattr(Package, "path", lambda _: tmp_path / "model.onnx")
    with pytest.raises(EmbeddingRefused, match="is not that of all-MiniLM-L6-v2"):
        packaged.made(source_of(BUILTIN))


INPUTS = np.array([[1, -100, 3], [2, 50, -1]], np.float32)
WEIGHTS: Arrays = {"w": np.array([[1, 2], [0.01, -0.02], [3, 1]], np.float32)}
NODES = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]


def run(nodes: list[onnx.NodeProto], weights: Arrays, output: str) -> np.ndarray:
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


def test_products_in_int8_are_nearly_those_in_floats_though_one_channel_is_large() -> None:
    nodes, weights = quantised(NODES, WEIGHTS, {"x": np.abs(INPUTS).max(axis=0)})
    assert "MatMulInteger" in [node.op_type for node in nodes]
    assert "w" not in weights
    np.testing.assert_allclose(run(nodes, weights, "z"), run(NODES, WEIGHTS, "z"), atol=0.1)
    ranges = np.abs(INPUTS * weights["w_inverse"]).max(axis=0)
    assert ranges.max() / ranges.min() < np.abs(INPUTS).max() / 3


# --- smoothing moves a difficulty from activations to weights; their product stays ---


LARGEST = arrays(np.float32, 4, elements=st.floats(0, 1e4, width=32))


@given(LARGEST, LARGEST)
def test_factors_are_positive_and_finite(activations: np.ndarray, weights: np.ndarray) -> None:
    factors = smoothing(activations, weights)
    assert factors.dtype == np.float32
    assert np.isfinite(factors).all()
    assert (factors > 0).all()


def test_large_activations_are_made_smaller_and_their_weights_larger() -> None:
    factors = smoothing(np.array([100.0, 1.0], np.float32), np.array([1.0, 1.0], np.float32))
    assert factors[0] > 1
    assert factors[1] == 1


def test_samples_are_in_both_languages() -> None:
    assert any("¿" in text for text in SAMPLES)
    assert any(text.startswith("How") for text in SAMPLES)
