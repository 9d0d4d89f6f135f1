"""A bundle is whole or not there, and its manifest tells what is in it."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from proxy.cli.bundle import writing

NAMES = ["a folder", "a file.zip"]


def read(to: Path, name: str) -> bytes:
    if to.is_dir():
        return (to / name).read_bytes()
    with zipfile.ZipFile(to) as archive:
        return archive.read(name)


@pytest.mark.parametrize("name", NAMES)
def test_records_and_files_are_there_and_told(name: str, tmp_path: Path) -> None:
    to = tmp_path / "deep" / name
    with writing(to) as bundle:
        assert bundle.records("some.jsonl", iter([{"a": 1}, {"b": "ñ"}])) == 2
        assert bundle.records("none.jsonl", iter(())) == 0
        bundle.file("files/x/y.md", b"text")
        bundle.manifest({"format": 1})
    assert read(to, "some.jsonl") == '{"a":1}\n{"b":"ñ"}\n'.encode()
    manifest = json.loads(read(to, "manifest.json"))
    assert [each["name"] for each in manifest["files"]] == ["files/x/y.md", "some.jsonl"]
    assert manifest["files"][1]["records"] == 2
    assert manifest["files"][0]["sha256"] == hashlib.sha256(b"text").hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_what_fails_leaves_nothing(name: str, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path / name) as bundle:
        bundle.file("a", bytes([1 // len(bundle.entries)]))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_may_be_filled_and_a_full_one_not(tmp_path: Path) -> None:
    to = tmp_path / "to"
    to.mkdir()
    with writing(to) as bundle:
        bundle.file("a", b"1")
    with pytest.raises(FileExistsError), writing(to):
        pass
    assert (to / "a").read_bytes() == b"1"
