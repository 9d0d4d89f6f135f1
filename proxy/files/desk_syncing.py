"""The sync of the documents of a person's desk with files of their folder: its sections, what the model has saved, what
the person has put there. And `identity.md`, the model's rules, which is written and never read.

    look at all files → of each that is not in step: merge → it is stored → the file is written → that is the next base

Each step is noted in `.desk/` before it is taken, so that a sync that was killed is done again without doing anything
twice. Whoever writes meanwhile is seen: the store knows versions, and the file that somebody has saved stays.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import TypeVar

from proxy.config.memory import DeskSections, MemoryTools
from proxy.desk.identity import Identity
from proxy.desk.schemas import NAMES
from proxy.desk.tools import section_of
from proxy.files import bases, desk_texts, layout
from proxy.files import text as texts
from proxy.files.bases import Base, Taken
from proxy.files.folder import Folder
from proxy.files.history import HISTORY
from proxy.files.layout import IDENTITY
from proxy.files.rewriting import Restless, never, replaced
from proxy.files.unusable import Unusable
from proxy.storage.desk import MOST_BYTES, DeskStore
from proxy.types.desk import DeskEvent, Document, Edit

T = TypeVar("T")

TRIES = 5  # while others write, too
SETTLED = 2.0  # seconds after which a file that has gone, or is empty, is not being saved any more


@dataclass(frozen=True, slots=True)
class DeskSynced:
    """The result of a sync."""

    taken: tuple[str, ...] = ()  # names of documents that the person has changed
    written: tuple[str, ...] = ()  # names of files that have changed
    problems: tuple[str, ...] = ()  # for people, without contents
    is_unsettled: bool = False  # somebody is saving: it is to be tried again in a moment

    def __or__(self, other: "DeskSynced") -> "DeskSynced":
        return DeskSynced(
            self.taken + other.taken,
            self.written + other.written,
            self.problems + other.problems,
            self.is_unsettled or other.is_unsettled,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A file, and what is known of it."""

    name: str
    saved: bytes | None  # None: there is no file
    text: texts.Text
    base: Base
    is_young: bool  # somebody may be saving it

    @property
    def file(self) -> str | None:
        """Its text; None if it has no words."""
        return desk_texts.said(self.text.text)


@dataclass(frozen=True, slots=True)
class DeskSyncing:
    """Syncs of documents of people. Methods run on the event loop; what blocks, in the thread that holds the folder."""

    store: DeskStore
    limits: DeskSections
    count: Callable[[str], int]  # tokens of a text
    rules: str  # of `identity.md`
    clock: Callable[[], float] = time

    async def sync(self, folder: Folder, scope: str, thread: Executor, *, only_look: bool = False) -> DeskSynced:
        """Syncs the documents of a person. `folder`: locked by `thread`, unless it is only looked at. Raises
        StorageError, Unusable."""
        work = _Work(self, folder, scope, thread, only_look)
        stored = {each.name: each for each in await self.store.documents(scope)}
        names, problems = await work.run(partial(work.astray, stored))
        done = DeskSynced(problems=tuple(problems))
        for name in names:
            try:
                done |= await work.document(name)
            except (Unusable, Restless) as error:
                done |= DeskSynced(problems=(str(error) or f"{name} is saved again and again",))
        return done | await work.run(work.identity)


def desk_files(settings: MemoryTools, store: DeskStore, count: Callable[[str], int]) -> DeskSyncing | None:
    """Returns what syncs the documents of desks with files; None where the model has no tools. Raises ValueError if the
    rules can't be read."""
    if not (settings.enabled and store.keeps):
        return None
    rules = Identity(settings.identity).rules(settings.language, NAMES)
    return DeskSyncing(store, settings.sections, count, rules)


