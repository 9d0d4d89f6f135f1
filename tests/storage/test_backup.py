"""Backups of a storage folder: of one moment though it is written to, and whole or not there at all."""

import io
import sqlite3
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from proxy.storage import backup
from proxy.storage.backup import FILES, MANIFEST, MOST_MANIFEST, Manifest, check, unpack, write
from proxy.storage.base import StorageError
from proxy.storage.folder import LOGOUTS, SECRET
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.connection import open_database

NOW = 1_700_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A storage folder that a process has open, with a row that is in its log alone."""
    path = tmp_path / "storage"
    with closing(open_database(path / DATABASE, 1.0)) as connection:
        (path / SECRET).write_bytes(b"s" * 32)
        (path / LOGOUTS).write_text("cookie 1\n")
        connection.execute("INSERT INTO scopes (name) VALUES ('in the log')")
        yield path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    (path / "k" / "ana" / ".history").mkdir(parents=True)
    (path / "k" / "ana" / "MEMORY.md").write_text("# Ana\n- ñandú\n")
    (path / "k" / "ana" / ".history" / "1.md").write_text("older")
    (path / "k" / "link.md").symlink_to("/etc/hostname")
    return path


def names(manifest: Manifest) -> set[str]:
    return {each.name for each in manifest.entries}


def scopes(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as reading:
        return [name for (name,) in reading.execute("SELECT name FROM scopes ORDER BY id")]


def test_everything_comes_back_as_it_was(folder: Path, files: Path, tmp_path: Path) -> None:
    made = write(folder, files, tmp_path / "b.tgz", now=NOW)
    assert names(made) == {DATABASE, SECRET, LOGOUTS, f"{FILES}/k/ana/MEMORY.md", f"{FILES}/k/ana/.history/1.md"}
    assert (made.files, made.has_answers, made.made_at) == (2, False, NOW)
    (into := tmp_path / "into").mkdir()
    assert unpack(tmp_path / "b.tgz", into) == made
    assert scopes(into / DATABASE) == ["in the log"]
    assert (into / SECRET).read_bytes() == b"s" * 32
    assert (into / FILES / "k" / "ana" / "MEMORY.md").read_text() == "# Ana\n- ñandú\n"
    assert {path.stat().st_mode & 0o777 for path in into.rglob("*") if path.is_file()} == {0o600}
    assert (tmp_path / "b.tgz").stat().st_mode & 0o777 == 0o600


def test_nothing_but_the_backup_is_left_beside_it(folder: Path, files: Path, tmp_path: Path) -> None:
    (place := tmp_path / "backups").mkdir()
    write(folder, files, place / "b.tgz", now=NOW)
    assert [path.name for path in place.iterdir()] == ["b.tgz"]
    with pytest.raises(StorageError):
        write(tmp_path / "nowhere", None, place / "c.tgz", now=NOW)
    assert [path.name for path in place.iterdir()] == ["b.tgz"]


def test_a_snapshot_is_of_one_moment_while_others_write(folder: Path, tmp_path: Path) -> None:
    """Every transaction adds a scope and a session of it: no snapshot has one without the other."""
    end, failures = threading.Event(), list[Exception]()

    def writing() -> None:
        try:
            with closing(sqlite3.connect(folder / DATABASE, timeout=5.0, isolation_level=None)) as connection:
                number = 0
                while not end.is_set():
                    number += 1
                    with connection:
                        connection.execute("BEGIN IMMEDIATE")
                        made = connection.execute("INSERT INTO scopes (name) VALUES (?)", (f"s{number}",)).lastrowid
                        connection.execute("INSERT INTO sessions (scope_id, name) VALUES (?, ?)", (made, "x" * 400))
        except sqlite3.Error as error:
            failures.append(error)

    thread = threading.Thread(target=writing)
    thread.start()
    try:
        counts = []
        for number in range(5):
            write(folder, None, tmp_path / f"{number}.tgz", now=NOW)
            (into := tmp_path / f"into{number}").mkdir()
            unpack(tmp_path / f"{number}.tgz", into)
            with closing(sqlite3.connect(into / DATABASE)) as reading:
                (made,) = reading.execute("SELECT count(*) FROM scopes WHERE name LIKE 's%'").fetchone()
                (theirs,) = reading.execute("SELECT count(*) FROM sessions").fetchone()
            counts.append(made)
            assert made == theirs
    finally:
        end.set()
        thread.join()
    assert failures == []
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_answers_are_in_it_if_they_are_wanted(folder: Path, tmp_path: Path) -> None:
    (folder / "answers").mkdir()
    with closing(sqlite3.connect(folder / "answers" / "cache.db")) as cache:
        cache.execute("CREATE TABLE kept (x)")
    assert not write(folder, None, tmp_path / "without.tgz", now=NOW).has_answers
    assert write(folder, None, tmp_path / "with.tgz", answers=True, now=NOW).has_answers


def test_a_file_that_changes_meanwhile_is_taken_again_with_the_database(
    folder: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = iter(["once", "twice"])
    copied = backup.copy_files

    def copying(source: Path | None, into: Path) -> None:
        copied(source, into)
        if (text := next(changes, None)) is not None:
            (files / "k" / "ana" / "MEMORY.md").write_text(text)
            with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
                connection.execute("INSERT INTO scopes (name) VALUES (?)", (text,))

    monkeypatch.setattr(backup, "copy_files", copying)
    write(folder, files, tmp_path / "b.tgz", now=NOW)
    (into := tmp_path / "into").mkdir()
    unpack(tmp_path / "b.tgz", into)
    assert (into / FILES / "k" / "ana" / "MEMORY.md").read_text() == "twice"
    assert scopes(into / DATABASE) == ["in the log", "once", "twice"]


def test_files_that_never_rest_are_an_error_and_no_backup(
    folder: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = iter(range(100))
    monkeypatch.setattr(backup, "state_of", lambda _files: next(states))
    with pytest.raises(StorageError, match="change all the time"):
        write(folder, files, tmp_path / "b.tgz", now=NOW)
    assert not (tmp_path / "b.tgz").exists()


# --- what is refused --------------------------------------------------------------------------------------------------


def packed(members: list[tuple[str, bytes]], target: Path, kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(target, "w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size, member.type = len(content), kind if name != MANIFEST else tarfile.REGTYPE
            archive.addfile(member, io.BytesIO(content))
    return target


def manifest_of(*listed: str, **changes: object) -> tuple[str, bytes]:
    size = changes.pop("size", 1)
    entries = [{"name": name, "size": size, "sha256": "0" * 64} for name in listed]
    return MANIFEST, msgspec.json.encode({"format": 1, "made_at": NOW, "version": "9", "entries": entries, **changes})


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([], "does not begin with its manifest"),
        ([(DATABASE, b"x")], "does not begin with its manifest"),
        ([(MANIFEST, b"{}")], "manifest can't be read"),
        ([manifest_of(format=2)], "made by version 9"),
        ([manifest_of("../evil")], "names '../evil'"),
        ([manifest_of("/etc/passwd")], "names '/etc/passwd'"),
        ([manifest_of("files/../../evil")], "names 'files/../../evil'"),
        ([manifest_of("other.db")], "names 'other.db'"),
        ([manifest_of("files")], "names 'files'"),
        ([manifest_of("files/")], "names 'files/'"),
        ([manifest_of("files/./x")], "names 'files/./x'"),
        ([manifest_of("files//x")], "names 'files//x'"),
        ([manifest_of("files/" + "a/" * 2_000 + "b")], "names 'files/a"),
        ([manifest_of(DATABASE), (DATABASE, bytes(2**24))], "olvido.db is not what its manifest says"),
        ([manifest_of(DATABASE, size=2**62)], "unpacked it takes"),
        ([manifest_of(), ("extra", b"x")], "'extra', which its manifest has not"),
        ([manifest_of(DATABASE), (DATABASE, b"x")], "olvido.db is not what its manifest says"),
        ([manifest_of(DATABASE)], "olvido.db is missing"),
        ([manifest_of(SECRET, DATABASE), (SECRET, b"x")], "not what its manifest says"),
        ([manifest_of()], "no database"),
    ],
)
def test_what_is_no_backup_of_ours_is_refused(members: list[tuple[str, bytes]], why: str, tmp_path: Path) -> None:
    (into := tmp_path / "into").mkdir()
    with pytest.raises(StorageError, match=why.replace(".", r"\.")):
        unpack(packed(members, tmp_path / "b.tgz"), into)
    assert not (tmp_path / "evil").exists()
    assert sum(path.stat().st_size for path in into.rglob("*") if path.is_file()) <= 1


def test_a_header_without_an_end_is_damage(tmp_path: Path) -> None:
    """A few bytes, compressed, that would take gigabytes of memory."""
    (into := tmp_path / "into").mkdir()
    name, content = manifest_of(DATABASE)
    with tarfile.open(tmp_path / "b.tgz", "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        endless = tarfile.TarInfo("PaxHeader")
        endless.type, endless.size = tarfile.XHDTYPE, MOST_MANIFEST + 1
        archive.addfile(endless, io.BytesIO(bytes(endless.size)))
    with pytest.raises(StorageError, match="damaged"):
        unpack(tmp_path / "b.tgz", into)


def test_a_file_that_is_said_to_be_larger_than_it_is_packed_is_not_unpacked(tmp_path: Path) -> None:
    (into := tmp_path / "into").mkdir()
    with pytest.raises(StorageError, match="which its manifest has not"):
        unpack(packed([manifest_of(DATABASE), (DATABASE, b"")], tmp_path / "b.tgz", tarfile.GNUTYPE_SPARSE), into)
    assert list(into.iterdir()) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_only_regular_files_are_taken(kind: bytes, tmp_path: Path) -> None:
    (into := tmp_path / "into").mkdir()
    with pytest.raises(StorageError, match="no backup"):
        unpack(packed([manifest_of(DATABASE), (DATABASE, b"")], tmp_path / "b.tgz", kind), into)
    assert list(into.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"not a backup at all",
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-20],
        lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0xFF]) + data[len(data) // 2 + 1 :],
    ],
    ids=["other", "empty", "half", "cut", "flipped"],
)
def test_a_damaged_file_is_found_out(damage: Callable[[bytes], bytes], folder: Path, tmp_path: Path) -> None:
    write(folder, None, tmp_path / "b.tgz", now=NOW)
    (tmp_path / "b.tgz").write_bytes(damage((tmp_path / "b.tgz").read_bytes()))
    (into := tmp_path / "into").mkdir()
    with pytest.raises(StorageError, match=r"b\.tgz"):
        unpack(tmp_path / "b.tgz", into)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        unpack(tmp_path / "none.tgz", tmp_path)


def test_a_damaged_database_is_no_backup(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.executemany("INSERT INTO scopes (name) VALUES (?)", [("x" * 500 + str(n),) for n in range(500)])
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray((folder / DATABASE).read_bytes())
    for page in range(20, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    (folder / DATABASE).write_bytes(data)
    with pytest.raises(StorageError):
        write(folder, None, tmp_path / "b.tgz", now=NOW)
    assert not (tmp_path / "b.tgz").exists()


def test_rows_that_refer_to_nothing_are_damage(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("INSERT INTO sessions (scope_id, name) VALUES (999, 'x')")
        connection.commit()
    backup.copy_database(folder / DATABASE, tmp_path / "copy.db")
    with pytest.raises(StorageError, match="refer to others"):
        check(tmp_path / "copy.db")
