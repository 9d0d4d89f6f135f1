"""A backup back in its place: whole, never under a process, and what was there is kept."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage import restoring
from proxy.storage.backup import write
from proxy.storage.base import DatabaseTooNew, StorageError
from proxy.storage.erasures import mark_of
from proxy.storage.folder import SECRET
from proxy.storage.opening import DATABASE
from proxy.storage.restoring import alone, is_empty, restore
from proxy.storage.sqlite.connection import open_database
from tests.storage.test_backup import NOW, scopes

ANA = f"{'a' * 32}/ana"


def store(folder: Path, *names: str) -> None:
    with closing(open_database(folder / DATABASE, 1.0)) as connection:
        connection.executemany("INSERT INTO scopes (name) VALUES (?)", [(name,) for name in names])
    (folder / SECRET).write_bytes(names[0].encode().ljust(32)[:32])


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A backup with a person's file."""
    store(tmp_path / "before", "then", ANA)
    (tmp_path / "before-files" / "k").mkdir(parents=True)
    (tmp_path / "before-files" / "k" / "MEMORY.md").write_text("then")
    write(tmp_path / "before", tmp_path / "before-files", tmp_path / "b.tgz", now=NOW)
    return tmp_path / "b.tgz"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """What is there now: later data, and what can be made anew."""
    path = tmp_path / "storage"
    store(path, "now")
    (path / "embedding").mkdir()
    (path / "embedding" / "model.onnx").write_bytes(b"m")
    yield path
    assert not [each for each in path.iterdir() if each.name.startswith(".")]  # no workplace is left


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_an_empty_place_gets_all_of_it(made: Path, tmp_path: Path) -> None:
    target, files = tmp_path / "new" / "storage", tmp_path / "new" / "memory"
    assert is_empty(target, files)
    done = restore(made, target, files, now=NOW)
    assert (done.aside, done.files_aside, done.left_out, done.erased_since) == (None, None, 0, ())
    assert scopes(target / DATABASE) == ["then", ANA]
    assert (target / SECRET).read_bytes().strip() == b"then"
    assert (files / "k" / "MEMORY.md").read_text() == "then"
    assert target.stat().st_mode & 0o777 == 0o700


def test_what_was_there_is_aside_and_what_can_be_made_anew_stays(made: Path, folder: Path, tmp_path: Path) -> None:
    (files := tmp_path / "memory").mkdir()
    (files / "later.md").write_text("now")
    assert not is_empty(folder, None)
    done = restore(made, folder, files, now=NOW)
    assert scopes(folder / DATABASE) == ["then", ANA]
    assert (folder / "embedding" / "model.onnx").exists()
    assert done.aside == folder / "aside-20231114-221320"
    assert scopes(done.aside / DATABASE) == ["now"]
    assert done.files_aside == tmp_path / "memory.aside-20231114-221320"
    assert (done.files_aside / "later.md").read_text() == "now"
    assert contents(files) == {"k/MEMORY.md": b"then"}
    assert contents(tmp_path / "before-files") == contents(files)


def test_files_without_a_place_are_counted(made: Path, folder: Path) -> None:
    assert restore(made, folder, None, now=NOW).left_out == 1


def test_it_is_refused_while_anybody_has_the_database_open(made: Path, folder: Path) -> None:
    with closing(open_database(folder / DATABASE, 1.0)):
        before = scopes(folder / DATABASE)
        with pytest.raises(StorageError, match="in use"):
            restore(made, folder, None, now=NOW)
        assert scopes(folder / DATABASE) == before
    with closing(sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True)) as reading:
        reading.execute("SELECT count(*) FROM scopes").fetchone()
        with pytest.raises(StorageError, match="in use"):
            restore(made, folder, None, now=NOW)
    restore(made, folder, None, now=NOW)


def test_nobody_can_write_between_the_check_and_the_exchange(folder: Path) -> None:
    with (
        alone(folder),
        closing(sqlite3.connect(folder / DATABASE, timeout=0.05)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("INSERT INTO scopes (name) VALUES ('x')")


def test_a_damaged_database_is_no_obstacle(made: Path, folder: Path) -> None:
    (folder / DATABASE).write_bytes(b"rubbish" * 1_000)
    restore(made, folder, None, now=NOW)
    assert scopes(folder / DATABASE) == ["then", ANA]


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_an_exchange_that_fails_half_way_is_undone(
    at: int, made: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files := tmp_path / "memory").mkdir()
    (files / "later.md").write_text("now")
    before, count, rename = contents(folder), iter(range(100)), Path.rename

    def failing(self: Path, target: Path) -> Path:
        if next(count) == at:
            raise OSError(16, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(StorageError, match="busy"):
        restore(made, folder, files, now=NOW)
    found = contents(folder)
    assert found[SECRET] == before[SECRET]
    assert scopes(folder / DATABASE) == ["now"]
    assert found.keys() == before.keys()
    assert contents(files) == {"later.md": b"now"}


def test_a_damaged_backup_changes_nothing(made: Path, folder: Path) -> None:
    made.write_bytes(made.read_bytes()[:-30])
    before = contents(folder)
    with pytest.raises(StorageError):
        restore(made, folder, None, now=NOW)
    assert contents(folder) == before


def test_one_of_a_newer_version_is_refused(folder: Path, tmp_path: Path) -> None:
    store(tmp_path / "newer", "x")
    with closing(sqlite3.connect(tmp_path / "newer" / DATABASE)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_tomorrow', 0)")
        connection.commit()
    write(tmp_path / "newer", None, tmp_path / "n.tgz", now=NOW)
    with pytest.raises(DatabaseTooNew):
        restore(tmp_path / "n.tgz", folder, None, now=NOW)
    assert scopes(folder / DATABASE) == ["now"]


def test_who_was_erased_since_is_named(made: Path, folder: Path) -> None:
    with closing(open_database(folder / DATABASE, 1.0)) as connection:
        connection.execute("INSERT INTO erased (scope, at) VALUES (?, ?)", (mark_of(ANA), NOW))
    assert restore(made, folder, None, now=NOW).erased_since == (ANA,)


def test_a_second_restore_puts_the_first_aside(made: Path, folder: Path) -> None:
    restore(made, folder, None, now=NOW)
    restore(made, folder, None, now=NOW + 60)
    assert sorted(path.name for path in folder.glob("aside-*")) == ["aside-20231114-221320", "aside-20231114-221420"]
    with pytest.raises(StorageError):
        restore(made, folder, None, now=NOW)  # of the same second
    assert scopes(folder / DATABASE) == ["then", ANA]
    assert restoring.is_empty(folder, None) is False
