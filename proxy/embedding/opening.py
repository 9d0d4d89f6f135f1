"""Choice of the embedder by the configuration."""

import os
from collections.abc import Mapping
from pathlib import Path

from proxy.config import Config
from proxy.embedding.base import Embedder, EmbeddingOff, Observed
from proxy.embedding.endpoint import EndpointEngine
from proxy.embedding.local import LocalEngine
from proxy.embedding.service import EngineEmbedder
from proxy.embedding.source import source_of

FOLDER = "embedding"


def open_embedder(
    config: Config,
    *,
    observed: Observed = lambda _size, _seconds: None,
    environ: Mapping[str, str] | None = None,
) -> Embedder:
    """Not started, and nothing loaded. Off where nothing would use it: without reuse by intent and context management,
    or where nothing is kept. `observed` is told the texts and seconds of every run."""
    is_used = config.reuse.intent.enabled or config.context.mode != "off"
    if not config.embedding.enabled or not is_used or config.storage.kind == "off":
        return EmbeddingOff()
    embedding = config.embedding
    if embedding.base_url is not None:
        key = None if embedding.api_key is None else embedding.api_key.get_secret_value()
        return EngineEmbedder(EndpointEngine(embedding.base_url, embedding.model, key), observed)
    return EngineEmbedder(
        LocalEngine(embedding.model, export_folders(config, os.environ if environ is None else environ)), observed
    )


def vectors_of(config: Config) -> str:
    """A name for models whose vectors can be compared, known before any is loaded; empty if there is none."""
    embedding = config.embedding
    if not embedding.enabled:
        return ""
    if embedding.base_url is not None:
        return f"{embedding.model}@{embedding.base_url}"
    source = source_of(embedding.model)
    return source.version or f"{source.folder} {source.fingerprint}"


def export_folders(config: Config, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The storage folder, unless nothing is kept there; then the user's cache: an export is made of a public model,
    holds nothing of any user, and takes ten seconds to make."""
    kept = (config.storage.path / FOLDER,) if config.storage.kind == "sqlite" else ()
    home = environ.get("HOME")
    cache = environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
    return (*kept, Path(cache) / "olvido" / FOLDER) if cache else kept
