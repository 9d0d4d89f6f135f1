"""Exports for tests that run no model."""

from pathlib import Path

from proxy.embedding.exported import Made, Source, described, read

SOURCE = Source("org/tiny", "tiny-1", "", "tiny")


def made(source: Source = SOURCE, _scratch: Path | None = None, *, model: bytes = b"onnx") -> Made:
    return described(source, model, b"{}", dimensions=8, max_tokens=16, prompt="query: ", name="tiny/int8")


def kept(folder: Path, source: Source = SOURCE) -> Made | None:
    """What is on disk, with its contents."""
    found = read(folder, source)
    return None if found is None else Made(found.manifest, found.model.read_bytes(), found.tokenizer.read_bytes())
