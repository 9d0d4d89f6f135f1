"""Engines, which make vectors of texts: a model that runs in this process, and an OpenAI-compatible server."""

import asyncio
import contextlib
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
import numpy as np
from httpx_aiohttp import HttpxAiohttpClient

from proxy.embedding import EmbeddingRefused, EmbeddingUnavailable, Vectors
from proxy.embedding.exported import INPUT, OUTPUT, Exported, Source, clear, read, source_of, writable

T = TypeVar("T")

log = logging.getLogger(__name__)

TIMEOUT = httpx.Timeout(10.0, connect=5.0)  # seconds; the request that waits for it has a deadline of its own
_SEVERITY_ERROR = 3
_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "OMP_NUM_THREADS": "1",  # the other cores are the requests'
}


class Session:
    """A loaded export: the text's tokens by tokenizers, their vector by onnxruntime, in the calling thread.

    Texts run one by one. int8 quantises activations by their range over the whole run, so a text would get another
    vector in other company (cosines down to 0.985), and a batch gains little on one core: with no padding at all, eight
    texts of one length take 0.74 of the time a text at 32 tokens, 0.84 at 64, 0.94 at 128, 1.1 at 256. Of a run at 34
    tokens half is the quantised products; making tokens of the text takes 2 % as long.
    """

    def __init__(self, exported: Exported) -> None:
        import onnxruntime  # noqa: PLC0415 (0.2 s, which the server's start must not take)
        from tokenizers import Tokenizer  # noqa: PLC0415 (as above)

        self._prompt = exported.manifest.prompt
        self._dimensions = exported.manifest.dimensions
        self._tokenizer = Tokenizer.from_file(str(exported.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(exported.manifest.max_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the requests of everybody else need the cores
        options.inter_op_num_threads = 1
        options.log_severity_level = _SEVERITY_ERROR
        # Every length of text would leave its own memory plan behind.
        options.enable_mem_pattern = False
        if _overflows():
            options.add_session_config_entry("session.x64quantprecision", "1")
        # By path: given bytes, it keeps them.
        self._session = onnxruntime.InferenceSession(exported.model, options, providers=["CPUExecutionProvider"])

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, not yet checked. Texts must be encodable as UTF-8."""
        rows: Vectors = np.empty((len(texts), self._dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            ids = self._tokenizer.encode(self._prompt + text).ids
            row[:] = self._session.run([OUTPUT], {INPUT: np.array([ids], np.int64)})[0][0]
        return rows


class LocalEngine:
    """The engine of a model that runs in this process: finds its export, or has it made, and loads it; one thread does
    all of it.

    An export is looked for in every folder given, and made in the first that can be written; in a temporary one, gone
    with the process, if none can.
    """

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
        self._session = await self._in_thread(lambda: Session(exported))
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
            await _killed(process, folder)
        if process.returncode:
            last = said.decode(errors="replace").strip().rpartition("\n")[2]
            raise EmbeddingRefused(last or f"the export ended with {process.returncode}")
        seconds = round(time.perf_counter() - started, 1)
        log.info("the embedding model was exported", extra={"path": str(folder), "seconds": seconds})


class EndpointEngine:
    """Embeds on an OpenAI-compatible server. `base_url`: up to and including /v1."""

    def __init__(self, base_url: str, model: str, api_key: str | None = None) -> None:
        self.version = f"{model}@{urlsplit(base_url).netloc}"
        self.doing = "asking the endpoint"
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._headers = {"content-type": "application/json"}
        if api_key is not None:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._client: httpx.AsyncClient | None = None

    async def open(self) -> None:
        """Makes the HTTP client."""
        if self._client is None:
            # httpx over aiohttp's sockets, as to every upstream.
            self._client = HttpxAiohttpClient(headers=self._headers, timeout=TIMEOUT)

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Raises EmbeddingUnavailable for an answer that is none."""
        assert self._client is not None, "open comes first"
        body = msgspec.json.encode({"model": self._model, "input": texts, "encoding_format": "float"})
        try:
            response = await self._client.post(self._url, content=body)
        except (httpx.HTTPError, TimeoutError) as error:
            raise EmbeddingUnavailable(f"the endpoint did not answer ({type(error).__name__})") from error
        if response.status_code != 200:
            raise EmbeddingUnavailable(f"the endpoint answered {response.status_code}")
        return _rows(response.content, len(texts))

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Item]


def _rows(body: bytes, expected: int) -> Vectors:
    """A row for each text, by `index`: servers need not answer in order."""
    try:
        items = msgspec.json.decode(body, type=_Reply).data
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise EmbeddingUnavailable("the endpoint's answer has not the shape of embeddings") from error
    items.sort(key=lambda item: item.index)
    if [item.index for item in items] != list(range(expected)):
        raise EmbeddingUnavailable(f"the endpoint answered {len(items)} vectors to {expected} texts")
    if len({len(item.embedding) for item in items}) != 1:
        raise EmbeddingUnavailable("the endpoint's vectors are not equally long")
    with np.errstate(over="ignore"):  # what is no float32 becomes infinite, which the checks refuse
        return np.array([item.embedding for item in items], np.float32)


async def _killed(process: asyncio.subprocess.Process, folder: Path) -> None:
    """Ends the export if it has not ended. What it leaves in `folder` is removed here: on a busy machine the process,
    which is nice, may not come to it for seconds."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):  # it ended in between
        process.kill()
    await process.wait()
    await asyncio.to_thread(clear, folder)


def _overflows() -> bool:
    """Without VNNI, x64's fast product of uint8 and int8 overflows. The exact one takes half as long again, with VNNI
    too, where nothing overflows."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    try:
        return "vnni" not in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
