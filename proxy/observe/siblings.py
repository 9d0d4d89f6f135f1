"""The workers of one machine as one source of metrics: whichever is scraped answers for all of them.

Each has a socket in the run-time folder of their supervisor, mode 0700, on which it tells its snapshot. Before it tells
one to anybody it writes it to a file beside: of a worker that is killed that is what is known, and no sum that was told
falls. The supervisor adds the files of those that have ended to one (`bury`), so that their number does not grow.

    NAME.sock   of a worker that runs     NAME.last   what it told last     gone   all that have ended, with their names

Files are read before `gone`, and a worker that this names is not counted besides: so it does not matter when a worker
ends while another one reads.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.observe.merging import Snapshot, merged, packed, unpacked

log = logging.getLogger(__name__)

DEADLINE = 1.0  # seconds that a worker has to tell its snapshot
MOST_NAMES = 1_000  # of workers that have ended: they only matter while a reader is at it
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker of a supervisor."""

    name: str  # "1", "2", …: unique while the supervisor runs
    folder: Path  # the private run-time folder of all of them


@dataclass(frozen=True, slots=True)
class Gathered:
    """The answers of the workers."""

    live: tuple[Snapshot, ...]
    gone: tuple[Snapshot, ...]  # of those that have ended, and the last of those that did not answer in time
    silent: int = 0  # workers that did not answer in time


class Buried(msgspec.Struct, frozen=True, array_like=True):
    """The counts of workers that have ended."""

    names: tuple[str, ...]
    counted: Snapshot


class Siblings:
    """A worker among its siblings. `look`: returns its own snapshot. `seconds`: how long another one may take."""

    def __init__(
        self, folder: Path, name: str, look: Callable[[], Awaitable[Snapshot]], *, seconds: float = DEADLINE
    ) -> None:
        self.seconds = seconds
        self._folder = folder
        self._name = name
        self._look = look
        self._telling = asyncio.Lock()  # so that an older snapshot never replaces a newer one in the file
        self._server: asyncio.AbstractServer | None = None

    async def open(self) -> None:
        """Begins to answer the others. Raises OSError."""
        await self._tell()
        self._server = await asyncio.start_unix_server(self._answer, self._folder / f"{self._name}.sock")

    async def close(self) -> None:
        """Ends that; what was counted stays."""
        if self._server is not None:
            self._server.close()
            (self._folder / f"{self._name}.sock").unlink(missing_ok=True)
        with suppress(OSError):  # the supervisor, and its folder with it, may be gone
            await self._tell()

    async def gather(self) -> Gathered:
        """Returns what all workers tell, this one included. It takes `seconds` at most, and the time of its own."""
        own = await self._tell()
        others = [path.stem for path in self._folder.glob("*.sock") if path.stem != self._name]
        answers = await asyncio.gather(*map(self._asked, others))
        told = {name: answer for name, answer in zip(others, answers, strict=True) if isinstance(answer, tuple)}
        gone = await asyncio.to_thread(_gone, self._folder, told, self._name)
        silent = sum(isinstance(answer, TimeoutError) for answer in answers)
        if silent:
            log.warning("workers did not tell their metrics in time", extra={"workers": silent})
        ended = gone[0]
        live = (own, *(each for name, each in told.items() if name not in ended))
        return Gathered(live, gone[1], silent)

    async def _tell(self) -> Snapshot:
        async with self._telling:
            told = await self._look()
            await asyncio.to_thread(_write, self._folder / f"{self._name}.last", packed(told))
            return told

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(packed(await self._tell()))
            await writer.drain()
        except OSError as error:
            log.debug("a sibling did not wait for the metrics", extra={"why": str(error)})
        finally:
            writer.close()

    async def _asked(self, name: str) -> Snapshot | Exception:
        """Returns a sibling's snapshot; TimeoutError if it did not answer in time, another error if it has ended."""
        try:
            async with asyncio.timeout(self.seconds):
                reader, writer = await asyncio.open_unix_connection(self._folder / f"{name}.sock")
                try:
                    told = unpacked(await reader.read())
                finally:
                    writer.close()
        except OSError as error:  # TimeoutError among them
            return error
        return told if told is not None else EOFError()


def bury(folder: Path, name: str) -> None:
    """Adds what a worker has counted, which has ended, to that of the others. Raises OSError."""
    before = _buried(folder)
    last = _read(folder / f"{name}.last")
    counted = merged((), (before.counted, last or ()))
    _write(folder / GONE, msgspec.msgpack.encode(Buried((*before.names, name)[-MOST_NAMES:], counted)))
    for suffix in ("last", "sock"):
        (folder / f"{name}.{suffix}").unlink(missing_ok=True)


def _gone(folder: Path, told: Mapping[str, Snapshot], own: str) -> tuple[frozenset[str], tuple[Snapshot, ...]]:
    """Returns the names of those that have ended, and what is known of all that did not tell anything themselves."""
    last = {path.stem: _read(path) for path in folder.glob("*.last") if path.stem != own and path.stem not in told}
    buried = _buried(folder)  # after the files
    ended = frozenset(buried.names)
    return ended, (buried.counted, *(each for name, each in last.items() if each is not None and name not in ended))


def _read(file: Path) -> Snapshot | None:
    try:
        return unpacked(file.read_bytes())
    except OSError:
        return None


def _buried(folder: Path) -> Buried:
    try:
        return msgspec.msgpack.decode((folder / GONE).read_bytes(), type=Buried)
    except (OSError, msgspec.DecodeError):
        return Buried((), ())


def _write(file: Path, data: bytes) -> None:
    aside = file.with_name(f"{file.name}.new")
    aside.write_bytes(data)
    os.replace(aside, file)  # noqa: PTH105 (the same, in one word)
