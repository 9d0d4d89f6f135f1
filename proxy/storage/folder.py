"""The small private files of the storage folder: the secret that tenants are hashed with; and the admin cookies that
were logged out before they expire.

A cookie is valid by its signature, so its end must be stored: then it stays ended after a restart, and every process
that shares the folder knows of it within a second. Where nothing is on disk it is known to this process, until it ends.
"""

import asyncio
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, time

from proxy.storage.base import SecretUnsafe

log = logging.getLogger(__name__)

SECRET = "tenant.secret"  # noqa: S105 (the name of its file)
SECRET_BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO  # permissions

SHARED_SECRET = "database.secret"  # noqa: S105 (the name of its file)
LOGOUTS = "admin.logouts"
REREAD = 1.0  # seconds
MOST_LOGOUTS = 10_000  # cookies; the oldest are dropped


def private_folder(path: Path) -> None:
    """Creates the folder `path` with mode 0700. An existing one is left as it is: it may be /tmp or a home, and our
    files in it are 0600 anyway. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & OTHERS:
        log.warning("storage folder is open to other users of this machine: chmod 700 %s", path)


def private_file(path: Path) -> None:
    """Creates the file `path` with mode 0600, before a library creates it with the umask's. Raises OSError."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & OTHERS:
        path.chmod(0o600)


def tenant_secret(folder: Path) -> bytes:
    """Returns the 32 bytes that API keys are hashed with, generated once for a storage folder.

    Raises `SecretUnsafe` rather than make a new one: with another secret every tenant would lose all it has stored.
    """
    path = folder / SECRET
    try:
        private_folder(folder)
        try:
            return _read(path)
        except FileNotFoundError:
            _create(path)
            return _read(path)
    except OSError as error:
        raise SecretUnsafe(f"{path} cannot be used: {error.strerror}") from error


def kept_secret(folder: Path, secret: bytes | None = None) -> bytes | None:
    """Returns the secret of a shared database as this machine knows it, so that it can serve while the database is
    away; None if it does not. `secret`: what the database says, which is kept. Raises SecretUnsafe."""
    path = folder / SHARED_SECRET
    try:
        private_folder(folder)
        if secret is not None:
            _replace(path, secret)
            return secret
        return _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SecretUnsafe(f"{path} cannot be used: {error.strerror}") from error


def _replace(path: Path, secret: bytes) -> None:
    descriptor, aside = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    Path(aside).replace(path)


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


class FileLogouts:
    """Ended cookies in memory and, with a `folder`, in its file: an error of the disk is logged. `clock` returns Unix
    seconds."""

    def __init__(self, folder: Path | None, clock: Callable[[], float] = time) -> None:
        self._file = None if folder is None else folder / LOGOUTS
        self._clock = clock
        self._ended: dict[str, int] = {}  # id of a cookie → when it would have expired, Unix seconds
        self._read: tuple[int, int] = (0, 0)  # size and time of the file when it was read
        self._looked = float("-inf")  # monotonic

    def has(self, cookie_id: str) -> bool:
        return cookie_id in self._ended

    async def add(self, cookie_id: str, expires: int) -> None:
        self._note(cookie_id, expires)
        if self._file is not None:
            await self._at_the_file(lambda file: _append(file, cookie_id, expires))

    async def refresh(self) -> None:
        if self._file is None or monotonic() - self._looked < REREAD:
            return
        self._looked = monotonic()
        await self._at_the_file(self._reread)

    async def _at_the_file(self, work: Callable[[Path], None]) -> None:
        assert self._file is not None
        try:
            await asyncio.to_thread(work, self._file)
        except OSError as error:
            log.warning("logouts are known to this process alone", extra={"why": error.strerror})

    def _reread(self, file: Path) -> None:
        try:
            now_is = file.stat()
        except FileNotFoundError:
            return
        if (version := (now_is.st_size, now_is.st_mtime_ns)) == self._read:
            return
        for line in file.read_text("ascii", "replace").splitlines():
            cookie_id, _, expires = line.partition(" ")
            if expires.isascii() and expires.isdecimal():
                self._note(cookie_id, int(expires))
        self._read = version
        if not self._ended:
            file.unlink()  # every one of them has ended by itself

    def _note(self, cookie_id: str, expires: int) -> None:
        now = self._clock()
        kept = {each: at for each, at in self._ended.items() if at > now}
        if expires > now:
            kept[cookie_id] = expires
        self._ended = dict(
            list(kept.items())[-MOST_LOGOUTS:]
        )  # at once: the event loop looks at it while a thread is here


def _append(file: Path, cookie_id: str, expires: int) -> None:
    """Adds a line in one write: other processes do the same."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as lines:
        lines.write(f"{cookie_id} {expires}\n".encode())
        os.fsync(descriptor)
