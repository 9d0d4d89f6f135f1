"""What a wipe took away is not read by anybody, comes back whole, and goes when its time has come."""

from pathlib import Path

import pytest

from proxy.files.folder import Folder
from tests.files.saving import MEMORY, folder_in, kept, texts

UNTIL = 1_790_000_000.5
LOG, SNAPSHOT = "2026-11-23.md", "snapshots/trip.md"
OURS = {".lock", ".olvido.json"}


def full(root: Path) -> Folder:
    folder = folder_in(root, b"old\n")
    folder.write(MEMORY, b"new\n", instead_of=b"old\n")
    folder.append(LOG, b"- one\n")
    folder.write(SNAPSHOT, b"said\n", instead_of=None)
    (folder.path / "todo.md").write_bytes(b"a person's own\n")
    return folder


def test_what_is_put_aside_is_read_by_nobody_and_comes_back(tmp_path: Path) -> None:
    folder = full(tmp_path)
    before = texts(folder)
    folder.put_aside(UNTIL)
    assert (folder.read(MEMORY), folder.names(), folder.kept()) == (None, [], [])
    assert {name for name in texts(folder) if not name.startswith(".aside/")} == OURS
    folder.bring_back(UNTIL)
    assert texts(folder) == before
    assert not (folder.path / ".aside").exists()


def test_what_is_put_aside_can_still_be_forgotten(tmp_path: Path) -> None:
    folder = full(tmp_path)
    folder.put_aside(UNTIL)
    for name in folder.every():
        assert folder.write(name, b"- \n", instead_of=folder.read(name)) is None
    assert {text for name, text in texts(folder).items() if name not in OURS} == {b"- \n", b"a person's own\n"}


def test_each_wipe_comes_back_by_itself(tmp_path: Path) -> None:
    folder = full(tmp_path)
    folder.put_aside(UNTIL)
    folder.write(MEMORY, b"second\n", instead_of=None)
    folder.put_aside(UNTIL + 1)
    folder.bring_back(UNTIL + 2)
    assert folder.read(MEMORY) is None
    folder.bring_back(UNTIL + 1)
    assert folder.read(MEMORY) == b"second\n"
    folder.prune(UNTIL)
    folder.bring_back(UNTIL)
    assert (folder.read(MEMORY), folder.names()) == (b"second\n", [])


def test_what_was_written_meanwhile_stays_and_what_comes_back_is_kept(tmp_path: Path) -> None:
    folder = full(tmp_path)
    folder.put_aside(UNTIL)
    folder.write(MEMORY, b"newer\n", instead_of=None)
    folder.append(LOG, b"- two\n")
    folder.write(SNAPSHOT, b"said later\n", instead_of=None)
    folder.bring_back(UNTIL)
    assert folder.read(MEMORY) == b"newer\n"
    assert set(kept(folder)) == {b"old\n", b"new\n"}
    assert folder.read(LOG) == b"- one\n- two\n"
    assert (folder.read(SNAPSHOT), folder.read("snapshots/trip-2.md")) == (b"said later\n", b"said\n")
    assert not (folder.path / ".aside").exists()


def test_what_is_the_same_by_now_is_there_once(tmp_path: Path) -> None:
    folder = full(tmp_path)
    before = texts(folder)
    folder.put_aside(UNTIL)
    folder.write(MEMORY, b"new\n", instead_of=None)
    folder.write(SNAPSHOT, b"said\n", instead_of=None)
    folder.append(LOG, b"- one\n")
    folder.bring_back(UNTIL)
    assert texts(folder) == before


@pytest.mark.parametrize(("now", "is_there"), [(0.0, True), (UNTIL - 1, True), (UNTIL, False), (UNTIL + 1, False)])
def test_what_was_put_aside_goes_when_its_time_has_come(tmp_path: Path, now: float, is_there: bool) -> None:
    folder = full(tmp_path)
    folder.put_aside(UNTIL)
    folder.prune(now)
    assert (folder.path / ".aside").exists() == is_there
    folder.bring_back(UNTIL)
    assert (folder.read(MEMORY) == b"new\n") == is_there


def test_a_link_that_was_put_aside_goes_and_not_what_it_names(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_bytes(b"x")
    folder = folder_in(tmp_path / "root", b"old\n")
    (folder.path / "link").symlink_to(outside)
    (folder.path / "2026-11-24.md").symlink_to(outside / "theirs")
    folder.put_aside(UNTIL)
    folder.prune(UNTIL)
    assert set(texts(folder)) == OURS
    assert (outside / "theirs").read_bytes() == b"x"


class Killed(BaseException):
    pass


def killed_after(folder: Folder, steps: int) -> None:
    rest = iter(range(steps))

    def on_step(step: str) -> None:
        if step.startswith(("aside", "back")) and next(rest, None) is None:
            raise Killed

    folder.on_step = on_step


@pytest.mark.parametrize("steps", range(5))
def test_a_kill_on_the_way_there_leaves_no_memory_and_is_made_good(tmp_path: Path, steps: int) -> None:
    folder = full(tmp_path)
    before = texts(folder)
    killed_after(folder, steps)
    with pytest.raises(Killed):
        folder.put_aside(UNTIL)
    assert folder.read(MEMORY) is None
    folder.on_step = lambda _: None
    folder.put_aside(UNTIL)
    assert folder.every() == [name for name in folder.every() if name.startswith(".aside/")]
    folder.bring_back(UNTIL)
    assert texts(folder) == before


@pytest.mark.parametrize("steps", range(5))
def test_a_kill_on_the_way_back_is_made_good(tmp_path: Path, steps: int) -> None:
    folder = full(tmp_path)
    before = texts(folder)
    folder.put_aside(UNTIL)
    folder.append(LOG, b"- two\n")
    killed_after(folder, steps)
    with pytest.raises(Killed):
        folder.bring_back(UNTIL)
    folder.on_step = lambda _: None
    folder.bring_back(UNTIL)
    assert texts(folder) == before | {LOG: b"- one\n- two\n"}


def test_what_was_written_after_a_wipe_that_was_killed_is_kept_there(tmp_path: Path) -> None:
    folder = full(tmp_path)
    killed_after(folder, 0)
    with pytest.raises(Killed):
        folder.put_aside(UNTIL)
    folder.on_step = lambda _: None
    folder.write(MEMORY, b"newer\n", instead_of=None)
    folder.put_aside(UNTIL)
    assert folder.read(MEMORY) is None
    assert {b"new\n", b"newer\n"} <= set(texts(folder).values())
