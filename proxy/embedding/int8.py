"""Quantises the linear layers of an ONNX graph to int8, smoothed: the common part of how the packaged models are made.

Smoothing makes int8 cost less precision: a linear layer's inputs are divided by a factor per channel, its weights
multiplied by the same, so that no few channels with large values leave the others only a handful of int8's steps (Xiao
et al., SmoothQuant, 2023). all-MiniLM-L6-v2 has a mean cosine with the original of 0.998 instead of 0.994, in no more
time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from proxy.embedding.session import INPUT

Floats = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]  # of a graph, by name

_MOST = 127.0  # of int8
_SEVERITY_ERROR = 3
_MIGRATION = 0.75  # of the difficulty, from activations to weights; SmoothQuant's alpha. Measured .5 to .9: .75 is best
_LEAST = 1e-5
# What people ask and say, for the range that each activation has.
SAMPLES = (
    "How do I change the password of my company account?",
    "¿Cómo hago para cambiar la contraseña de mi cuenta?",
    "The river bank was flooded after three days of rain.",
    "El perro de al lado ladra toda la noche y no puedo dormir.",
    "What is 2 + 2? Explain it step by step.",
    "¿Cuánto es el 15 % de 2.350 dólares?",
    "Write an email to John Smith about the discount until 3 May 2024.",
    "Escribí un correo para María Pérez sobre la reunión del martes.",
    "def total(rows): return sum(row['price'] * row['count'] for row in rows)",
    "¿Quién descubrió América y en qué año?",
    "Who was the first president of the United States?",
    "Is it safe to take ibuprofen with coffee?",
    "¿Qué diferencia hay entre un virus y una bacteria?",
    "Translate this paragraph into German, and keep the formatting.",
    "Resumime este artículo en tres líneas, por favor.",
    "why",
    "¿Y el segundo?",
    "I've decided to use PostgreSQL instead of MySQL for the billing service.",
    "Soy alérgico a los maníes; tenelo en cuenta en las recetas.",
    "Turn off dark mode in the settings menu of the app",
    "¿Cómo desactivo las notificaciones del teléfono?",
    "Which is cheaper, the train from Madrid to Barcelona or the plane?",
    "La inflación bajó en marzo, según el informe que publicó ayer el banco central.",
    "Plan a seven-day trip to Japan for two adults and a child, with a budget of $4,000, and list the hotels.",
)


def smoothing(activations: Floats, weights: Floats) -> Floats:
    """The factor of each channel, from the largest absolute values of its activations and of its weights."""
    factors = activations.clip(_LEAST) ** _MIGRATION / weights.clip(_LEAST) ** (1 - _MIGRATION)
    return factors.astype(np.float32)


def model_of(nodes: Sequence[Any], arrays: Arrays, outputs: Sequence[str], **versions: Any) -> Any:
    """The ONNX model that these nodes make, from the token ids of one text to `outputs`, with those of `arrays` that
    they use. `versions`: of the format and the operators, as `helper.make_model` takes them."""
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        list(nodes),
        "int8",
        [helper.make_tensor_value_info(INPUT, onnx.TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in dict.fromkeys(outputs)],
        [numpy_helper.from_array(array, name) for name, array in arrays.items() if name in used],
    )
    return helper.make_model(graph, **versions)


def linear_layers(nodes: Sequence[Any], weights: Mapping[str, Any]) -> list[Any]:
    """The nodes that multiply by one of the weights."""
    return [node for node in nodes if node.op_type == "MatMul" and node.input[1] in weights]


def run_samples(model: Any, names: Sequence[str], tokenizer: bytes, prompt: str = "") -> list[list[Any]]:
    """The values that the graph gives under `names` for each of SAMPLES, `prompt` before it."""
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


def quantised(nodes: Sequence[Any], weights: Arrays, largest: Mapping[str, Floats]) -> tuple[list[Any], Arrays]:
    """The nodes and weights with every product with a weight in int8: the weight smoothed, with a scale for each of its
    columns, the other side smoothed and quantised as it comes. `largest`: see `activations`."""
    found, kept = [], dict(weights)
    for node in nodes:
        if not linear_layers([node], weights):
            found.append(node)
            continue
        name = node.input[1]
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
