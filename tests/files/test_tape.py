"""The tape of a session on disk: lines that are appended once, lose what was forgotten, and survive a kill."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.files import tape
from proxy.files.unusable import Unusable
from proxy.types.desk import TapeLine
from tests.builders import NOW

MOST = 1 << 20


def line(number: int, text: str | None = "hi", at: float = NOW) -> TapeLine:
    content = None if text is None else json.dumps({"role": "user", "content": text}, indent=1).encode()
    return TapeLine(number, bytes([number]) * 16, at + number, "user", 3, content)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def told(path: Path, name: str = tape.NAME) -> list[dict[str, Any]]:
    return [json.loads(each) for each in (path / name).read_text().splitlines()]


@pytest.mark.note("SMMA 4/2")
def test_a_message_is_a_line(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1, "a\nb")], MOST)
    (row,) = told(tmp_path)
    assert list(row) == ["id", "timestamp", "role", "content", "token_count"]
    assert row["content"] == {"role": "user", "content": "a\nb"}
    assert (row["id"], row["role"], row["token_count"]) == (1, "user", 3)
    assert row["timestamp"].endswith("Z")


@pytest.mark.note("SMMA 4/7")
def test_what_is_written_twice_stands_there_once(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1), line(2)], MOST)
    before = (tmp_path / tape.NAME).read_bytes()
    tape.write(folder, [line(2), line(1), line(3), line(3)], MOST)
    assert (tmp_path / tape.NAME).read_bytes().startswith(before)
    assert [row.id for row in tape.read(folder)] == [1, 2, 3]


def test_what_was_forgotten_keeps_its_line_and_id(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1, "secret"), line(2, "other")], MOST)
    tape.write(folder, [line(1, None)], MOST)
    first, second = told(tmp_path)
    assert (first["id"], first["content"]) == (1, None)
    assert second["content"]["content"] == "other"
    assert b"secret" not in (tmp_path / tape.NAME).read_bytes()


def test_it_is_not_written_if_it_was_forgotten_on_the_way(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1, "secret"), line(2), line(1, None)], MOST)
    assert [(row["id"], row["content"] is None) for row in told(tmp_path)] == [(1, True), (2, False)]


def test_a_line_that_a_kill_cut_off_is_written_whole(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1), line(2)], MOST)
    whole = (tmp_path / tape.NAME).read_bytes()
    for end in range(len(whole)):
        (tmp_path / tape.NAME).write_bytes(whole[:end])
        tape.write(folder, [line(1), line(2)], MOST)
        assert (tmp_path / tape.NAME).read_bytes() == whole


def test_a_large_file_is_put_behind_and_read_before_the_new_one(folder: int, tmp_path: Path) -> None:
    for number in range(1, 5):
        tape.write(folder, [line(number)], 10)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        *(f"session_log-{each}.jsonl" for each in (1, 2, 3)),
        tape.NAME,
    ]
    tape.write(folder, [line(1, None), line(2)], 10)
    assert [(row.id, bytes(row.content) == b"null") for row in tape.read(folder)] == [
        (1, True),
        (2, False),
        (3, False),
        (4, False),
    ]


def test_another_message_under_an_id_that_is_there_is_told(folder: int) -> None:
    tape.write(folder, [line(1)], MOST)
    with pytest.raises(tape.Stale):
        tape.write(folder, [replace(line(1), at=NOW + 99)], MOST)


def test_what_a_person_writes_between_is_no_line(folder: int, tmp_path: Path) -> None:
    tape.write(folder, [line(1)], MOST)
    with (tmp_path / tape.NAME).open("a") as file:
        file.write("my note\n")
    tape.write(folder, [line(1), line(2)], MOST)
    assert [row.id for row in tape.read(folder)] == [1, 2]
    assert "my note" in (tmp_path / tape.NAME).read_text()


def test_no_link_is_followed(folder: int, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.jsonl"
    outside.write_bytes(b"")
    (tmp_path / tape.NAME).symlink_to(outside)
    with pytest.raises(Unusable, match="symbolic link"):
        tape.write(folder, [line(1)], MOST)
    assert outside.read_bytes() == b""


@pytest.mark.parametrize("content", [b"\xff{", b"not json", b""])
def test_what_is_no_json_is_a_string(folder: int, tmp_path: Path, content: bytes) -> None:
    tape.write(folder, [replace(line(1), content=content)], MOST)
    assert isinstance(told(tmp_path)[0]["content"], str)


@pytest.mark.parametrize("session", ["s", "a-1", "Über uns/..", "..", "con", "x" * 300, "", "a" * 20 + "-0123456789ab"])
def test_a_session_has_a_folder_of_its_own(session: str) -> None:
    name = tape.folder_of(session)
    assert name not in ("", ".", "..")
    assert "/" not in name
    assert len(name) <= 64
    assert tape.folder_of(name) == name or tape.folder_of(name) != tape.folder_of(session)
