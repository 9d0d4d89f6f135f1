"""Processes of the proxy that are forked from one which has imported its code already: to import it, word tables and
all, takes a second and a half of CPU, and hundreds of processes are started by the tests. What it would load as it
starts, the tokenizer and the like, is there too (`tests/warmed.py`). But for that each is one as `python -m proxy` is,
with memory, threads, signals and an end of its own.

That command itself is what tests of several workers start, of the command line and of what is installed."""

import multiprocessing
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from proxy.cli import main
from proxy.http import exchange

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "uvloop",
        "proxy.cli.serving",
        "proxy.server",
        "tests.curation.faults",
        "tests.files.desk_syncing_once",
        "tests.warmed",
    ]
)


class Process(Protocol):
    """What tests do with a process; `subprocess.Popen` is one."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Forked:
    """A process that runs the command `olvido`, in which nothing but `environ` is set. What it logs is in `log`."""

    def __init__(self, arguments: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        log.write_bytes(b"")
        given = (tuple(arguments), log, dict(environ), Path.cwd())
        self._process = PROCESSES.Process(target=_run, args=given)
        self._process.start()
        self._pid = self._process.pid or 0

    @property
    def pid(self) -> int:
        """Of the operating system."""
        return self._pid

    def poll(self) -> int | None:
        """The exit status, negative if a signal has ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended. Raises TimeoutExpired if that takes longer."""
        self._process.join(timeout)
        if (status := self.poll()) is None:
            raise subprocess.TimeoutExpired("olvido", timeout or 0.0)
        return status

    def send_signal(self, sig: int) -> None:
        """Does nothing if it has ended."""
        if self.poll() is None:
            os.kill(self._pid, sig)

    def terminate(self) -> None:
        """Asks it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()


def run(work: Callable[..., object], *given: object, seconds: float = 60.0) -> subprocess.CompletedProcess[bytes]:
    """Does `work`, a function of a module, in a process of its own; returns its end, and what it has printed. Raises
    TimeoutExpired."""
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder, "out"), Path(folder, "err")
        for each in printed:
            each.write_bytes(b"")
        process = PROCESSES.Process(target=_captured, args=(work, given, *printed))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(str(work), seconds)
        return subprocess.CompletedProcess([], process.exitcode, *(each.read_bytes() for each in printed))


def _captured(work: Callable[..., object], given: Sequence[object], out: Path, err: Path) -> None:
    for number, file in ((1, out), (2, err)):
        with file.open("ab") as written:
            os.dup2(written.fileno(), number)
    work(*given)


def _run(arguments: Sequence[str], log: Path, environ: Mapping[str, str], folder: Path) -> None:
    exchange._PROCESS = secrets.token_hex(8)  # noqa: SLF001 (what a process draws when the module is imported)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    with log.open("ab") as written:
        os.dup2(written.fileno(), sys.stderr.fileno())
    sys.exit(main(arguments))