@dataclass(frozen=True, slots=True)
class _Work:
    """The work on one folder."""

    of: DeskSyncing
    folder: Folder
    scope: str
    thread: Executor
    only_look: bool

    async def run(self, work: Callable[[], T]) -> T:
        """Runs what blocks."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)

    # --- what stands there --------------------------------------------------------------------------------------------

    def astray(self, stored: dict[str, Document]) -> tuple[list[str], list[str]]:
        """Returns the names of documents that are not in step, and what ails others."""
        self.folder.on_step("look")
        every = self.folder.documents()
        known = bases.by_document(every)
        names, problems = list[str](), list[str]()
        for name in sorted({*filter(layout.is_document, (*every, *known)), *stored}):
            try:
                found = self._read(name, known.get(name, ()))
            except Unusable as error:
                problems.append(str(error))
                continue
            document = stored.get(name)
            now = desk_texts.shown(document.text) if document is not None else None
            if not found.base.is_settled or not found.base.text == found.file == now:
                names.append(name)
        return names, problems

    def _read(self, name: str, files: Sequence[str]) -> _Found:
        data = self.folder.read(name)
        text = texts.decode(data or b"", name, may_have_markers=True)
        return _Found(name, data, text, bases.read(self.folder, files), self._is_young(name))

    def _read_anew(self, name: str) -> _Found:
        self.folder.on_step(f"read {name}")
        return self._read(name, bases.by_document(self.folder.documents()).get(name, ()))

    def _is_young(self, name: str) -> bool:
        for place in (self.folder.path / name, self.folder.path):
            with suppress(OSError):
                return abs(self.of.clock() - place.lstat().st_mtime) < SETTLED
        return False

    async def _base(self, found: _Found, document: Document | None) -> str | None:
        """Returns the text that the person had before them."""
        base = found.base
        if (taken := base.taken) is not None:
            later = [document, *await self.of.store.older(self.scope, found.name)]
            if any(each is not None and _is_of(each, taken) for each in later):
                return taken.text
        if base.next is not None:
            return desk_texts.nearest((base.text, base.next), found.file)
        if base.text is None and found.file is not None and document is not None:
            # A folder that was lost, or comes out of a backup: an old text is nobody's edit.
            older = await self.of.store.older(self.scope, found.name)
            texts_of = (desk_texts.shown(each.text) for each in older)
            return next((text for text in texts_of if text == found.file), None)
        return base.text

    # --- one document -------------------------------------------------------------------------------------------------

    async def document(self, name: str) -> DeskSynced:
        """Syncs a document. Raises StorageError, Unusable."""
        taken = False
        for _ in range(TRIES):
            found = await self.run(partial(self._read_anew, name))
            document = await self.of.store.document(self.scope, name)
            stored = None if document is None or document.is_removed else desk_texts.shown(document.text)
            base = await self._base(found, document)
            if not found.base.is_settled and not self.only_look:  # one step is noted at a time
                await self.run(partial(bases.settle, self.folder, name, base, found.base.files))
            wanted = await self.run(partial(desk_texts.joined, base, stored, found.file))
            if wanted != stored and found.file is None and found.is_young:
                return DeskSynced(is_unsettled=True)
            if wanted != stored:
                await self.run(partial(self._check, found, stored))
            if self.only_look:
                return _done(name, taken=wanted != stored, written=wanted != found.file)
            if wanted != stored:
                if not await self._stored(found, document, wanted):
                    continue
                taken = True
            is_written = wanted != found.file
            if await self.run(partial(self._written, found, base, stored, wanted, taken=wanted != stored)):
                return _done(name, taken=taken, written=is_written)
        raise Restless

    def _check(self, found: _Found, stored: str | None) -> None:
        """Raises Unusable for a person's text that is not taken, as the API takes none."""
        text, name = found.file or "", found.name
        if texts.has_markers(text) and not texts.has_markers(stored or ""):
            texts.decode(text.encode("utf-8", "replace"), name)
        size = len(text.encode("utf-8", "replace"))
        if size > MOST_BYTES:
            raise Unusable(f"{name} is too long: a document has {MOST_BYTES:,} bytes at most, this one {size:,}")
        if (section := section_of(name)) is None:
            return
        most: int = getattr(self.of.limits, section)
        tokens = self.of.count(text) if size > most else size
        if tokens > most:
            raise Unusable(f"{name} is too long: it has {most:,} tokens at most, this one {tokens:,}")

    async def _stored(self, found: _Found, document: Document | None, wanted: str | None) -> bool:
        """Stores what the person has made of a document, with the event that tells of it. False if others were
        faster."""
        at = round(self.of.clock(), 6)
        version, before = (document.version, document.text) if document is not None else (0, "")
        if document is None and wanted is None:
            return True
        if found.file is not None:
            taken = Taken(found.file, version, at)
            await self.run(partial(bases.taking, self.folder, found.name, taken))
        session = next((each.session for each in await self.of.store.sessions(self.scope, 1)), "")
        edit = Edit("", found.name, before, wanted or "", version=version + 1, by="person")
        self.folder.on_step(f"store {found.name}")
        try:
            put = await self.of.store.put(
                self.scope,
                found.name,
                wanted,
                version=version,
                at=at,
                by="person",
                session=session,
                events=[DeskEvent(at, "", edit)] if session else [],
            )
        except ValueError as error:
            raise Unusable(f"{found.name} cannot be taken: {error}") from None
        self.folder.on_step(f"stored {found.name}")
        return put is not None

    def _written(self, found: _Found, base: str | None, stored: str | None, wanted: str | None, *, taken: bool) -> bool:
        """Writes the file, and keeps its text as the next base. False if something else stands there by now."""
        name, left = found.name, list(self._notes(found.name))
        if taken:  # the store has the person's text now: that is what the next merge begins with
            bases.settle(self.folder, name, found.file, left)
            left = list(self._notes(name))
        gone = desk_texts.forgotten_lines(base or found.file or "", stored or "")
        if gone:
            self._forget(name, gone)
        if wanted != found.file:
            if wanted is None:
                if found.saved and self.folder.drop(name, instead_of=found.saved) is not None:
                    return False
            else:
                left.append(bases.writing(self.folder, name, wanted))
                self.folder.on_step(f"file {name}")
                data = texts.encode(replace(found.text, text=wanted))
                if (
                    self.folder.write(name, data, instead_of=found.saved, keeps=bool(found.file) and not gone)
                    is not None
                ):
                    return False
        self.folder.on_step(f"base {name}")
        bases.settle(self.folder, name, wanted, left)
        return True

    def _notes(self, name: str) -> Sequence[str]:
        return bases.by_document(self.folder.documents()).get(name, ())

    def _forget(self, name: str, gone: frozenset[str]) -> None:
        """Takes lines that were forgotten out of older texts of a document: whoever was to do it may have been
        killed."""
        for kept in self.folder.kept():
            if kept.endswith(f"-{name}") and layout.has_document(f"{HISTORY}/{kept}"):
                replaced(self.folder, f"{HISTORY}/{kept}", lambda text: desk_texts.without(text, gone), keeps=never)

    # --- the rules ----------------------------------------------------------------------------------------------------

    def identity(self) -> DeskSynced:
        """Writes the rules where there are documents; whatever a person has made of them is kept, and not read."""
        if not any(map(layout.is_document, self.folder.documents())):
            return DeskSynced()
        try:
            wanted, stands = desk_texts.ended(self.of.rules).encode(), self.folder.read(IDENTITY)
            if stands == wanted:
                return DeskSynced()
            if not self.only_look:
                if self.folder.write(IDENTITY, wanted, instead_of=stands) is not None:
                    return DeskSynced(is_unsettled=True)
                self.folder.seal(IDENTITY)
        except Unusable as error:
            return DeskSynced(problems=(str(error),))
        return DeskSynced(written=(IDENTITY,))


def _is_of(document: Document, taken: Taken) -> bool:
    return document.version == taken.version + 1 and document.by == "person" and abs(document.at - taken.at) < 1e-6


def _done(name: str, *, taken: bool, written: bool) -> DeskSynced:
    return DeskSynced((name,) if taken else (), (name,) if written else ())
