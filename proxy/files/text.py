"""Text of a file ⇄ its bytes, whatever editor saved them.

UTF-8 with or without a byte order mark, UTF-16 with one, else Windows' Western encoding; lines that end in LF, CRLF or
CR. How a person saves is remembered: what we write is saved the same way, but for the Western encoding, which cannot
say everything and becomes UTF-8.
"""

import codecs
import re
from dataclasses import dataclass

from proxy.files.unusable import Unusable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ENDS = re.compile(r"\r\n|\r|\n")
# `=======` alone is a heading's underline. The labels are optional.
_MARKER = re.compile(r"^(?:<{7}|>{7})(?: .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text, and how its person saves it."""

    text: str  # its lines end in \n
    encoding: str = "utf-8"  # in which it is written
    mark: bytes = b""  # byte order mark before it
    newline: str = "\n"  # \n, \r\n or \r: what ends most of its lines


def decode(data: bytes, name: str = "MEMORY.md", *, may_have_markers: bool = False) -> Text:
    """Returns the text of a file. Raises Unusable, of `name`: not text, or a merge that was left unfinished, whose
    markers are no words of the text unless it `may_have_markers`."""
    text, encoding, mark = _characters(data, name)
    if "\0" in text:
        raise Unusable(f"{name} is not text")
    newline = _newline(text)
    text = _ENDS.sub("\n", text)
    if not may_have_markers and (marker := _MARKER.search(text)) is not None:
        raise Unusable(f"{name} has merge markers, in line {text.count(chr(10), 0, marker.start()) + 1}")
    return Text(text, encoding, mark, newline)


def has_markers(text: str) -> bool:
    """Tells whether a text has the markers of a merge."""
    return _MARKER.search(text) is not None


def encode(text: Text) -> bytes:
    """Returns the bytes of a text, as its person saves it. Half a character, which no encoding knows, becomes "?"."""
    lines = text.text if text.newline == "\n" else text.text.replace("\n", text.newline)
    return text.mark + lines.encode(text.encoding, "replace")


def _characters(data: bytes, name: str) -> tuple[str, str, bytes]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding, mark
            except UnicodeDecodeError as error:
                raise Unusable(f"{name} is not text") from error
    try:
        return data.decode(), "utf-8", b""
    except UnicodeDecodeError:
        return _western(data), "utf-8", b""


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:  # five of its bytes mean nothing
        return data.decode("latin-1")


def _newline(text: str) -> str:
    windows = text.count("\r\n")
    often = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    return max(often, key=lambda newline: often[newline])  # the first of equals
