"""The packaged all-MiniLM-L6-v2, made ready to run here in a second, without torch; and linear layers in int8, for both
packaged models.

Its file has int8 weights that the graph turns back into floats before every product: close to the original (a mean
cosine of 0.9995), and three times as slow as products of int8. So the weights are turned back once, smoothed, and
quantised for such products: 0.998. Pooling and normalisation become part of the graph, which goes from token ids to
vector.

Smoothing makes int8 cost less precision: a linear layer's inputs are divided by a factor per channel, its weights
multiplied by the same, so that no few channels with large values leave the others only a handful of int8's steps (Xiao
et al., SmoothQuant, 2023). Without it the mean cosine is 0.994, in no less time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from proxy.embedding.exported import INPUT, MINILM, OUTPUT, Made, Source, described

Floats = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]  # of a graph, by name

MAX_TOKENS = 256  # the original's
DIMENSIONS = 384
_HIDDEN, _MASK, _TYPES = "last_hidden_state", "attention_mask", "token_type_ids"
_INT8, _SCALE = "_q", "_scale"  # how the names of a weight's two halves end
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


def made(source: Source) -> Made:
    """Makes the export of the packaged model. Raises EmbeddingRefused if the package is absent or altered."""
    tokenizer = MINILM.read_tokenizer()
    model = onnx.load_from_string(MINILM.read())
    nodes, weights = _in_floats(model)
    linear = linear_layers(nodes, weights)
    largest = activations(_graph(model, nodes, weights, [node.input[0] for node in linear]), linear, tokenizer)
    small = _graph(model, *quantised(*_embedded(model, nodes, weights), largest), [OUTPUT]).SerializeToString()
    return described(source, small, tokenizer, dimensions=DIMENSIONS, max_tokens=MAX_TOKENS)


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
    import onnxruntime  # noqa: PLC0415 (behind `exported`, which sets what it reads)

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
