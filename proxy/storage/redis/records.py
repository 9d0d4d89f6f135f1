"""Records as Redis has them: msgpack of typed values, each with the scope that it belongs to. Whatever does not decode,
or belongs to another scope, counts as absent; nothing is ever unpickled."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

_encode = msgspec.msgpack.Encoder().encode


class Codec(Generic[T]):
    """The encoding of one type of record."""

    def __init__(self, kind: type[T]) -> None:
        self._decode = msgspec.msgpack.Decoder(tuple[str, kind]).decode  # type: ignore[valid-type]  # known only here

    def pack(self, scope: str, record: T) -> bytes:
        """Encodes a record of `scope`."""
        return _encode((scope, record))

    def unpack(self, scope: str, packed: bytes | None) -> T | None:
        """Decodes a record; None if there is none, it is no such record, or another scope's."""
        if not isinstance(packed, bytes):
            return None
        try:
            whose, record = self._decode(packed)
        except (msgspec.DecodeError, UnicodeDecodeError):  # planted, or of another version
            return None
        return record if whose == scope else None


@dataclass(frozen=True, slots=True)
class Told:
    """A piece of news."""

    sender: str  # process
    kind: str
    content: Any


_told = msgspec.msgpack.Decoder(tuple[str, str, Any]).decode


def encode_news(sender: str, kind: str, content: object) -> bytes:
    """Encodes a piece of news."""
    return _encode((sender, kind, content))


def decode_news(message: bytes) -> Told | None:
    """Decodes a piece of news; None if it is none."""
    try:
        return Told(*_told(message))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
