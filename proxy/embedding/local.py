"""The engine that runs in this process: finds the model's export, or has it made, and loads it; one thread does all of
it.

An export is looked for in every folder given, and made in the first that can be written; in a temporary one, gone with
the process, if none can.
"""

import asyncio
import contextlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from proxy.embedding.base import EmbeddingRefused, EmbeddingUnavailable, Vectors
from proxy.embedding.exported import Exported, read, writable
from proxy.embedding.source import Source, source_of

if TYPE_CHECKING:
    from proxy.embedding.session import Session

log = logging.getLogger(__name__)
T = TypeVar("T")

_KILL_SECONDS = 2.0  # that the export has to remove what it was making
_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "OMP_NUM_THREADS": "1",  # the other cores are the requests'
}


class LocalEngine:
    """The engine of a model that runs in this process, in a thread of its own."""

    def __init__(self, model: str, folders: Sequence[Path]) -> None:
        self.version = source_of(model).version
        self.doing = ""
        self._model = model
        self._folders = folders
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._session: Session | None = None

    async def open(self) -> None:
        """Loads the model, exported first if need be. Raises EmbeddingRefused if it can't be."""
        if self._session is not None:
            return
        self.doing = "loading the model"
        source = await self._in_thread(lambda: source_of(self._model))
        exported = await self._in_thread(lambda: self._found(source))
        if exported is None:
            folder = await self._in_thread(self._writable) / source.folder
            self.doing = "exporting the model, which is done once"
            await self._export(folder)
            exported = await self._in_thread(lambda: read(folder, source))
        if exported is None:
            raise EmbeddingRefused(f"the export of {self._model} changed while it was made")
        self._session = await self._in_thread(lambda: _loaded(exported))
        self.version = exported.manifest.version

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, not yet checked."""
        session = self._session
        if session is None:
            raise EmbeddingUnavailable("the model is not loaded")
        return await self._in_thread(lambda: session.vectors(texts))

    async def close(self) -> None:
        """Ends the thread without waiting for it."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._temporary is not None:
            self._temporary.cleanup()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _found(self, source: Source) -> Exported | None:
        return next(filter(None, (read(folder / source.folder, source) for folder in self._folders)), None)

    def _writable(self) -> Path:
        folder = next(filter(writable, self._folders), None)
        if folder is not None:
            return folder
        self._temporary = tempfile.TemporaryDirectory(prefix="olvido-", ignore_cleanup_errors=True)
        log.warning("no folder to keep the exported model in", extra={"tried": [str(path) for path in self._folders]})
        return Path(self._temporary.name)

    async def _export(self, folder: Path) -> None:
        """Raises EmbeddingRefused, with the last thing that the export said, if it fails."""
        started = time.perf_counter()
        # -P: a file of the working directory must not pass for a library.
        command = (sys.executable, "-P", "-m", "proxy.embedding.export", "--", self._model, str(folder))
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **_QUIET},
        )
        try:
            _, said = await process.communicate()
        finally:
            await _stopped(process)
        if process.returncode:
            last = said.decode(errors="replace").strip().rpartition("\n")[2]
            raise EmbeddingRefused(last or f"the export ended with {process.returncode}")
        seconds = round(time.perf_counter() - started, 1)
        log.info("the embedding model was exported", extra={"path": str(folder), "seconds": seconds})


def _loaded(exported: Exported) -> "Session":
    from proxy.embedding.session import Session  # noqa: PLC0415 (onnxruntime: 0.2 s, which the server's start must not take)

    return Session(exported)


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):  # it ended in between
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _KILL_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
