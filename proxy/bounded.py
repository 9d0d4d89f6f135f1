"""Files that somebody names, read whole up to a bound: one without an end (a device, a pipe, a small archive of endless
zeros) is refused, and does not take all memory."""

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import IO

STANDARD = Path("-")  # standard input
MOST = 1_024 * 2**20  # bytes, where nobody says otherwise

_GZIP = b"\x1f\x8b"
_PIECE = 2**20  # bytes


class TooLong(ValueError):
    """There is more than may be read; the message says how much that is."""

    def __init__(self, most: int) -> None:
        super().__init__(f"there is more than {most // 2**20:,} MiB, decompressed")


def contents(file: Path, most: int = MOST) -> bytes:
    """Returns what is in a file, or standard input for `-`, decompressed if it is gzip's. Raises OSError; TooLong for
    more than `most` bytes; ValueError if it is damaged."""
    if file == STANDARD:
        data = _whole(sys.stdin.buffer, most)
    else:
        with file.open("rb") as stream:
            data = _whole(stream, most)
    return unpacked(data, most)


def unpacked(data: bytes, most: int = MOST) -> bytes:
    """Returns the bytes of a file, decompressed if they are gzip's. Raises TooLong; ValueError if they are damaged."""
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _whole(stream, most)
    except (OSError, EOFError, zlib.error):
        raise ValueError("a file is compressed, and damaged or not complete") from None


def _whole(stream: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    read = bytearray()
    while piece := stream.read(_PIECE):
        read += piece
        if len(read) > most:
            raise TooLong(most)
    return bytes(read)
