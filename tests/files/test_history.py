"""Older texts are kept as they were, the newest of them, in the order in which they came."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.files import history
from proxy.files.history import MOST_KEPT, MOST_KEPT_BYTES

MEMORY = "MEMORY.md"
MIB = 1024 * 1024


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def read(tmp_path: Path, name: str) -> bytes:
    return (tmp_path / ".history" / name).read_bytes()


def test_nothing_is_kept_at_first(folder: int, tmp_path: Path) -> None:
    assert history.names(folder) == []
    assert list(tmp_path.iterdir()) == []


def test_texts_are_kept_oldest_first(folder: int, tmp_path: Path) -> None:
    names = [
        history.keep(folder, text, name) for text, name in ((b"a", MEMORY), (b"b", "snapshots/x.md"), (b"c", MEMORY))
    ]
    assert history.names(folder) == names
    assert [read(tmp_path, name) for name in names] == [b"a", b"b", b"c"]
    assert [name.split("-", 2)[2] for name in names] == [MEMORY, "snapshots-x.md", MEMORY]


def test_the_order_is_not_the_clocks(folder: int, tmp_path: Path) -> None:
    first = history.keep(folder, b"a", MEMORY)
    (tmp_path / ".history" / first).rename(tmp_path / ".history" / "000009-20991231T000000-MEMORY.md")
    second = history.keep(folder, b"b", MEMORY)
    assert second.startswith("000010-")
    assert history.names(folder) == ["000009-20991231T000000-MEMORY.md", second]


def test_the_same_text_is_kept_once(folder: int) -> None:
    first = history.keep(folder, b"a", MEMORY)
    assert history.keep(folder, b"a", MEMORY) == first
    assert history.keep(folder, b"a", "2026-11-23.md") != first
    assert len(history.names(folder)) == 2


def test_a_file_that_is_moved_in_takes_the_place_of_the_same_text(folder: int, tmp_path: Path) -> None:
    history.keep(folder, b"a", MEMORY)
    (tmp_path / "found").write_bytes(b"a")
    number = (tmp_path / "found").stat().st_ino  # an editor may have it open
    name = history.adopt(folder, folder, "found", MEMORY)
    assert history.names(folder) == [name]
    assert (tmp_path / ".history" / name).stat().st_ino == number
    assert not (tmp_path / "found").exists()


def test_the_oldest_leave_above_a_number(folder: int, tmp_path: Path) -> None:
    (tmp_path / ".history").mkdir()
    for number in range(1, MOST_KEPT + 51):
        (tmp_path / ".history" / f"{number:06d}-20261123T000000-MEMORY.md").write_bytes(b"%d" % number)
    (tmp_path / ".history" / "a person's").write_bytes(b"own")
    newest = history.keep(folder, b"new", MEMORY)
    names = history.names(folder)
    assert len(names) == MOST_KEPT
    assert names[0].startswith("000052-")
    assert names[-1] == newest
    assert read(tmp_path, "a person's") == b"own"


def test_the_oldest_leave_above_a_size(folder: int, tmp_path: Path) -> None:
    for number in range(12):
        history.keep(folder, bytes([number]) * (4 * MIB), MEMORY)
    names = history.names(folder)
    assert [read(tmp_path, name)[0] for name in names] == list(range(4, 12))
    assert len(names) * 4 * MIB == MOST_KEPT_BYTES


def test_a_second_name_keeps_a_text_and_can_be_taken_back(folder: int, tmp_path: Path) -> None:
    (tmp_path / MEMORY).write_bytes(b"a")
    name = history.link(folder, folder, MEMORY, MEMORY)
    assert read(tmp_path, name) == (tmp_path / MEMORY).read_bytes() == b"a"
    history.drop(folder, name)
    assert history.names(folder) == []


def test_what_is_no_file_is_kept_without_being_opened(folder: int, tmp_path: Path) -> None:
    history.keep(folder, b"a", MEMORY)
    (tmp_path / "found").symlink_to("/etc/passwd")
    name = history.adopt(folder, folder, "found", MEMORY)
    assert (tmp_path / ".history" / name).is_symlink()
