"""Metrics of several processes on one machine, told as one: with PROMETHEUS_MULTIPROC_DIR set, the client library keeps
its values in files of that folder, a few for each process, and whoever is scraped adds them up.

A lock tells a new run from one that goes on: every process holds it, shared, while it lives. Whoever gets it alone is
the first, and clears away what an earlier run has left. What processes of this run have counted stays when they end,
else sums would fall; what they said of their present state goes.
"""

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def folder_of(environ: Mapping[str, str]) -> Path | None:
    """None: this process tells of itself alone."""
    named = environ.get(VARIABLE)
    return Path(named) if named else None


class Shared:
    def __init__(self, folder: Path) -> None:
        """Before the first metric is made. Raises OSError if the folder can't be used."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = os.open(folder / "olvido.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in folder.glob("*.db"):
                left.unlink(missing_ok=True)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def exposition(self) -> bytes:
        self._bury()
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]  # the library's
        return generate_latest(registry)

    def leave(self) -> None:
        mark_process_dead(os.getpid(), str(self._folder))  # type: ignore[no-untyped-call]  # the library's
        os.close(self._lock)

    def _bury(self) -> None:
        """Processes that could not say that they left."""
        told = {int(file.stem.rpartition("_")[2]) for file in self._folder.glob("gauge_live*_*.db")}
        for process in told:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                mark_process_dead(process, str(self._folder))  # type: ignore[no-untyped-call]  # the library's
            except PermissionError:
                continue  # it lives, as another user
