"""Files that somebody names, and files without an end."""

import gzip
import io
from pathlib import Path

import pytest

from proxy.bounded import STANDARD, TooLong, contents, unpacked

TEXT = b"a line\n" * 1_000
MOST = len(TEXT)
WHOLE = gzip.compress(TEXT)
TWO = gzip.compress(TEXT[:7]) + gzip.compress(TEXT[7:])


@pytest.mark.parametrize("data", [TEXT, WHOLE, TWO], ids=["as it is", "compressed", "in two"])
def test_a_file_is_read_whole_compressed_or_not(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(data)
    assert contents(tmp_path / "file", MOST) == TEXT
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert contents(STANDARD, MOST) == TEXT


@pytest.mark.parametrize("data", [TEXT + b"x", gzip.compress(bytes(2**24))], ids=["a byte more", "an archive of zeros"])
def test_one_that_is_longer_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(TooLong, match="more than 0 MiB"):
        contents(tmp_path / "file", MOST)


def test_so_is_one_without_an_end() -> None:
    with pytest.raises(TooLong):
        contents(Path("/dev/zero"), 2**21)


@pytest.mark.parametrize("data", [WHOLE[:-9], b"\x1f\x8bnothing", WHOLE + b"\x1f\x8b"], ids=["cut", "none", "more"])
def test_a_damaged_archive_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpacked(data)


def test_one_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        contents(tmp_path / "none")
