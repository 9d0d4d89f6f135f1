"""Text in the files of memory: bytes to text and back, and the forms in which words of people and models stand in a
file without being taken for anything else: no line, no comment, no control character of theirs.

A comment of ours ends a line: `<!-- o:abcdefghijklm m:… -->`. `o` names a fact, `m` a message, by its link; others are
told by the part that writes them.
"""

import re
import unicodedata
from base64 import b32decode, b32encode
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping

LINK_BYTES = 16
_LINK = 26  # characters of a link's code
_ORDERS = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
_REPLACED = "\ufffd"
_COMMENT = re.compile(r"[ \t]*<!--((?:[ \t]+[a-z]+:[^\s<>]+)+)[ \t]+-->[ \t]*$")
_CLOSING = re.compile(r"(--!?)>")  # HTML ends a comment at `--!>` too
_LINE_ENDS = re.compile("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def decoded(data: bytes) -> str:
    """Returns the text of a file, whatever its encoding; a byte order mark is none of it."""
    mark, encoding = _written_in(data)
    return data[len(mark) :].decode(encoding)


def encoded(text: str, like: bytes = b"") -> bytes:
    """Returns the bytes of a text that takes the place of `like`: in the same encoding, if that can say it."""
    mark, encoding = _written_in(like)
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def is_plain(data: bytes) -> bool:
    """Tells whether a file is written in UTF-8."""
    return _written_in(data)[1] == "utf-8"


def _written_in(data: bytes) -> tuple[bytes, str]:
    """Returns the byte order mark of a file, and an encoding that gives each of its bytes back."""
    tried = [*((mark, encoding) for mark, encoding in _ORDERS if data.startswith(mark)), (b"", "utf-8")]
    for mark, encoding in tried:
        try:
            data[len(mark) :].decode(encoding)
        except UnicodeDecodeError:
            continue
        return mark, encoding
    return b"", "latin-1"


def one_line(text: str) -> str:
    """Returns the text as it may stand on a line of ours: spaces for line ends and control characters, nothing that
    opens or closes a comment."""
    said = "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))
    return _without_comments(" ".join(said.split()))


def many_lines(text: str) -> list[str]:
    """Returns the lines of a text, without control characters but for tabs: they show in an editor as they are."""
    return ["".join(map(_shown, line)) for line in _LINE_ENDS.split(text)]


def _shown(mark: str) -> str:
    is_plain = mark.isprintable() or mark == "\t" or unicodedata.category(mark) in ("Zs", "Cf")
    return mark if is_plain and mark not in _DIRECTIONS else _REPLACED


# They turn the reading order of what follows: a line could look like another.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _without_comments(text: str) -> str:
    return _CLOSING.sub("\\1\u203a", text.replace("<!--", "\u2039!--"))


def comment(**names: str) -> str:
    """Returns a comment of ours with these names, in their order; "" if all are empty."""
    given = [f"{name}:{value}" for name, value in names.items() if value]
    return f" <!-- {' '.join(given)} -->" if given else ""


def parted(line: str) -> tuple[str, str, Mapping[str, str]]:
    """Returns a line without the comment of ours at its end, that comment with the space around it, and the names in
    it."""
    if (found := _COMMENT.search(line)) is None:
        return line, "", {}
    names = (each.partition(":") for each in found[1].split())
    return line[: found.start()], line[found.start() :], {name: value for name, _, value in names}


def link_code(link: bytes) -> str:
    """Returns the code of a message's link, all of it: an index is asked by whole links."""
    return b32encode(link).decode().rstrip("=").lower()


def link_of(code: str) -> bytes | None:
    """Returns the link of a code; None if it is none."""
    if len(code) != _LINK:
        return None
    try:
        return b32decode(code.upper() + "=" * (-_LINK % 8))
    except ValueError:
        return None
