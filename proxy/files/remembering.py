"""The folders of people, kept up with their memory: what is learnt goes into the daily log, a conversation that ends
becomes a snapshot, what a model finds in it becomes lines of the log and the snapshot's name, what is forgotten leaves
every file; and what only files have is brought back to be recalled.

What fails is tried again where words would stay that must go. A process that is killed before they have gone finds them
when it next looks at the folder: the database knows what was forgotten.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import time

from proxy.files import journal, recalling, scrubbing, slugs, snapshot_files, snapshots
from proxy.files.aside import ASIDE
from proxy.files.folder import Folder
from proxy.files.folder_work import DEADLINE, PAUSES, FolderWork
from proxy.files.journal import Learnt
from proxy.files.lines import decoded
from proxy.files.scrubbing import Gone
from proxy.lru import Lru
from proxy.memory.watching import BesideTurns, Has, Said
from proxy.storage.erasures import base_of
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact
from proxy.types.curation import Digest, MemoryEvent

log = logging.getLogger(__name__)

RECENT = 600.0  # seconds that a conversation may be on its way into a snapshot
LATE = 60.0  # seconds that what a model has made may be on its way here, and tell in its words what was forgotten
NAMED = 86_400.0  # seconds that a name waits for its snapshot
MOST_SCOPES = 5_000  # whose last forgettings are in memory
MOST_NAMES = 5_000  # that wait for their snapshots
MOST_READ = 2 * 2**20  # bytes of files that are read to be recalled
MOST_CHECKED = 16 * 2**20  # the same, when a process looks at a folder for the first time


@dataclass(frozen=True, slots=True)
class _Past:
    """A recent forgetting in a scope: messages from before may still be on their way into a file."""

    at: float
    gone: Gone
    is_wipe: bool = False

    def has(self, event: journal.Event) -> bool:
        """Tells whether an event may say what is gone."""
        is_said = self.is_wipe or event.link in self.gone.links or self.gone.is_in(event.words)
        return is_said and event.at <= self.at


class Remembering:
    """The keeper of people's folders: a `MemoryWatch` and a `CurationWatch`. For the event loop. Scopes of single
    conversations have none."""

    def __init__(
        self,
        root: Path,
        said: Said,
        tasks: Tasks,
        on_fail_open: Callable[[str, str], None],
        *,
        clock: Callable[[], float] = time,
        deadline: float = DEADLINE,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        """`said`: returns the last turns of a session."""
        self.work = FolderWork(root, tasks, on_fail_open, deadline=deadline, pauses=pauses)
        self._said = said
        self._clock = clock
        self._past: Lru[str, tuple[_Past, ...]] = Lru(MOST_SCOPES)
        self._checked: Lru[str, bool] = Lru(MOST_SCOPES)  # scopes all of whose files were looked at
        # By scope and mark of a session: what a model calls it, and when it has; for a snapshot that is not there yet.
        self._called: Lru[tuple[str, str], tuple[str, float]] = Lru(MOST_NAMES)

    # --- what happens to a memory -------------------------------------------------------------------------------------

    def learnt(self, scope: str, facts: Sequence[Fact], before: Mapping[str, Fact], at: float) -> None:
        """Adds lines to the daily log."""
        if told := journal.events(Learnt(tuple(facts), before, at)):
            self.work.put(scope, lambda folder: locked(folder, lambda: journal.write(folder, told)))

    def forgotten(self, scope: str, ids: Collection[str], links: Collection[bytes], values: Collection[str]) -> None:
        """Takes the words out of every file, and adds a line to the daily log that has none."""
        at, gone = self._clock(), Gone(frozenset(ids), frozenset(links), frozenset(values))
        self._remember(scope, _Past(at, gone))
        told = journal.forgotten(sorted(ids), at, " ".join(sorted(values)))
        self.work.put(scope, lambda folder: forget(folder, gone, told), must=True)

    def wiped(self, scope: str, at: float, until: float) -> None:
        """Puts everything aside until then; it goes for good if that is now."""
        self._remember(scope, _Past(at, Gone(), is_wipe=True))
        self.work.put(scope, lambda folder: _put_aside(folder, at, until), must=True)

    def restored(self, scope: str, until: float) -> None:
        """Brings back what was put aside."""
        self._past.pop(scope, None)
        self.work.put(scope, lambda folder: folder.bring_back(until), must=True)

    def tidy(self, scopes: Collection[str]) -> None:
        """Removes what was put aside, of these people, for good where its time has passed."""
        for scope in scopes:
            self.work.put(scope, lambda folder: folder.prune(self._clock()), must=True)

    def erased(self, scope: str) -> None:
        """Leaves what waits for the folder of a person who was erased."""
        self._past.pop(scope, None)
        self._checked.pop(scope, None)
        self._uncall(scope)
        self.work.leave(scope)

    async def ended(self, scope: str, session: str, why: str) -> None:
        """Writes the snapshot of a conversation that has ended; returns when that is done, or has failed."""
        if base_of(scope) != scope:
            return
        turns = await self._said(scope, session)
        if (piece := self.work.put(scope, lambda folder: self._snap(folder, scope, turns, session, why))) is not None:
            await piece.done

    def _snap(self, folder: Folder, scope: str, turns: Sequence[ArchivedTurn], session: str, why: str) -> None:
        past = self._past.get(scope, ())
        wiped_at = max((each.at for each in past if each.is_wipe), default=float("-inf"))
        snapshot = snapshots.taken([turn for turn in turns if turn.at > wiped_at], session, why)
        for each in past:
            snapshot = scrubbing.without(snapshot, each.gone, until=each.at)
        called, at = self._called.get((scope, snapshot.mark), ("", 0.0))
        if self._clock() - at <= NAMED:
            snapshot = replace(snapshot, called=called)
        if snapshot.said:
            locked(folder, lambda: snapshot_files.write(folder, snapshot))

    def _remember(self, scope: str, new: _Past) -> None:
        recent = [each for each in self._past.get(scope, ()) if new.at - each.at <= RECENT]
        self._past.put(scope, (*recent, new))
        self._uncall(scope)

    # --- what a model finds in conversations ----------------------------------------------------------------------

    def happened(self, scope: str, events: Sequence[MemoryEvent]) -> None:
        """Adds lines to the logs of the days on which it happened."""

        def tell(folder: Folder) -> None:
            past = self._past.get(scope, ())
            if left := [each for each in told if not any(gone.has(each) for gone in past)]:
                locked(folder, lambda: journal.write(folder, left))

        if told := journal.noted(events):
            self.work.put(scope, tell)

    def digested(self, scope: str, digest: Digest) -> None:
        """Writes a digest of a day or a week into the log of its last day."""
        at = self._clock()

        def tell(folder: Folder, event: journal.Event) -> None:
            past = self._past.get(scope, ())
            if not _is_late(past, at) and not any(each.gone.is_in(event.words) for each in past):
                locked(folder, lambda: journal.retell(folder, event))

        if (event := journal.of_digest(digest)) is not None:
            self.work.put(scope, partial(tell, event=event))

    def named(self, scope: str, session: str, slug: str) -> None:
        """Gives the snapshot of a session the name that a model has found, be it that it is there, or comes soon."""
        called, mark, at = slugs.name_of(slug), snapshots.mark_of(session), self._clock()

        def rename(folder: Folder) -> None:
            if folder.names() and not _is_late(self._past.get(scope, ()), at):
                locked(folder, lambda: snapshot_files.rename(folder, mark, called))

        if called and base_of(scope) == scope and not _is_late(self._past.get(scope, ()), at):
            self._called.put((scope, mark), (called, at))
            self.work.put(scope, rename)

    def _uncall(self, scope: str) -> None:
        """Leaves the names of a scope: they may tell what is forgotten."""
        for key in [key for key in self._called if key[0] == scope]:
            self._called.pop(key, None)

    # --- what only files have -----------------------------------------------------------------------------------------

    async def beside(self, scope: str, version: bytes, has: Has, was_forgotten: Has) -> BesideTurns | None:
        """Returns the turns that only files have, of those that are recalled; None if the files are as they were at
        that version, or cannot be read. Words that were forgotten, and are there nevertheless, are taken out."""
        if base_of(scope) != scope:
            return None
        now, is_first = self._clock(), scope not in self._checked
        wiped_at = max((each.at for each in self._past.get(scope, ()) if each.is_wipe), default=float("-inf"))
        found: list[tuple[BesideTurns, Gone]] = []

        def look(folder: Folder) -> None:
            files = _texts(folder, now, every=is_first)
            if (stands := recalling.version(files, now)) != version:
                gone = recalling.gone(files, was_forgotten)
                turns = recalling.remembered(files, scope, has, now)
                found.append((BesideTurns(tuple(turn for turn in turns if turn.at > wiped_at), stands), gone))

        piece = self.work.put(scope, look, again=False)
        if piece is None or await piece.done is None:
            return None
        if is_first:
            self._checked.put(scope, True)
            self.tidy([scope])
        if not found:
            return None
        (beside, gone), *_ = found
        if gone:
            self.work.put(scope, lambda folder: forget(folder, gone, ()), must=True)
        return beside


def _is_late(past: Sequence[_Past], at: float) -> bool:
    """Tells whether what a model has made, and told at that time, may be of before something was forgotten."""
    return any(at - each.at <= LATE for each in past)


def locked(folder: Folder, work: Callable[[], object]) -> None:
    """Runs work on a folder, which nobody else writes meanwhile. Raises Unusable."""
    with folder.locked():
        work()


def forget(folder: Folder, gone: Gone, told: Sequence[journal.Event]) -> None:
    """Takes the words of what was forgotten out of a folder, and adds these lines to its daily log. What is cut off is
    done when it is called again."""
    if not folder.every():
        return  # nothing is made for what has gone
    with folder.locked():
        # What was said today, and is now gone, has a line that says "forgotten": it must not count for the one to add.
        new = journal.untold(folder, told)
        scrubbing.scrub(folder, gone)
        journal.write(folder, new, again=True)


def _put_aside(folder: Folder, at: float, until: float) -> None:
    folder.put_aside(until)
    if until <= at:
        folder.prune(at)


def _texts(folder: Folder, now: float, *, every: bool) -> dict[str, str]:
    """Returns the texts of the files that are recalled, and of all others as well where `every` is true, the most
    telling first, as many as may be read."""
    known = folder.names()
    names = recalling.names(known, now)
    left = MOST_READ
    if every:  # older texts, too: a process may have been killed before it has taken words out of them
        older = [name for name in reversed(folder.every()) if not name.startswith(ASIDE)]
        names, left = list(dict.fromkeys([*names, *known, *older])), MOST_CHECKED
    found: dict[str, str] = {}
    for name in names:
        data = folder.read(name) or b""
        left -= len(data)
        if left < 0:
            break
        found[name] = decoded(data)
    return found
