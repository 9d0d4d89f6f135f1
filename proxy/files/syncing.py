"""The sync of one person's MEMORY.md with memory.

    read the file → read memory → merge → memory is written → the file is written → its text is kept as the next base

Whatever ends it on the way, the next sync comes to the same: what memory has taken already is found there by its words,
and from a text whose base was not kept nothing was deleted. What a person saves meanwhile is merged again.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import time
from typing import Protocol, TypeVar

from proxy.conversation import topics
from proxy.files import text as texts
from proxy.files.desk_syncing import DeskSyncing
from proxy.files.document import UNNAMED, Document, parse, rendered
from proxy.files.folder import Folder
from proxy.files.known import Said
from proxy.files.layout import MEMORY
from proxy.files.merging import Deletions, Merged, Waiting, foreign, merge
from proxy.files.unusable import Unusable
from proxy.lru import Lru
from proxy.memory.extract import extract
from proxy.types import Fact

log = logging.getLogger(__name__)
T = TypeVar("T")

SYNCED = "MEMORY-{}.md"  # what a text of ours is kept as, by its number
MOST_PARSED = 64
TRIES = 5  # while a person saves again and again
SETTLED = 2.0  # seconds after which a file that has lost most of its lines is not being written any more

_SYNCED = re.compile(r".*-MEMORY-([0-9]+)\.md")
_OTHER = "personal"  # domain of a line without a heading that is about nothing in particular
_KEY_WORDS = 5


class Remembered(Protocol):
    """Memory, as a sync needs it."""

    async def facts(self, scope: str) -> list[Fact]:
        """Returns all facts of a scope, as of now. Raises StorageError."""

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        """Returns which of these values were forgotten. Raises StorageError."""

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str]) -> None:
        """Writes facts; they are durable once it returns. `known`: the ids of those that are not new: what was
        forgotten of them meanwhile does not come back. Raises StorageError."""


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync."""

    scope: str
    folder: str  # relative to the root
    at: float
    rows: int = 0  # facts that the file has changed
    is_written: bool = False  # the file has changed, or one of a document
    waiting: Waiting | None = None
    documents: tuple[str, ...] = ()  # names of those of the desk that their files have changed
    problem: str = ""  # for people, without contents
    is_unsettled: bool = False  # somebody is saving: it is to be tried again in a moment


@dataclass(frozen=True, slots=True)
class _Read:
    """A file, and the text that its person had before them."""

    saved: bytes | None  # None: there is no file
    text: texts.Text
    document: Document
    base: Document | None
    number: int  # of the base; 0: none
    newest: int  # number of the newest text of ours that is kept
    age: float  # seconds since the file was saved, or removed


