"""Below an open folder nothing but regular files and real folders is opened."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.files import handles
from proxy.files.unusable import Unusable


@pytest.fixture
def at(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_a_file_that_is_not_there_is_nothing(at: int) -> None:
    assert handles.read(at, "x", "x") is None
    assert not handles.exists(at, "x")


def test_a_folder_is_made_only_where_it_may_be(at: int, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), handles.folder(at, "x", "x"):
        pass
    with handles.folder(at, "x", "x", make=True):
        assert handles.is_folder(at, "x")
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o700


def test_a_link_is_neither_a_file_nor_a_folder(at: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder"):
        (tmp_path / f"to-{name}").symlink_to(name)
        assert handles.exists(at, f"to-{name}")
        assert not handles.is_file(at, f"to-{name}")
        assert not handles.is_folder(at, f"to-{name}")
    with pytest.raises(Unusable, match="the file is a symbolic link"):
        handles.read(at, "to-file", "the file")
    with pytest.raises(Unusable, match="the folder is a symbolic link"), handles.folder(at, "to-folder", "the folder"):
        pass
    with pytest.raises(Unusable, match="the folder is not a folder"), handles.folder(at, "file", "the folder"):
        pass


def test_files_are_listed_in_the_folders_that_are_asked_for(at: int, tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e/f", "g"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "to-e").symlink_to("e")
    os.mkfifo(tmp_path / "pipe")
    assert sorted(handles.files(at, lambda name: name in ("a", "a/b", "to-e"))) == ["a/b/c", "a/d", "g"]
    assert sorted(handles.names(at)) == ["a", "e", "g", "pipe", "to-e"]
