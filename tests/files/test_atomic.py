"""A text takes the place of another in one step, and no text that a person saved meanwhile is lost."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.files.folder import Folder, Unusable
from tests.files.saving import (
    MEMORY,
    SAVES,
    SCOPE,
    Save,
    at_step,
    counted,
    folder_in,
    kept,
    late_write,
    left,
    nano,
    steps_of,
    texts,
    vs_code,
)  # fmt: skip

OLD, NEW, THEIRS, LATER = b"- old\n", b"- new\n", b"- theirs\n", b"- later\n"
BOTH = pytest.mark.parametrize("can_exchange", [True, False], ids=["exchanged", "renamed"])
EDITORS = pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)


@BOTH
def test_a_text_replaces_what_was_read_which_is_kept(tmp_path: Path, can_exchange: bool) -> None:
    folder = folder_in(tmp_path, OLD, can_exchange=can_exchange)
    assert folder.write(MEMORY, NEW, instead_of=OLD) is None
    assert folder.read(MEMORY) == NEW
    assert kept(folder) == [OLD]
    assert left(folder) == []


@BOTH
def test_a_text_is_new_where_nothing_was(tmp_path: Path, can_exchange: bool) -> None:
    folder = folder_in(tmp_path, can_exchange=can_exchange)
    assert folder.write(MEMORY, NEW, instead_of=None) is None
    assert folder.read(MEMORY) == NEW
    assert (kept(folder), left(folder)) == ([], [])


@BOTH
@pytest.mark.parametrize("instead_of", [OLD, None, b""])
def test_anything_else_stays_and_is_returned(tmp_path: Path, can_exchange: bool, instead_of: bytes | None) -> None:
    folder = folder_in(tmp_path, THEIRS, can_exchange=can_exchange)
    assert folder.write(MEMORY, NEW, instead_of=instead_of) == THEIRS
    assert texts(folder)[MEMORY] == THEIRS
    assert left(folder) == []


def test_what_has_gone_is_told_and_stays_away(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    with pytest.raises(Unusable, match=r"^MEMORY.md has gone while it was in use$"):
        folder.write(MEMORY, NEW, instead_of=OLD)
    assert set(texts(folder)) == {".lock", ".olvido.json"}


def test_what_is_forgotten_is_not_kept(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, OLD)
    assert folder.write(MEMORY, NEW, instead_of=OLD, keeps=False) is None
    assert OLD not in texts(folder).values()
    kept_as = folder.keep(THEIRS, MEMORY)
    assert folder.write(f".history/{kept_as}", NEW, instead_of=THEIRS) is None
    assert THEIRS not in texts(folder).values()


@EDITORS
@pytest.mark.parametrize("step", ["created", "written", "whole"])
def test_a_save_before_ours_stays_and_is_returned(tmp_path: Path, save: Save, step: str) -> None:
    folder = folder_in(tmp_path, OLD)
    folder.on_step = at_step(step, lambda: save(folder.path / MEMORY, THEIRS))
    assert folder.write(MEMORY, NEW, instead_of=OLD) == THEIRS
    assert folder.read(MEMORY) == THEIRS
    assert left(folder) == []


@EDITORS
@pytest.mark.parametrize("step", ["exchanged", "kept", "done"])
def test_a_save_after_ours_stands(tmp_path: Path, save: Save, step: str) -> None:
    folder = folder_in(tmp_path, OLD)
    folder.on_step = at_step(step, lambda: save(folder.path / MEMORY, THEIRS))
    assert folder.write(MEMORY, NEW, instead_of=OLD) is None
    assert folder.read(MEMORY) == THEIRS
    assert OLD in kept(folder)
    assert left(folder) == []


@EDITORS
def test_a_save_while_another_is_put_back_stands(tmp_path: Path, save: Save) -> None:
    folder = folder_in(tmp_path, OLD)
    first = at_step("whole", lambda: vs_code(folder.path / MEMORY, THEIRS))
    second = at_step("exchanged", lambda: save(folder.path / MEMORY, LATER))

    def on_step(step: str) -> None:
        first(step)
        second(step)

    folder.on_step = on_step
    assert folder.write(MEMORY, NEW, instead_of=OLD) == LATER
    assert folder.read(MEMORY) == LATER
    assert THEIRS in kept(folder)
    assert left(folder) == []


def test_whoever_saves_all_the_time_ends_the_attempt_and_loses_nothing(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, OLD)
    person, steps = Person(folder.path / MEMORY), []

    def save(step: str) -> None:
        steps.append(step)
        if step in ("whole", "exchanged", "put back"):
            person.act("vs code")

    folder.on_step = save
    assert folder.write(MEMORY, NEW, instead_of=OLD) in person.saved
    assert len(steps) < 30
    assert person.saved <= set(texts(folder).values())
    assert left(folder) == []


@BOTH
@pytest.mark.parametrize("step", ["exchanged", "kept", "done"])
def test_a_late_write_through_an_old_descriptor_is_kept(tmp_path: Path, step: str, can_exchange: bool) -> None:
    folder = folder_in(tmp_path, OLD, can_exchange=can_exchange)
    opened = os.open(folder.path / MEMORY, os.O_WRONLY)
    folder.on_step = at_step(step, lambda: late_write(opened, THEIRS))
    folder.write(MEMORY, NEW, instead_of=OLD)
    if step == "kept" and not can_exchange:  # is told only of an exchange
        os.close(opened)
        return
    assert THEIRS in texts(folder).values()
    assert left(folder) == []


@pytest.mark.parametrize("make", ["link", "folder", "pipe"])
def test_what_is_no_file_any_more_is_put_back_and_told(tmp_path: Path, make: str) -> None:
    folder = folder_in(tmp_path, OLD)
    path = folder.path / MEMORY

    def replace() -> None:
        path.unlink()
        makers: dict[str, Callable[[], None]] = {
            "link": lambda: path.symlink_to("/etc/passwd"), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path),
        }  # fmt: skip
        makers[make]()

    folder.on_step = at_step("whole", replace)
    with pytest.raises(Unusable, match=r"is a symbolic link|is not a file"):
        folder.write(MEMORY, NEW, instead_of=OLD)
    assert path.is_symlink() or not path.is_file()
    assert left(folder) == []


# --- killed at every step ---

KILLED = """
import os, signal, sys
from pathlib import Path
from proxy.files.folder import Folder

