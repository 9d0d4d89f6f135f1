"""`python -m proxy.embedding.export MODEL FOLDER`: makes the export of a packaged model, or of one of
sentence-transformers, unless it is there.

A process of its own: torch takes seconds to load and a gigabyte of memory, and serving needs neither. All modules of
the model (pooling, normalisation, projections) become one ONNX graph from token ids to vector; its weights become int8
per channel, after smoothing, unless that changes the vectors too much, as it does for some models.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxy.embedding import PROBES, EmbeddingError, EmbeddingRefused, checked, checked_probes, multilingual, packaged
from proxy.embedding.engines import Session
from proxy.embedding.exported import (
    BUILTIN,
    INPUT,
    MULTILINGUAL,
    OUTPUT,
    Made,
    Source,
    described,
    local_path,
    locked,
    read,
    scratch_of,
    slug,
    source_of,
    write,
)
from proxy.embedding.packaged import SAMPLES, smoothing

NICENESS = 10  # requests come first
_OPSET = 17
_MAX_TOKENS = 512  # of a model that names no limit
_MIN_AGREEMENT = 0.98  # mean cosine of the probes with the original's; all-MiniLM-L6-v2 in int8 has 0.998
_LONG = " ".join(("the quick brown fox", "el veloz murciélago hindú") * 400)  # is cut where the original is cut


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m proxy.embedding.export")
    parser.add_argument("model", help="builtin, multilingual, or a sentence-transformers model by folder or name")
    parser.add_argument("folder", type=Path, help="where the export is kept")
    chosen = parser.parse_args(arguments)
    try:
        export(source_of(chosen.model), chosen.folder)
    except (EmbeddingError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def export(source: Source, folder: Path, make: Callable[[Source, Path], Made] | None = None) -> None:
    """Makes sure that `folder` holds the export of `source`, made by `make` in a temporary folder if it is not there.
    Raises EmbeddingRefused if the model can't be exported, OSError if the folder can't be written."""
    with locked(folder):
        if read(folder, source) is None:
            with scratch_of(folder) as scratch:
                write(folder, (make or made_of)(source, scratch))


def made_of(source: Source, scratch: Path) -> Made:
    """Makes the export of any sentence-transformers model. Raises EmbeddingRefused if the model is absent, altered, or
    can't be exported."""
    if source.model == BUILTIN:
        return packaged.made(source)
    if source.model == MULTILINGUAL:
        return multilingual.made(source)
    local = local_path(source.model)
    if local is None and source.model.startswith(("/", ".", "~")):
        raise EmbeddingRefused(f"{source.model} is no folder")  # nor a name, which would be looked for on the hub
    warnings.simplefilter("ignore")  # the libraries' own, of no use to whoever reads our log
    try:
        original = _loaded(source.model if local is None else str(local), offline=local is not None)
        _smooth(original)
        whole = _graph(original, scratch / "float32.onnx")
        small = _quantised(whole, scratch / "int8.onnx")
    except Exception as error:
        raise EmbeddingRefused(f"{source.model} can't be exported: {type(error).__name__}: {error}") from error
    return _first_that_agrees(source, original, {"int8": small, "float32": whole})


def _loaded(model: str, *, offline: bool) -> Any:
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 (after the environment that it reads)

    # torch's fused attention becomes a hundred more nodes than the plain one.
    settings: dict[str, Any] = {"device": "cpu", "model_kwargs": {"attn_implementation": "eager"}}
    try:
        return SentenceTransformer(model, local_files_only=True, **settings).eval()
    except OSError:
        if offline:
            raise
        return SentenceTransformer(model, **settings).eval()


def _smooth(original: Any) -> None:
    import torch  # noqa: PLC0415 (seconds to load; a finished export needs none of it)

    largest: dict[Any, Any] = {}

    def watch(layer: Any, inputs: Any) -> None:
        seen = inputs[0].detach().abs().flatten(0, -2).amax(0)
        largest[layer] = torch.maximum(largest.get(layer, seen), seen)

    linear = [layer for layer in original.modules() if isinstance(layer, torch.nn.Linear)]
    watches = [layer.register_forward_pre_hook(watch) for layer in linear]
    original.encode(list(SAMPLES), batch_size=1, show_progress_bar=False)
    for handle in watches:
        handle.remove()
    for layer, activations in largest.items():
        factors = torch.from_numpy(smoothing(activations.numpy(), layer.weight.detach().abs().amax(0).numpy()))
        layer.weight.data.mul_(factors)
        layer.register_forward_pre_hook(lambda _, inputs, inverse=1 / factors: (inputs[0] * inverse,))


def _graph(original: Any, path: Path) -> Path:
    import torch  # noqa: PLC0415 (as above)

    class Whole(torch.nn.Module):
        """One text at a time, so there is no padding to mask."""

        def __init__(self) -> None:
            super().__init__()
            self.original = original

        def forward(self, ids: Any) -> Any:
            return self.original({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["sentence_embedding"]

    torch.onnx.export(
        Whole().eval(),
        (torch.ones((1, 7), dtype=torch.long),),
        str(path),
        input_names=[INPUT],
        output_names=[OUTPUT],
        dynamic_axes={INPUT: {1: "tokens"}},
        opset_version=_OPSET,
        dynamo=False,  # the newer exporter takes 11 s instead of 1 s, for a graph that is no faster
    )
    return path


def _quantised(whole: Path, path: Path) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 (as above)

    # Per channel: a scale for all of a matrix leaves a mean cosine of 0.967 instead of 0.994.
    quantize_dynamic(whole, path, per_channel=True, weight_type=QuantType.QInt8)
    return path


def _first_that_agrees(source: Source, original: Any, graphs: dict[str, Path]) -> Made:
    texts = (*PROBES, _LONG)
    wanted = checked(texts, original.encode(list(texts), show_progress_bar=False))
    checked_probes(wanted[: len(PROBES)])
    tokenizer = original.tokenizer.backend_tokenizer.to_str().encode()
    for precision, path in graphs.items():
        made = described(
            source,
            path.read_bytes(),
            tokenizer,
            name=f"{slug(source.model)}/{precision}",
            dimensions=wanted.shape[1],
            max_tokens=original.max_seq_length or _MAX_TOKENS,
            prompt=original.prompts.get(original.default_prompt_name) or "",
        )
        agreement = float(
            (checked(texts, Session(write(path.parent, made)).vectors(texts)) * wanted).sum(axis=1).mean()
        )
        if agreement >= _MIN_AGREEMENT:
            return made
    raise EmbeddingRefused(f"{source.model}: the export's vectors are not the model's own (cosine {agreement:.3f})")


if __name__ == "__main__":
    os.nice(NICENESS)
    sys.exit(main(sys.argv[1:]))