@dataclass(eq=False)
class Syncs:
    """Syncs of all people of one root folder, one at a time each."""

    root: Path
    memory: Remembered
    executor: Executor  # of one thread: a lock belongs to the one that took it
    desk: DeskSyncing | None = None  # None: documents of the desk are no files
    clock: Callable[[], float] = time
    on_step: Callable[[str], None] = lambda _step: None  # called before each step
    _parsed: Lru[Path, Document] = field(default_factory=lambda: Lru(MOST_PARSED))  # of the last syncs
    _busy: dict[str, tuple[asyncio.Lock, int]] = field(default_factory=dict)

    async def sync(self, scope: str, deletions: Deletions = "ask", *, only_look: bool = False) -> Synced:
        """Syncs a person's file. `only_look`: nothing is written. Raises StorageError."""
        lock, waiting = self._busy.get(scope, (asyncio.Lock(), 0))
        self._busy[scope] = lock, waiting + 1
        try:
            async with lock:
                return await self._guarded(scope, deletions, only_look=only_look)
        finally:
            lock, waiting = self._busy.pop(scope)
            if waiting > 1:
                self._busy[scope] = lock, waiting - 1

    async def _guarded(self, scope: str, deletions: Deletions, *, only_look: bool) -> Synced:
        folder = Folder(self.root, scope)
        folder.on_step = self.on_step
        place = folder.path.relative_to(self.root).as_posix()
        stack = ExitStack()
        try:
            if not only_look:
                await self._in_thread(lambda: stack.enter_context(folder.locked()))
            done = await self._facts(folder, scope, deletions, only_look=only_look)
            return replace(await self._with_documents(done, folder, scope, only_look=only_look), folder=place)
        except Unusable as error:
            return Synced(scope, place, self.clock(), problem=str(error))
        finally:
            # In the thread that has the lock, behind what is under way there if this is cancelled.
            self.executor.submit(stack.close)

    async def _facts(self, folder: Folder, scope: str, deletions: Deletions, *, only_look: bool) -> Synced:
        try:
            return await self._synced(folder, scope, deletions, only_look=only_look)
        except Unusable as error:
            return Synced(scope, "", self.clock(), problem=str(error))

    async def _with_documents(self, done: Synced, folder: Folder, scope: str, *, only_look: bool) -> Synced:
        if self.desk is None:
            return done
        desk = await self.desk.sync(folder, scope, self.executor, only_look=only_look)
        return replace(
            done,
            is_written=done.is_written or bool(desk.written),
            documents=desk.taken,
            problem="; ".join(filter(None, (done.problem, *desk.problems))),
            is_unsettled=done.is_unsettled or desk.is_unsettled,
        )

    async def _synced(self, folder: Folder, scope: str, deletions: Deletions, *, only_look: bool) -> Synced:
        rows = 0
        for _ in range(TRIES):
            found = await self._in_thread(lambda: self._read(folder))
            facts = await self.memory.facts(scope)
            unknown = foreign(found.document, facts)
            forgotten = await self.memory.forgotten(scope, unknown) if unknown else set()
            merged = await self._in_thread(partial(self._merged, scope, found, facts, forgotten, deletions))
            text = _text(found, merged)
            is_new = bool(merged.document.lines or merged.waiting)
            is_written = is_new if found.saved is None else text != found.text.text
            done = Synced(scope, "", self.clock(), rows + len(merged.rows), is_written, merged.waiting)
            if only_look:
                return done
            if merged.waiting and found.age < SETTLED and not found.document.is_waiting:
                return replace(done, rows=rows, is_written=False, is_unsettled=True)
            if merged.rows:
                self.on_step("memory")
                await self.memory.write(scope, merged.rows, {fact.id for fact in facts})
                rows += len(merged.rows)
            if not is_written or await self._in_thread(partial(self._write, folder, found, merged, text)):
                return done
        raise Unusable(f"{MEMORY} is saved again and again")

    def _read(self, folder: Folder) -> _Read:
        self.on_step("read")
        data = folder.read(MEMORY)
        text = texts.decode(data or b"")
        document = parse(text.text, self._parsed.get(folder.path))
        kept: dict[int, str] = {}  # of equal numbers, which a wipe that was undone leaves, the last one
        for each in sorted(folder.kept(), key=lambda each: each.partition("-")[2]):
            if (match := _SYNCED.fullmatch(each)) is not None:
                kept[int(match[1])] = each
        newest = max(kept, default=0)
        number = newest if document.number is None else document.number
        base = None
        if (name := kept.get(number)) is not None and (old := folder.read(f".history/{name}")) is not None:
            before = texts.decode(old).text
            base = document if before == text.text else parse(before, document)
        self._parsed.put(folder.path, document)
        return _Read(data, text, document, base, number if base else 0, newest, self._age(folder))

    def _age(self, folder: Folder) -> float:
        for place in (folder.path / MEMORY, folder.path):
            with suppress(OSError):
                return abs(self.clock() - place.lstat().st_mtime)
        return 0.0

    def _merged(
        self, scope: str, found: _Read, facts: Sequence[Fact], forgotten: set[str], deletions: Deletions
    ) -> Merged:
        return merge(
            found.base,
            found.document,
            facts,
            scope=scope,
            now=self.clock(),
            read=read_line,
            forgotten=forgotten,
            deletions=deletions,
        )

    def _write(self, folder: Folder, found: _Read, merged: Merged, text: str) -> bool:
        """Writes the file. False if something else stands there by now."""
        self.on_step("file")
        data = texts.encode(replace(found.text, text=text))
        if folder.write(MEMORY, data, instead_of=found.saved, keeps=not merged.has_forgotten) is not None:
            return False
        if not merged.waiting:
            self.on_step("base")
            folder.keep(text.encode(), SYNCED.format(found.newest + 1))
        return True

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


def _text(found: _Read, merged: Merged) -> str:
    """Returns the text that is to stand in the file. It has a new number if it is another one, unless a deletion waits:
    then the old one, whose base has what was deleted."""
    if (waits := merged.waiting) is not None:
        notice = (
            f"{waits.deletions} of {waits.of} lines are gone from here. Put an x between the brackets to let them go, "
            "or run `olvido memory files restore` to have them back."
        )
        return rendered(replace(merged.document, number=found.number), notice)
    same = rendered(merged.document)
    if found.base is not None and found.document.number is not None and same == found.text.text:
        return same
    return rendered(replace(merged.document, number=found.newest + 1))


def read_line(text: str, heading: str) -> Said:
    """Returns how memory takes a new line under a heading: by what it states about its author, if it does."""
    stated = extract(text)
    if len(stated) == 1:
        return Said(heading if heading != UNNAMED else stated[0].domain, stated[0].key, stated[0].pinned)
    words = re.findall(r"\w+", text.lower())[:_KEY_WORDS]
    domain = heading if heading != UNNAMED else topics.domain(text) or _OTHER
    return Said(domain, "-".join(words)[:128] or "note")
