"""A person's folder: nothing outside it is read or written, and whatever is wrong with it is one clear line."""

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proxy.files.folder import MOST_BYTES, Folder, Unusable
from tests.files.saving import MEMORY, SCOPE, at_step, folder_in, kept, left, texts

OTHER = "fedcba9876543210" * 2 + "/ben"
SNAPSHOT = "snapshots/trip.md"


def said(work: Callable[[], object]) -> str:
    with pytest.raises(Unusable) as caught:
        work()
    return str(caught.value)


def test_nothing_is_made_before_something_is_written(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "root", SCOPE)
    assert (folder.read(MEMORY), folder.names(), folder.kept(), folder.every()) == (None, [], [], [])
    folder.put_aside(1.0)
    folder.bring_back(1.0)
    folder.prune(1.0)
    folder.remove()
    assert not (tmp_path / "root").exists()


def test_files_and_folders_are_their_owners_alone(tmp_path: Path) -> None:
    folder = folder_in(tmp_path / "root")
    folder.write(MEMORY, b"a", instead_of=None)
    folder.write(MEMORY, b"b", instead_of=b"a")
    folder.write(SNAPSHOT, b"c", instead_of=None)
    folder.append("2026-11-23.md", b"d\n")
    modes = {path.stat().st_mode & 0o777 for path in folder.path.rglob("*") if path.is_file()}
    assert modes == {0o600}
    folders = [path for path in (tmp_path / "root").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}


def test_a_sealed_file_is_read_only_and_is_replaced_all_the_same(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.write(SNAPSHOT, b"a", instead_of=None)
    folder.seal(SNAPSHOT)
    assert (folder.path / SNAPSHOT).stat().st_mode & 0o777 == 0o400
    assert folder.write(SNAPSHOT, b"b", instead_of=b"a", keeps=False) is None
    (folder.path / SNAPSHOT).unlink()
    (folder.path / SNAPSHOT).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(b"x")
    assert said(lambda: folder.seal(SNAPSHOT)) == f"{SNAPSHOT} is a symbolic link"
    assert (tmp_path / "elsewhere").stat().st_mode & 0o222


def test_a_file_is_moved_to_a_name_that_nothing_has(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.write(SNAPSHOT, b"a", instead_of=None)
    folder.write("snapshots/taken.md", b"b", instead_of=None)
    folder.move(SNAPSHOT, "snapshots/new.md")
    assert folder.names() == ["snapshots/new.md", "snapshots/taken.md"]
    assert said(lambda: folder.move("snapshots/new.md", "snapshots/taken.md")).startswith("snapshots/new.md ")
    assert "no name" in said(lambda: folder.move("snapshots/new.md", "../x.md"))
    assert folder.read("snapshots/taken.md") == b"b"


def test_the_logs_and_snapshots_are_listed_and_nothing_else(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"a")
    folder.write(SNAPSHOT, b"c", instead_of=None)
    folder.append("2026-11-23.md", b"d\n")
    folder.keep(b"e", MEMORY)
    for name in ("2026-11-23.md~", ".2026-11-23.md.swp", "to do.md", "snapshots/.trip.md.swp", "snapshots/x.txt"):
        (folder.path / name).write_bytes(b"x")
    (folder.path / "2026-11-24.md").symlink_to(folder.path / "to do.md")
    (folder.path / "2026-11-25.md").mkdir()
    assert folder.names() == ["2026-11-23.md", SNAPSHOT]
    assert folder.every() == [f".history/{folder.kept()[0]}", "2026-11-23.md", MEMORY, SNAPSHOT]


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../MEMORY.md", "/etc/passwd", "to do.md", ".lock", ".olvido.json", "memory.md", "2026-11-23.md/",
     "snapshots/../MEMORY.md", "snapshots/a/b.md", "snapshots/.a.md", "snapshots/.md", "snapshots/a\0.md",
     f"snapshots/{'a' * 108}.md", f"snapshots/{'ñ' * 60}.md", "snapshots/\ud800.md", ".history/a", ".history/../x",
     ".aside/1/MEMORY.md", "MEMORY.md\n", "٢٠٢٦-11-23.md"],
)  # fmt: skip
def test_no_other_name_is_opened(tmp_path: Path, name: str) -> None:
    folder = folder_in(tmp_path)
    works: list[Callable[[], object]] = [
        lambda: folder.read(name),
        lambda: folder.write(name, b"x", instead_of=None),
        lambda: folder.append(name, b"x"),
        lambda: folder.keep(b"x", name),
    ]
    assert all("is no name of a file of the memory" in said(work) for work in works)


