"""Exports for tests that run no model."""

from pathlib import Path

from proxy.embedding.exported import Made, described, read
from proxy.embedding.source import Source

SOURCE = Source("org/tiny", "tiny-1", "", "tiny")


def made(source: Source = SOURCE, _scratch: Path | None = None, *, model: bytes = b"onnx") -> Made:
    return described(source, "tiny/int8", model, b"{}", dimensions=8, max_tokens=16, prompt="query: ")


def kept(folder: Path, source: Source = SOURCE) -> Made | None:
    """What is on disk, with its contents."""
    found = read(folder, source)
    return None if found is None else Made(found.manifest, found.model.read_bytes(), found.tokenizer.read_bytes())
