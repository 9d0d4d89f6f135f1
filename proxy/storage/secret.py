"""Private folders and files, and the secret that tenants are hashed with."""

import logging
import os
import secrets
import stat
import tempfile
from pathlib import Path

from proxy.storage.base import SecretUnsafe

log = logging.getLogger(__name__)

FILE_NAME = "tenant.secret"
SECRET_BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(path: Path) -> Path:
    """Creates the folder `path` with mode 0700, and returns it. An existing one is left as it is: it may be /tmp or a
    home, and our files in it are 0600 anyway. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & OTHERS:
        log.warning("storage folder is open to other users", extra={"path": str(path)})
    return path


def private_file(path: Path) -> None:
    """Creates the file `path` with mode 0600, before a library creates it with the umask's. Raises OSError."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & OTHERS:
        path.chmod(0o600)


def tenant_secret(folder: Path) -> bytes:
    """Returns the 32 bytes that API keys are hashed with, generated once for a storage folder.

    Raises `SecretUnsafe` rather than make a new one: with another secret every tenant would lose all it has stored.
    """
    path = folder / FILE_NAME
    try:
        private_folder(folder)
        try:
            return _read(path)
        except FileNotFoundError:
            _create(path)
            return _read(path)
    except OSError as error:
        raise SecretUnsafe(f"{path}: {error.strerror}") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        secret = file.read(SECRET_BYTES + 1)
    if mode & OTHERS:
        raise SecretUnsafe(f"{path} has mode {stat.S_IMODE(mode):04o}; others can read it: chmod 600 {path}")
    if len(secret) != SECRET_BYTES:
        raise SecretUnsafe(f"{path} is not a secret of {SECRET_BYTES} bytes: restore it, or remove it to start anew")
    return secret


def _create(path: Path) -> None:
    """Write aside and link into place: of two processes one wins, and neither ever sees half a file."""
    descriptor, aside = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(aside, path)
        except FileExistsError:
            log.debug("another process made the tenant secret first")
    finally:
        Path(aside).unlink()
