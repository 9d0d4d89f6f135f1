"""The commands `olvido memory files`: the state of memory as files, and its syncs by hand, while a proxy serves or not.

status      every person's folder: whether it is in step with memory, waits for a confirmation, or has a problem
sync        syncs now; --confirm carries out a large deletion that waits
restore     brings back the lines whose deletion waits
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from proxy.cli.remembered import Command, Memory, Refused, tell, tell_json
from proxy.files import journal, serving
from proxy.files.aside import ASIDE
from proxy.files.desk_syncing import DeskSyncing, desk_files
from proxy.files.folder import Folder
from proxy.files.history import HISTORY
from proxy.files.layout import LOCK, SESSIONS
from proxy.files.looking import owners
from proxy.files.merging import Deletions
from proxy.files.names import folder_of
from proxy.files.remembering import forget, locked
from proxy.files.scrubbing import Gone
from proxy.files.syncing import Synced, Syncs
from proxy.files.unusable import Unusable
from proxy.memory.showing import count, plain
from proxy.storage.erasures import base_of
from proxy.tokens import TokenCounter, load_tokenizer
from proxy.types import Fact

_TITLES = ("FOLDER", "STATE", "SCOPE")


@dataclass(frozen=True, slots=True)
class _Stored:
    """Memory as the database has it."""

    memory: Memory

    async def facts(self, scope: str) -> list[Fact]:
        return await self.memory.facts.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        return await serving.forgotten(self.memory.archive, scope, values)

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str]) -> None:
        there = {fact.id for fact in await self.memory.facts.all(scope)}
        self.memory.facts.put(scope, [row for row in rows if row.id in there or row.id not in known])
        await self.memory.written()


def add_commands(command: Command) -> None:
    """Adds the commands. `command`: makes one of `olvido memory` with its usual options."""
    command("status", _status, "Every person's folder, and whether it is in step with memory.")
    syncing = command("sync", partial(_sync, "ask"), "Sync the folders now.")
    syncing.add_argument("--confirm", action="store_true", help="carry out a large deletion that waits")
    command("restore", partial(_sync, "undo"), "Bring back the lines whose deletion waits.")


async def _status(memory: Memory) -> None:
    with _syncs(memory) as syncs:
        scopes = await _scopes(memory)
        found = [await syncs.sync(scope, only_look=True) for scope in scopes]
    if memory.is_json:
        tell_json(*({"scope": each.scope, "folder": each.folder, "state": state(each)} for each in found))
        return
    rows = [_TITLES, *((each.folder, state(each), plain(each.scope)) for each in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    tell(*("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows))
    others = await asyncio.to_thread(_others, syncs.root, scopes)
    if others and not memory.is_named:
        tell("", "Other folders, which stay as they are:", *(f"  {folder}  {why}" for folder, why in others))


async def _sync(deletions: Deletions, memory: Memory) -> None:
    if getattr(memory.options, "confirm", False):
        deletions = "carry out"
    problems = 0
    with _syncs(memory) as syncs:
        for scope in await _scopes(memory):
            done = await syncs.sync(scope, deletions)
            problems += bool(done.problem)
            if memory.is_json:
                about = {"state": state(done, after=True), "facts": done.rows, "documents": done.documents}
                tell_json({"scope": scope, "folder": done.folder} | about)
            elif done.rows or done.documents or done.is_written or done.waiting or done.problem:
                changed = f"; {count(done.rows)} changed by it" if done.rows else ""
                documents = f"; taken from there: {', '.join(done.documents)}" if done.documents else ""
                tell(f"{done.folder}: {state(done, after=True)}{changed}{documents}")
    if problems:
        raise Refused("not all folders could be synced")


def state(synced: Synced, *, after: bool = False) -> str:
    """Renders the state of a folder. `after`: a sync; else it was only looked at."""
    if synced.problem:
        return synced.problem
    if synced.waiting:
        return f"waits: {synced.waiting.deletions} of {synced.waiting.of} lines were deleted"
    if synced.is_unsettled:
        return "is being saved"
    return "in step" if after or not (synced.rows or synced.documents or synced.is_written) else "to be synced"


async def _scopes(memory: Memory) -> list[str]:
    if memory.is_named:
        return [await memory.scope()]
    known = {
        *await memory.facts.scopes(),
        *(await memory.desks.folders() if memory.config.memory.tools.enabled else ()),
    }
    return sorted(scope for scope in known if "~" not in scope)


@contextmanager
def _syncs(memory: Memory) -> Iterator[Syncs]:
    """Syncs by a thread that ends with the block. Raises Refused where there are no files."""
    settings = memory.config.memory.files
    if settings is None:
        raise Refused("memory.files.path names no folder: see the configuration", 2)
    with ThreadPoolExecutor(1) as executor:
        yield Syncs(settings.path, _Stored(memory), executor, _desk(memory))


def _desk(memory: Memory) -> DeskSyncing | None:
    @cache
    def counter() -> TokenCounter:
        return TokenCounter(load_tokenizer())  # which takes a moment, and only a long section needs it

    return desk_files(memory.config.memory.tools, memory.desks, lambda text: counter().text(text))


def _others(root: Path, scopes: Collection[str]) -> list[tuple[str, str]]:
    """Returns the folders below the root that no sync looks after, and why."""
    whose, known = owners(root), {folder_of(scope) for scope in scopes}
    found = []
    for folder in sorted(each.relative_to(root).as_posix() for each in root.glob("*/*") if each.is_dir()):
        if folder not in known:
            scope = whose.get(folder)
            why = f"nothing is remembered of {plain(scope)}" if scope else "nobody's"
            found.append((folder, why if scope is None or folder_of(scope) == folder else f"is {folder_of(scope)}'s"))
    return found


# --- what other commands do to the files -----------------------------------------------------------------------------


async def forgotten(memory: Memory, scope: str, facts: Sequence[Fact]) -> None:
    """Takes what was forgotten out of a person's files."""
    if memory.config.memory.files is None or base_of(scope) != scope:
        return
    gone = Gone(
        frozenset(fact.id for fact in facts),
        frozenset(link for fact in facts for link in fact.links),
        frozenset(fact.value for fact in facts),
    )
    told = journal.forgotten(sorted(gone.facts), time.time(), " ".join(sorted(gone.values)))
    with _syncs(memory) as syncs:
        folder = Folder(syncs.root, scope)
        try:
            await asyncio.to_thread(forget, folder, gone, told)
            await syncs.sync(scope)
        except Unusable as error:
            raise Refused(f"it was forgotten, but not in the files: {error}; run the command again") from None


