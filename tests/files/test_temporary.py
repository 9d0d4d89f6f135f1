"""The name of a temporary file says what is in it, and editors pass it over."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.files.temporary import Temporary, create, hashed, meant


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("name", ["MEMORY.md", "snapshots/un viaje.md", ".history/000001-20261123T000000-MEMORY.md"])
@pytest.mark.parametrize("old", [None, b"", b"old"])
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_name_says_what_was_to_be_done(
    folder: int, tmp_path: Path, name: str, old: bytes | None, is_forgotten: bool
) -> None:
    purpose = Temporary(name, hashed(old), hashed(b"new"), is_forgotten)
    made = create(folder, purpose, b"new", lambda _: None)
    assert meant(made) == purpose
    assert made.startswith(".")
    assert made.endswith(".tmp")
    assert [path.name for path in tmp_path.iterdir()] == [made]
    assert (tmp_path / made).read_bytes() == b"new"


def test_one_that_is_not_whole_says_so(folder: int, tmp_path: Path) -> None:
    seen: list[bool | None] = []

    def on_step(_step: str) -> None:
        seen.extend(found.is_whole for path in tmp_path.iterdir() if (found := meant(path.name)) is not None)

    create(folder, Temporary("MEMORY.md", hashed(None), hashed(b"new")), b"new", on_step)
    assert seen == [False, False, True]


@pytest.mark.parametrize("name", ["MEMORY.md", ".MEMORY.md.swp", "MEMORY.md~", ".MEMORY.md.tmp", "4913", "#MEMORY.md#"])
def test_those_of_others_are_not_ours(name: str) -> None:
    assert meant(name) is None


def test_texts_have_hashes_of_their_own() -> None:
    assert len({hashed(None), hashed(b""), hashed(b"a")}) == 3