root, scope, at, how, saves_at, can_exchange, keeps = sys.argv[1:]
folder = Folder(Path(root), scope, can_exchange=can_exchange == "1")
path, seen = folder.path / "MEMORY.md", 0

def on_step(step):
    global seen
    if step == saves_at:
        if how == "in place":
            path.write_bytes(b"- theirs\\n")
        else:
            other = path.with_name("x")
            other.write_bytes(b"- theirs\\n")
            other.replace(path)
    if seen == int(at):
        os.kill(os.getpid(), signal.SIGKILL)
    seen += 1

folder.on_step = on_step
folder.write("MEMORY.md", b"- new\\n", instead_of=b"- old\\n", keeps=keeps == "1")
"""


def killed(folder: Folder, at: int, how: str = "", saves_at: str = "", *, exchanges: bool, keeps: bool = True) -> bool:
    arguments = [str(folder.path.parent.parent), SCOPE, str(at), how, saves_at, str(int(exchanges)), str(int(keeps))]
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, env={"PYTHONPATH": str(Path.cwd())})
    assert ended.returncode in (0, -signal.SIGKILL)
    return ended.returncode != 0


def every_kill(root: Path, check: Callable[[Folder], None], *, memory: bytes = OLD, **how: Any) -> int:
    """Kills at one step after the other, checks what stands there, then what stands there when the next has come."""
    for at in range(20):
        folder = folder_in(root / str(at), memory)
        if not killed(folder, at, **how):
            return at
        check(folder)
        with folder.locked():
            pass
        check(folder)
        assert left(folder) == []
    raise AssertionError("it never ends")


@pytest.mark.long
@BOTH
def test_after_a_kill_the_old_or_the_new_text_stands_whole(tmp_path: Path, can_exchange: bool) -> None:
    def check(folder: Folder) -> None:
        assert folder.read(MEMORY) in (OLD, NEW)
        assert OLD in texts(folder).values()

    assert every_kill(tmp_path, check, exchanges=can_exchange) >= 6


@pytest.mark.long
@pytest.mark.parametrize("how", ["in place", "renamed"])
@pytest.mark.parametrize("saves_at", ["created", "written", "whole", "exchanged"])
def test_after_a_kill_a_text_that_was_saved_meanwhile_is_there(tmp_path: Path, how: str, saves_at: str) -> None:
    def check(folder: Folder) -> None:
        assert folder.read(MEMORY) in (OLD, NEW, THEIRS)
        if folder in was_saved:
            assert folder.read(MEMORY) == THEIRS  # back in its place
        elif THEIRS in texts(folder).values():
            was_saved.append(folder)

    was_saved: list[Folder] = []
    steps = every_kill(tmp_path, check, how=how, saves_at=saves_at, exchanges=True)
    assert steps >= 6
    assert len(was_saved) >= 3


@pytest.mark.long
def test_after_a_kill_what_is_forgotten_is_not_kept(tmp_path: Path) -> None:
    def check(folder: Folder) -> None:
        assert folder.kept() == []

    assert every_kill(tmp_path, check, exchanges=True, keeps=False) >= 6


def test_what_a_file_system_without_locks_left_is_seen_to_when_it_is_old(tmp_path: Path) -> None:
    from proxy.files import atomic

    folder = folder_in(tmp_path)
    left_there = folder.path / f".MEMORY.md.olvido-1-00000000-{'1' * 16}-{'2' * 16}.tmp"
    left_there.write_bytes(OLD)
    descriptor = os.open(folder.path, os.O_RDONLY)
    changed = left_there.stat().st_ctime
    atomic.recover(descriptor, folder._opened_place, before=changed - 1)  # noqa: SLF001 (only such a file system has it called so)
    assert left_there.exists()
    atomic.recover(descriptor, folder._opened_place, before=changed + 1)  # noqa: SLF001 (as above)
    os.close(descriptor)
    assert (left(folder), kept(folder)) == ([], [OLD])


# --- append ---


def test_what_is_appended_is_on_a_line_of_its_own(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.append("2026-11-23.md", b"- one\n")
    with (folder.path / "2026-11-23.md").open("ab") as file:
        file.write(b"- a person's")
    folder.append("2026-11-23.md", b"- two\n")
    assert folder.read("2026-11-23.md") == b"- one\n- a person's\n- two\n"


def test_what_is_appended_never_goes_through_a_hard_link(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"- one\n")
    (folder.path / "2026-11-23.md").hardlink_to(elsewhere)
    folder.append("2026-11-23.md", b"- two\n")
    assert folder.read("2026-11-23.md") == b"- one\n- two\n"
    assert elsewhere.read_bytes() == b"- one\n"


def test_what_is_appended_while_an_editor_renames_is_in_its_file_too(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.append("2026-11-23.md", b"- one\n")
    folder.on_step = at_step("appended", lambda: vs_code(folder.path / "2026-11-23.md", b"- one, edited\n"))
    folder.append("2026-11-23.md", b"- two\n")
    assert folder.read("2026-11-23.md") == b"- one, edited\n- two\n"


def test_a_file_that_is_full_takes_no_more(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    whole = b"-" * (4 * 1024 * 1024)
    (folder.path / "2026-11-23.md").write_bytes(whole)
    with pytest.raises(Unusable, match="is full"):
        folder.append("2026-11-23.md", b"- two\n")
    assert folder.read("2026-11-23.md") == whole


# --- any interleaving ---

ACTS = (*SAVES, "open", "late", "rename away", "create")
STEPS = ("created", "written", "whole", "exchanged", "put back", "kept", "done")


class Person:
    """Saves in any way, in as many steps as it takes; knows which texts they have themselves written over, and whether
    they have themselves removed the file that they still have open."""

    def __init__(self, path: Path) -> None:
        self._path, self._texts = path, counted("person")
        self._opened: int | None = None
        self._has_removed = False  # what is opened
        self.saved: set[bytes] = set()

    def act(self, how: str) -> None:
        backup = self._path.with_name("MEMORY.md~")
        if how in SAVES:
            self._over(self._path, removes=how != "nano")
            if how == "vim":
                self._over(backup, removes=True)
            SAVES[how](self._path, self._text())
        elif how == "open" and self._opened is None and self._path.exists():
            self._opened, self._has_removed = os.open(self._path, os.O_RDWR), False
        elif how == "late" and self._opened is not None:
            self.saved.discard(os.pread(self._opened, 1_000, 0))
            text = self._text()
            late_write(self._opened, text)
            self._opened = None
            if self._has_removed:
                self.saved.discard(text)
        elif how == "rename away" and self._path.exists():
            self._over(backup, removes=True)
            self._path.rename(backup)
        elif how == "create":
            self._over(self._path)
            nano(self._path, self._text())
            self._over(backup, removes=True)
            backup.unlink(missing_ok=True)

    def _text(self) -> bytes:
        text = next(self._texts)
        self.saved.add(text)
        return text

    def _over(self, path: Path, *, removes: bool = False) -> None:
        if not path.exists():
            return
        self.saved.discard(path.read_bytes())
        if removes and self._opened is not None and os.path.samestat(path.stat(), os.fstat(self._opened)):
            self._has_removed = True


@pytest.mark.long
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(ACTS)), max_size=6), max_size=5))
def test_no_text_that_stood_there_is_lost_however_saves_and_writes_meet(plan: list[list[tuple[str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = folder_in(Path(root), OLD)
        person, ours = Person(folder.path / MEMORY), counted("ours")
        for meanwhile in plan:
            rest = list(meanwhile)

            def on_step(step: str, rest: list[tuple[str, str]] = rest) -> None:
                while rest and rest[0][0] == step:
                    person.act(rest.pop(0)[1])

            found, text = folder.read(MEMORY), next(ours)
            folder.on_step = on_step
            try:
                stands = folder.write(MEMORY, text, instead_of=found)
            except Unusable as error:
                assert "has gone" in str(error)  # noqa: PT017 (it may, and need not, be raised)
            else:
                assert stands is None or stands != text
            folder.on_step = lambda _: None
            assert person.saved <= set(texts(folder).values())
        assert left(folder) == []


def test_every_step_is_told(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, OLD)
    steps = steps_of(folder, lambda: folder.write(MEMORY, NEW, instead_of=OLD))
    assert steps == ["locked", "created", "written", "whole", "exchanged", "kept", "done"]