def test_a_name_of_any_length_that_is_allowed_has_a_history_and_can_be_forgotten(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    name = f"snapshots/{'ñ' * 53}.md"
    folder.write(name, b"a", instead_of=None)
    folder.write(name, b"b", instead_of=b"a")
    folder.put_aside(1_900_000_000.0)
    for each in folder.every():
        assert folder.write(each, b"c", instead_of=folder.read(each)) is None
    assert len(folder.every()) == 2


# --- bad input ---


def test_a_file_that_is_too_large_is_told_and_not_touched(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"-" * (5 * 1024 * 1024))
    assert said(lambda: folder.read(MEMORY)) == "MEMORY.md is larger than 4 MiB"
    assert said(lambda: folder.write(MEMORY, b"x", instead_of=b"y")) == "MEMORY.md is larger than 4 MiB"
    assert (folder.path / MEMORY).stat().st_size == 5 * 1024 * 1024
    assert (kept(folder), left(folder)) == ([], [])


def test_as_much_as_is_allowed_is_read_and_written(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    assert folder.write(MEMORY, b"x" * MOST_BYTES, instead_of=None) is None
    assert len(folder.read(MEMORY) or b"") == MOST_BYTES
    assert "would be larger" in said(lambda: folder.write(MEMORY, b"x" * (MOST_BYTES + 1), instead_of=None))


@pytest.mark.parametrize("what", ["link", "dangling", "folder", "pipe", "device", "huge"])
@pytest.mark.parametrize("name", [MEMORY, SNAPSHOT, ".lock", ".olvido.json"])
def test_what_is_no_file_is_told_and_stays(tmp_path: Path, name: str, what: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    folder = folder_in(tmp_path / "root")
    path = folder.path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if what == "huge":
        with path.open("wb") as file:
            file.truncate(100 * 1024**3)
    elif what == "device":
        if os.geteuid() != 0:
            pytest.skip("only root makes devices")
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    else:
        made: dict[str, Callable[[], None]] = {
            "link": lambda: path.symlink_to(secret),
            "dangling": lambda: path.symlink_to(tmp_path / "made"),
            "folder": path.mkdir,
            "pipe": lambda: os.mkfifo(path),
        }
        made[what]()
    before = path.lstat()
    target = SNAPSHOT if name == SNAPSHOT else MEMORY
    error = said(lambda: folder.write(target, b"new", instead_of=b"secret"))
    assert error.startswith(name)
    assert any(word in error for word in ("symbolic link", "not a file", "larger than 4 MiB"))
    assert os.path.samestat(before, path.lstat())
    assert secret.read_bytes() == b"secret"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["", "..", "snapshots", ".history", ".aside"])
def test_no_link_below_the_root_is_followed(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = folder_in(tmp_path / "root", b"old")
    linked = Path(os.path.normpath(folder.path / name))
    if linked.exists():
        linked.rename(tmp_path / "was")
    linked.symlink_to(outside)

    def work() -> None:
        folder.write(SNAPSHOT, b"new", instead_of=None)
        folder.write(MEMORY, b"new", instead_of=b"old")
        folder.put_aside(5.0)

    assert said(work).endswith("is a symbolic link")
    assert list(outside.iterdir()) == []
    assert linked.is_symlink()


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    folder = folder_in(tmp_path / "root", b"old")
    assert folder.write(MEMORY, b"new", instead_of=b"old") is None
    assert len(list((tmp_path / "real").iterdir())) == 1


def test_a_hard_link_is_read_and_never_written_through(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"old")
    folder = folder_in(tmp_path / "root")
    (folder.path / MEMORY).hardlink_to(elsewhere)
    assert folder.read(MEMORY) == b"old"
    assert folder.write(MEMORY, b"new", instead_of=b"old") is None
    assert elsewhere.read_bytes() == b"old"


def test_a_folder_of_another_person_is_left_alone(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"old")
    (folder.path / ".olvido.json").write_text(f'{{"scope": "{OTHER}"}}')
    works: list[Callable[[], object]] = [
        lambda: folder.read(MEMORY), folder.names, folder.kept, folder.remove, lambda: folder.put_aside(5.0),
        lambda: folder.write(MEMORY, b"new", instead_of=b"old"),
    ]  # fmt: skip
    assert {said(work) for work in works} == {"the folder belongs to somebody else"}
    assert texts(folder)[MEMORY] == b"old"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff"])
def test_a_folder_that_says_not_whose_it_is_is_left_alone(tmp_path: Path, text: bytes) -> None:
    folder = folder_in(tmp_path, b"old")
    (folder.path / ".olvido.json").write_bytes(text)
    assert said(lambda: folder.read(MEMORY)) == ".olvido.json does not say whose folder it is in"


def test_a_folder_whose_hidden_files_were_removed_is_this_persons_again(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"old")
    (folder.path / ".olvido.json").unlink()
    (folder.path / ".lock").unlink()
    assert folder.write(MEMORY, b"new", instead_of=b"old") is None
    assert SCOPE.encode() in texts(folder)[".olvido.json"]


@pytest.mark.parametrize("step", ["created", "whole", "exchanged"])
@pytest.mark.parametrize("again", [False, True], ids=["away", "and another there"])
def test_a_folder_that_vanishes_is_told(tmp_path: Path, step: str, again: bool) -> None:
    folder = folder_in(tmp_path / "root", b"old")

    def vanish() -> None:
        folder.path.rename(tmp_path / "trash")
        if again:
            folder.path.mkdir()

    folder.on_step = at_step(step, vanish)
    with folder.locked():
        try:
            folder.write(MEMORY, b"new", instead_of=b"old")
        except Unusable as error:
            assert "has gone" in str(error)  # noqa: PT017 (it may, and need not, be raised)
        assert said(lambda: folder.write(MEMORY, b"newer", instead_of=b"new")) == (
            "the folder has gone while it was in use"
        )
    trash = {path.read_bytes() for path in (tmp_path / "trash").rglob("*") if path.is_file()}
    assert b"old" in trash
    assert folder.read(MEMORY) is None


def test_a_folder_that_is_deleted_with_all_that_is_in_it_is_told(tmp_path: Path) -> None:
    import shutil

    folder = folder_in(tmp_path, b"old")
    folder.on_step = at_step("created", lambda: shutil.rmtree(folder.path))
    assert "has gone" in said(lambda: folder.write(MEMORY, b"new", instead_of=b"old"))
    assert not folder.path.exists()


# --- no room, no permission ---


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=False, capture_output=True
    )  # fmt: skip
    if mounted.returncode:
        pytest.skip("only root mounts a file system")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_full_disk_is_told_and_the_old_text_stands(small_disk: Path, can_exchange: bool) -> None:
    folder = folder_in(small_disk, b"old", can_exchange=can_exchange)
    folder.append("2026-11-23.md", b"- one\n")
    full = b"x" * 200_000
    assert said(lambda: folder.write(MEMORY, full, instead_of=b"old")) == (
        "MEMORY.md cannot be written: the disk is full"
    )
    assert said(lambda: folder.append("2026-11-23.md", full)).endswith("the disk is full")
    assert said(lambda: folder.keep(full, MEMORY)).endswith("the disk is full")
    found = {name: text for name, text in texts(folder).items() if text}
    assert (found[MEMORY], found["2026-11-23.md"]) == (b"old", b"- one\n")
    assert left(folder) == []
    assert folder.write(MEMORY, b"new", instead_of=b"old") is None


LIMITED = """
import resource, signal, sys
from pathlib import Path
from proxy.files.folder import Folder, Unusable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
folder = Folder(Path(sys.argv[1]), sys.argv[2])
for work in (lambda: folder.write("MEMORY.md", b"x" * 2000, instead_of=b"old"),
             lambda: folder.append("2026-11-23.md", b"x" * 2000)):
    try:
        work()
    except Unusable as error:
        print(error)
"""


def test_a_write_that_stops_half_way_leaves_the_old_text(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"old")
    folder.append("2026-11-23.md", b"- one\n")
    lines = script(LIMITED, tmp_path, SCOPE)
    assert lines == [
        f"{name} cannot be written: larger than files may be here" for name in (MEMORY, "2026-11-23.md")
    ]  # fmt: skip
    assert (folder.read(MEMORY), folder.read("2026-11-23.md"), left(folder)) == (b"old", b"- one\n", [])


FORBIDDEN = """
import os, sys
from pathlib import Path
from proxy.files.folder import Folder, Unusable
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
folder = Folder(Path(sys.argv[1]), sys.argv[2])
with folder.locked():
    (folder.path / "MEMORY.md").write_bytes(b"old")

def told(work):
    try:
        print(work())
    except Unusable as error:
        print(error)

folder.path.chmod(0o500)
told(lambda: folder.write("MEMORY.md", b"new", instead_of=b"old"))
told(lambda: folder.read("MEMORY.md"))
(folder.path / "MEMORY.md").chmod(0)
told(lambda: folder.read("MEMORY.md"))
folder.path.chmod(0)
told(lambda: folder.read("MEMORY.md"))
told(folder.names)
told(lambda: folder.locked().__enter__())
told(folder.remove)
folder.path.chmod(0o700)
(folder.path / "MEMORY.md").chmod(0o600)
print(sorted(os.listdir(folder.path)), (folder.path / "MEMORY.md").read_bytes())
"""


def test_what_there_is_no_permission_for_is_told_and_stays() -> None:
    with tempfile.TemporaryDirectory() as root:  # not below pytest's own folder, which is closed to other users
        Path(root).chmod(0o777)
        lines = script(FORBIDDEN, root, SCOPE)
    no = "cannot be used: no permission"
    assert lines == [
        f".history {no}", "b'old'", f"MEMORY.md {no}", *[f"the folder {no}"] * 4,
        "['.lock', '.olvido.json', 'MEMORY.md'] b'old'",
    ]  # fmt: skip


def test_a_file_system_that_is_read_only_is_told(small_disk: Path) -> None:
    folder = folder_in(small_disk, b"old")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert folder.read(MEMORY) == b"old"
    assert said(lambda: folder.write(MEMORY, b"new", instead_of=b"old")).endswith(": the file system is read-only")


# --- one at a time ---


def test_only_one_thread_or_process_is_at_it(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, patience=0.0)
    other = Folder(tmp_path, SCOPE, patience=0.0)
    errors: list[str] = []

    def same_folder_in_another_thread() -> None:
        errors.append(said(lambda: folder.write(MEMORY, b"a", instead_of=None)))

    with folder.locked():
        assert said(lambda: other.write(MEMORY, b"a", instead_of=None)) == "the folder is in use by another process"
        thread = threading.Thread(target=same_folder_in_another_thread)
        thread.start()
        thread.join()
        assert errors == ["the folder is in use by another process"]
        assert folder.write(MEMORY, b"b", instead_of=None) is None  # whoever holds it may go on
        assert other.read(MEMORY) == b"b"  # and anybody may read
    assert other.write(MEMORY, b"c", instead_of=b"b") is None


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, patience=60.0)
    held = os.open(folder.path / ".lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    thread = threading.Thread(target=lambda: folder.write(MEMORY, b"a", instead_of=None))
    thread.start()
    os.close(held)
    thread.join()
    assert folder.read(MEMORY) == b"a"


def test_what_fails_while_it_is_held_goes_out_as_it_is_and_frees_it(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, patience=0.0)
    with pytest.raises(FileNotFoundError), folder.locked():
        raise FileNotFoundError
    with folder.locked():
        pass


ADDING = """
import sys
from pathlib import Path
from proxy.files.folder import Folder
folder = Folder(Path(sys.argv[1]), sys.argv[2], can_exchange=sys.argv[4] == "1", patience=60)
for number in range(40):
    folder.append("2026-11-23.md", f"- {sys.argv[3]} {number}\\n".encode())
    text = folder.read("MEMORY.md") or b""
    while (stands := folder.write("MEMORY.md", text + f"- {sys.argv[3]} {number}\\n".encode(),
                                  instead_of=text or None)) is not None:
        text = stands
"""


@pytest.mark.long
@pytest.mark.parametrize("can_exchange", ["1", "0"])
def test_two_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path, can_exchange: str) -> None:
    folder = folder_in(tmp_path)
    threads = [
        threading.Thread(target=script, args=(ADDING, tmp_path, SCOPE, name, can_exchange)) for name in ("one", "other")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sorted(f"- {name} {number}" for name in ("one", "other") for number in range(40))
    for name in (MEMORY, "2026-11-23.md"):
        assert sorted((folder.read(name) or b"").decode().splitlines()) == expected


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"old")
    before = len(list(Path("/dev/fd").iterdir()))
    folder.write(MEMORY, b"new", instead_of=b"old")
    folder.write(SNAPSHOT, b"new", instead_of=None)
    folder.append("2026-11-23.md", b"new\n")
    folder.write(MEMORY, b"newer", instead_of=b"old")  # something else stands there
    said(lambda: folder.read("x"))
    folder.every()
    folder.put_aside(5.0)
    folder.bring_back(5.0)
    folder.remove()
    assert len(list(Path("/dev/fd").iterdir())) == before


# --- the end ---


def test_a_person_who_was_erased_leaves_nothing(tmp_path: Path) -> None:
    folder, other = folder_in(tmp_path, b"old"), Folder(tmp_path, OTHER)
    other.write(MEMORY, b"other", instead_of=None)
    folder.write(MEMORY, b"new", instead_of=b"old")
    folder.put_aside(5.0)
    folder.write(MEMORY, b"newer", instead_of=None)
    (folder.path / "outside").symlink_to(other.path)
    (folder.path / "more" / "still").mkdir(parents=True)
    folder.remove()
    assert not folder.path.parent.exists()
    assert other.read(MEMORY) == b"other"


def test_a_removal_that_was_killed_is_done_again(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"old")
    folder.write(SNAPSHOT, b"new", instead_of=None)

    class Killed(BaseException):
        pass

    def kill(step: str) -> None:
        if step.startswith("removed"):
            raise Killed

    folder.on_step = kill
    for _ in range(4):
        with pytest.raises(Killed):
            folder.remove()
    folder.on_step = lambda _: None
    folder.remove()
    assert not folder.path.exists()


def test_whoever_waits_for_a_folder_that_is_removed_has_a_new_one(tmp_path: Path) -> None:
    folder, other = folder_in(tmp_path, b"old"), Folder(tmp_path, SCOPE, patience=60.0)
    thread = threading.Thread(target=lambda: other.append("2026-11-23.md", b"new\n"))
    with folder.locked():
        thread.start()
        folder.remove()
    thread.join()
    assert folder.every() == ["2026-11-23.md"]


def test_whoever_comes_while_the_lock_itself_is_removed_begins_anew(tmp_path: Path) -> None:
    folder, other = folder_in(tmp_path, b"old"), Folder(tmp_path, SCOPE)
    folder.on_step = at_step("removed .lock", lambda: other.append("2026-11-23.md", b"new\n"))
    folder.remove()
    assert folder.every() == ["2026-11-23.md"]


def script(source: str, *arguments: object) -> list[str]:
    """Runs Python in a process of its own, and returns the lines that it printed."""
    ended = subprocess.run(
        [sys.executable, "-c", source, *map(str, arguments)],
        check=True, capture_output=True, text=True, env={"PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    return ended.stdout.splitlines()


def test_a_file_is_removed_only_as_it_was_read_and_its_text_is_kept(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    folder.write("plan.md", b"one\n", instead_of=None)
    assert folder.drop("plan.md", instead_of=b"other\n") == b"one\n"
    assert folder.read("plan.md") == b"one\n"
    assert folder.drop("plan.md", instead_of=b"one\n") is None
    assert folder.read("plan.md") is None
    assert kept(folder) == [b"one\n"]
    folder.drop("plan.md", instead_of=b"one\n")
    folder.write(".desk/plan.md", b"two\n", instead_of=None)
    folder.drop(".desk/plan.md")
    assert kept(folder) == [b"one\n"]
    assert left(folder) == []


def test_documents_are_listed_with_what_they_are_compared_with(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b"a")
    for name in ("plan.md", "notes.md", ".desk/notes.md", "identity.md", "2026-11-23.md"):
        folder.write(name, b"x\n", instead_of=None)
    assert folder.documents() == [".desk/notes.md", "notes.md", "plan.md"]
    assert folder.every() == [".desk/notes.md", "2026-11-23.md", MEMORY, "identity.md", "notes.md"]
