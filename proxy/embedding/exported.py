"""A model's export on disk: `model.onnx`, `tokenizer.json`, and `manifest.json`, which says what they are.

The manifest is written last and holds the sha256 of the others, so an export that is half written, damaged or mixed
from two is the same as none: it is made again.
"""

import fcntl
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from proxy.embedding.source import Source

log = logging.getLogger(__name__)

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
LOCK = "lock"


class Manifest(msgspec.Struct, frozen=True):
    """A description of an export, written last."""

    fingerprint: str  # of the source it was made from
    version: str  # of its vectors
    model_sha256: str
    tokenizer_sha256: str
    dimensions: int
    max_tokens: int  # longer texts are cut
    prompt: str = ""  # stands before every text


@dataclass(frozen=True, slots=True)
class Made:
    """An export in memory, before it is written."""

    manifest: Manifest
    model: bytes = field(repr=False)
    tokenizer: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Exported:
    """A complete export on disk."""

    manifest: Manifest
    model: Path
    tokenizer: Path


def read(folder: Path, source: Source) -> Exported | None:
    """Reads the export; None if there is none from this source, or a damaged one."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        if manifest.fingerprint != source.fingerprint or source.version not in ("", manifest.version):
            return None
        exported = Exported(manifest, folder / MODEL, folder / TOKENIZER)
        hashes = (_sha256_of(exported.model), _sha256_of(exported.tokenizer))
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.warning("an exported model is unreadable", extra={"path": str(folder), "why": str(error)})
        return None
    if hashes != (manifest.model_sha256, manifest.tokenizer_sha256):
        log.warning("an exported model is damaged", extra={"path": str(folder)})
        return None
    return exported


def write(folder: Path, made: Made) -> Exported:
    """Writes an export in place of the one that is there. A reader at the same time sees the old, the new, or none."""
    _replace(folder / MODEL, made.model)
    _replace(folder / TOKENIZER, made.tokenizer)
    _replace(folder / MANIFEST, msgspec.json.encode(made.manifest))
    return Exported(made.manifest, folder / MODEL, folder / TOKENIZER)


def described(
    source: Source, name: str, model: bytes, tokenizer: bytes, *, dimensions: int, max_tokens: int, prompt: str
) -> Made:
    """Adds the manifest to an export. `name` and the hash of the model are the version of vectors that have none of
    their own."""
    digest = _sha256(model)
    manifest = Manifest(
        fingerprint=source.fingerprint,
        version=source.version or f"{name}/{digest[:12]}",
        model_sha256=digest,
        tokenizer_sha256=_sha256(tokenizer),
        dimensions=dimensions,
        max_tokens=max_tokens,
        prompt=prompt,
    )
    return Made(manifest, model, tokenizer)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks the folder, so that one process at a time makes an export; the others wait, and find it made. The lock ends
    with its holder, however that ends."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def writable(folder: Path) -> bool:
    """True if files can be made in the folder, which is made if need be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replace(path: Path, data: bytes) -> None:
    descriptor, aside = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
