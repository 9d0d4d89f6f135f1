"""Two files change places in one step; a rename replaces nothing."""

import ctypes
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.files.exchange import Call, exchange, place


@pytest.fixture
def at(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_two_names_change_what_they_name(at: int, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to("one")
    assert exchange(at, "one", at, "other")
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "other").read_bytes() == b"1"


def test_nothing_changes_if_one_is_not_there(at: int, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(at, "one", at, "other")
    assert (tmp_path / "one").read_bytes() == b"1"


def test_a_file_is_renamed_where_nothing_is(at: int, tmp_path: Path) -> None:
    place(at, "one", at, "other")
    assert (tmp_path / "other").read_bytes() == b"1"
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_whatever_is_there_stays(at: int, tmp_path: Path, there: str) -> None:
    name = "folder" if there == "folder" else "other"
    if there == "file":
        (tmp_path / "other").write_bytes(b"2")
    elif there == "link":
        (tmp_path / "other").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        place(at, "one", at, name)
    assert (tmp_path / "one").read_bytes() == b"1"


def refused(*_: object) -> int:
    ctypes.set_errno(errno.EINVAL)
    return -1


@pytest.mark.parametrize("call", [None, refused], ids=["an old library", "an old file system"])
def test_without_the_call_links_do(at: int, tmp_path: Path, call: Call | None) -> None:
    assert not exchange(at, "one", at, "one", call=call)
    place(at, "one", at, "other", call=call)
    assert (tmp_path / "other").read_bytes() == b"1"
    assert not (tmp_path / "one").exists()
    (tmp_path / "one").write_bytes(b"2")
    with pytest.raises(FileExistsError):
        place(at, "one", at, "other", call=call)
    place(at, "folder", at, "renamed", call=call)  # which has no hard links
    with pytest.raises(FileExistsError):
        place(at, "renamed", at, "other", call=call)
    assert (tmp_path / "renamed").is_dir()