async def learnt(memory: Memory, scope: str, facts: Sequence[Fact], known: Iterable[Fact]) -> None:
    """Brings a person's files into step with facts that were written, as the daily log tells. `known`: as they were."""
    if memory.config.memory.files is None or base_of(scope) != scope:
        return
    told = journal.events(journal.Learnt(tuple(facts), {fact.id: fact for fact in known}, time.time()))
    with _syncs(memory) as syncs:
        folder = Folder(syncs.root, scope)
        try:
            if told:
                await asyncio.to_thread(locked, folder, lambda: journal.write(folder, told))
            await syncs.sync(scope)
        except Unusable as error:
            raise Refused(f"it is kept, but the files are not in step: {error}") from None


async def restored(memory: Memory, scope: str, until: float) -> None:
    """Brings back a person's files, with a wipe that is undone."""
    if memory.config.memory.files is None or base_of(scope) != scope:
        return
    with _syncs(memory) as syncs:
        folder = Folder(syncs.root, scope)
        try:
            await asyncio.to_thread(folder.bring_back, until)
        except Unusable as error:
            raise Refused(f"it was brought back, but not in the files: {error}") from None
        await syncs.sync(scope)


def held(root: Path, wanted: Callable[[str], bool]) -> dict[str, int]:
    """Returns how many files of each kind people have."""
    kinds: Counter[str] = Counter(_kind(name) for _, name, _ in files_of(root, wanted))
    return {kind: kinds[kind] for kind in ("files", "older texts", "tapes", "put aside") if kinds[kind]}


def _kind(name: str) -> str:
    first, *_ = name.split("/")
    return {HISTORY: "older texts", SESSIONS: "tapes", ASIDE: "put aside"}.get(first, "files")


def files_of(root: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str, Path]]:
    """Yields folder, name and place of every file of people, older texts, tapes and what was put aside included. Links
    are not followed."""
    for folder, scope in sorted(owners(root).items()):
        if not wanted(scope):
            continue
        for place, folders, names in os.walk(root / folder):
            folders.sort()
            for name in sorted(names):
                path = Path(place) / name
                if path.is_file() and not path.is_symlink() and name != LOCK:
                    yield folder, path.relative_to(root / folder).as_posix(), path


def erased(root: Path, wanted: Callable[[str], bool]) -> int:
    """Removes the folders of people who are erased; returns how many. Raises OSError where that is not possible."""
    meant = {folder: scope for folder, scope in owners(root).items() if wanted(scope)}
    for folder, scope in meant.items():
        if folder_of(scope) != folder:
            raise OSError(f"{folder} was renamed, and has to be removed by hand")
        try:
            Folder(root, scope).remove()
        except Unusable as error:
            raise OSError(str(error)) from None
    return len(meant)
