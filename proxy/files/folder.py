"""One person's folder on the disk.

Everything is done below an open descriptor of the folder: no symbolic link is followed below the root, which may be
one, and no name leads out. All calls block, and belong into threads; whatever goes wrong is `Unusable`. What changes
anything takes the lock by itself; a thread that holds it may take it again.
"""

import errno
import fcntl
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep, time

import msgspec

from proxy.files import aside, atomic, exchange, handles, history, layout
from proxy.files.handles import MOST_BYTES
from proxy.files.layout import LOCK, OWNER
from proxy.files.names import folder_of
from proxy.files.temporary import Step
from proxy.files.unusable import Unusable, told

__all__ = ["MOST_BYTES", "Folder", "Unusable"]

PATIENCE = 2.0  # seconds that a lock is waited for

_POLL = 0.01  # seconds between two looks at a lock
_UNLOCKED_AGE = 3_600.0  # seconds after which a temporary file was left, where no lock tells
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_US = "the folder"


class Folder:
    """The folder of the person whose scope is `scope`, below `root`. Nothing is made before something is locked."""

    def __init__(self, root: Path, scope: str, *, can_exchange: bool = True, patience: float = PATIENCE) -> None:
        """`can_exchange`: False treats the file system as one on which two files cannot change places. `patience`:
        seconds that the lock is waited for."""
        self.path = root / folder_of(scope)
        self.on_step: Step = lambda _: None  # told of every step of what changes files
        self._root, self._scope = root, scope
        self._can_exchange, self._patience = can_exchange, patience
        self._mine = threading.local()  # .folder: the descriptor, while this thread holds the lock

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder, one process and thread at a time, and makes it if it is not there; what killed processes
        left is seen to first. Raises Unusable."""
        with self._locked():
            yield

    def read(self, name: str) -> bytes | None:
        """Returns the bytes of a file, None if it is not there. Raises Unusable."""
        with told(name), ExitStack() as stack:
            if (folder := self._opened(stack)) is None:
                return None
            place = self._place(stack, folder, name)
            return None if place is None else handles.read(place.at, place.base, name)

    def write(self, name: str, data: bytes, *, instead_of: bytes | None, keeps: bool = True) -> bytes | None:
        """Replaces, in one step, what was read before; None: nothing was there. Returns None when it is done. If
        something else stands there by then it is left as it is, and returned. What is replaced is kept in `.history/`
        unless it is there itself, or `keeps` is false: its words are being forgotten. Raises Unusable."""
        if len(data) > MOST_BYTES:
            raise Unusable(f"{name} would be larger than {MOST_BYTES // 1024 // 1024} MiB")
        with self._locked() as folder, told(name), ExitStack() as stack:
            self._check_standing(folder)
            return atomic.write(self._made(stack, folder, name, keeps=keeps), data, instead_of)

    def append(self, name: str, data: bytes) -> None:
        """Adds to the end of a file, on a line of its own; makes it. Raises Unusable; nothing was added then."""
        with self._locked() as folder, told(name), ExitStack() as stack:
            atomic.append(self._made(stack, folder, name), data)

    def seal(self, name: str) -> None:
        """Makes a file read-only for whoever opens it; we replace it all the same. Raises Unusable."""
        with self._locked() as folder, told(name), ExitStack() as stack:
            if (place := self._place(stack, folder, name)) is not None:
                handles.seal(place.at, place.base, name)

    def move(self, name: str, new: str) -> None:
        """Gives a file, in the same folder, a name that nothing has. Raises Unusable."""
        layout.check(new)
        with self._locked() as folder, told(name), ExitStack() as stack:
            if (place := self._place(stack, folder, name)) is not None:
                exchange.place(place.at, place.base, place.at, new.rpartition("/")[2])
                self.on_step(f"moved {name}")

    def drop(self, name: str, *, instead_of: bytes | None = None) -> bytes | None:
        """Removes a file, if it is there. With `instead_of` only if that is its text, which is kept in `.history/`;
        else it is left as it is, and returned. Raises Unusable."""
        with self._locked() as folder, told(name), ExitStack() as stack:
            place = self._place(stack, folder, name)
            return None if place is None else atomic.drop(place, instead_of)

    def keep(self, data: bytes, name: str) -> str:
        """Keeps a text of the file `name` in `.history/`, unless its newest is the same; the oldest leave above a
        bound. Returns its name there. Raises Unusable."""
        layout.check(name)
        with self._locked() as folder, told(history.HISTORY):
            return history.keep(folder, data, name)

    @contextmanager
    def within(self, name: str) -> Iterator[int]:
        """Holds the folder, and opens one in it, which is made. Raises Unusable."""
        with self._locked() as folder, told(name), handles.folder(folder, name, name, make=True) as inner:
            self._check_standing(folder)
            yield inner

    def kept(self) -> list[str]:
        """Returns the names in `.history/`, oldest first; `read(f".history/{name}")` reads one. Raises Unusable."""
        with told(history.HISTORY), ExitStack() as stack:
            folder = self._opened(stack)
            return [] if folder is None else history.names(folder)

    def names(self) -> list[str]:
        """Returns the names of the daily logs and snapshots. Raises Unusable."""
        return [name for name in self._files() if layout.is_memorable(name)]

    def every(self) -> list[str]:
        """Returns the names of all files that hold words of the memory, also older ones, and what was put aside: where
        a forgetting has to go. Raises Unusable."""
        return layout.synced(set(self._files()))

    def documents(self) -> list[str]:
        """Returns the names of the files that are documents of the desk, or may become some, and of what is kept to
        compare them with. Raises Unusable."""
        return [name for name in self._files() if layout.is_document(name) or name.startswith(f"{layout.BASES}/")]

    def put_aside(self, until: float) -> None:
        """Moves everything to where nothing reads it, until then (seconds since 1970): a wipe. Raises Unusable."""
        with self._changed() as folder:
            if folder is not None:
                aside.put(folder, until, layout.STAYS | layout.TAPED, self.on_step)

    def bring_back(self, until: float) -> None:
        """Moves back what was put aside until then: a wipe is undone. Raises Unusable."""
        with self._changed() as folder:
            if folder is not None:
                aside.bring(folder, until, self.on_step)

    def prune(self, now: float) -> None:
        """Removes what was put aside until `now` (seconds since 1970) or earlier. Raises Unusable."""
        with self._changed() as folder:
            if folder is not None:
                aside.prune(folder, now)

    def remove(self) -> None:
        """Removes the folder with all that is in it: its person was erased. What says whose it is goes last: after a
        kill it can be removed again. Raises Unusable."""
        with self._changed() as folder, ExitStack() as stack:
            if folder is None:
                return
            while names := set(handles.names(folder)) - layout.STAYS:
                self._clear(folder, sorted(names))
            self._clear(folder, (OWNER, LOCK))
            root = self._opened_root(stack)
            tenant, person = folder_of(self._scope).split("/")
            at = stack.enter_context(handles.folder(root, tenant, _US))
            with suppress(OSError):  # not empty: whoever waited for the lock has begun anew; others have folders there
                os.rmdir(person, dir_fd=at)
                os.rmdir(tenant, dir_fd=root)

    def _clear(self, folder: int, names: Iterable[str]) -> None:
        for name in names:
            aside.clear(folder, name)
            self.on_step(f"removed {name}")

    # --- opening ---

    @contextmanager
    def _locked(self) -> Iterator[int]:
        if (held := self._held()) is not None:
            yield held
            return
        with ExitStack() as stack:
            folder, is_locked = self._lock(stack)
            with told(_US):
                self._own(folder)
                before = None if is_locked else time() - _UNLOCKED_AGE
                atomic.recover(folder, self._opened_place, before=before)
            self.on_step("locked")
            self._mine.folder = folder
            try:
                yield folder
            finally:
                self._mine.folder = None

    @contextmanager
    def _changed(self) -> Iterator[int | None]:
        """Locks the folder if there is one."""
        with told(_US), ExitStack() as stack:
            is_there = self._opened(stack) is not None
        if not is_there:
            yield None
            return
        with self._locked() as folder, told(_US):
            yield folder

    def _lock(self, stack: ExitStack) -> tuple[int, bool]:
        """Returns the folder, made and locked; and whether it could be locked: not on every file system."""
        deadline = monotonic() + self._patience
        while True:
            with ExitStack() as attempt, told(_US):
                if (found := self._try(attempt)) is not None:
                    stack.push(attempt.pop_all())
                    return found
            if monotonic() > deadline:
                raise Unusable(f"{_US} is in use by another process")
            sleep(_POLL)

    def _try(self, stack: ExitStack) -> tuple[int, bool] | None:
        try:
            folder = self._opened(stack, make=True)
            if folder is None:
                return None
            lock = handles.open_lock(folder, LOCK, LOCK)
        except FileNotFoundError:
            return None  # just removed by another process
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return folder, False
        return (folder, True) if self._stands(folder) and _is_same(folder, LOCK, lock) else None

    def _held(self) -> int | None:
        return getattr(self._mine, "folder", None)

    def _opened_root(self, stack: ExitStack, *, make: bool = False) -> int:
        if make:
            self._root.mkdir(mode=handles.FOLDER, parents=True, exist_ok=True)
        root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, root)
        return root

    def _opened(self, stack: ExitStack, *, make: bool = False) -> int | None:
        """Returns the descriptor of the folder; None if it is not there. Raises Unusable, OSError."""
        if (held := self._held()) is not None:
            return held
        try:
            folder = self._opened_root(stack, make=make)
            for name in folder_of(self._scope).split("/"):
                folder = stack.enter_context(handles.folder(folder, name, _US, make=make))
        except FileNotFoundError:
            return None
        self._is_owned(folder)
        return folder

    def _stands(self, folder: int) -> bool:
        """Tells whether an open folder still is where it was, and not moved, or removed."""
        with suppress(FileNotFoundError), ExitStack() as stack:
            at = self._opened_root(stack)
            tenant, person = folder_of(self._scope).split("/")
            return _is_same(stack.enter_context(handles.folder(at, tenant, _US)), person, folder)
        return False

    def _is_owned(self, folder: int) -> bool:
        """Returns whether the folder says that it is this person's, False if it says nothing. Raises Unusable if it is
        another's."""
        if (found := handles.read(folder, OWNER, OWNER)) is None:
            return False
        try:
            owner = msgspec.json.decode(found, type=dict[str, object]).get("scope")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unusable(f"{OWNER} does not say whose folder it is in") from error
        if owner != self._scope:
            raise Unusable(f"{_US} belongs to somebody else")
        return True

    def _own(self, folder: int) -> None:
        if not self._is_owned(folder):
            data = msgspec.json.encode({"scope": self._scope})
            atomic.write(self._at(folder, folder, OWNER, OWNER, keeps=False), data, None)

    def _place(
        self, stack: ExitStack, folder: int, name: str, *, make: bool = False, keeps: bool = True
    ) -> atomic.Place | None:
        """Returns where a file stands; None if the folder that it would be in is not there."""
        layout.check(name)
        *folders, base = name.split("/")
        at = folder
        try:
            for each in folders:
                at = stack.enter_context(handles.folder(at, each, each, make=make))
        except FileNotFoundError:
            return None
        return self._at(folder, at, base, name, keeps=keeps and not name.startswith("."))

    def _made(self, stack: ExitStack, folder: int, name: str, *, keeps: bool = True) -> atomic.Place:
        """Returns where a file stands, in a folder that is made. Raises Unusable."""
        if (place := self._place(stack, folder, name, make=True, keeps=keeps)) is None:
            raise Unusable(f"{_US} has gone while it was in use")
        return place

    def _at(self, folder: int, at: int, base: str, name: str, *, keeps: bool) -> atomic.Place:
        return atomic.Place(folder, at, base, name, keeps, self._can_exchange, self.on_step)

    @contextmanager
    def _opened_place(self, folder: int, name: str) -> Iterator[atomic.Place | None]:
        with ExitStack() as stack:
            yield self._place(stack, folder, name) if layout.is_ours(name) else None

    def _check_standing(self, folder: int) -> None:
        if not self._stands(folder):
            raise Unusable(f"{_US} has gone while it was in use")

    def _files(self) -> list[str]:
        with told(_US), ExitStack() as stack:
            folder = self._opened(stack)
            found = () if folder is None else handles.files(folder, layout.is_folder)
            return sorted(filter(layout.is_ours, found))


def _is_same(at: int, name: str, descriptor: int) -> bool:
    try:
        found = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))
