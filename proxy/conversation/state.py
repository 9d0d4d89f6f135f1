"""The state of a conversation as bytes. What another version of this program wrote reads as None: the state is then
made anew from the history."""

from typing import Any

import msgspec
import numpy as np

from proxy.types import PathState

VERSION = 1


def pack(state: PathState) -> bytes:
    return bytes([VERSION]) + _encoder.encode(state)


def unpack(packed: bytes) -> PathState | None:
    if not packed or packed[0] != VERSION:
        return None
    try:
        return _decoder.decode(packed[1:])
    except ValueError:
        return None


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float16).tobytes()
    raise NotImplementedError  # how msgspec is told that a hook does not know a type


def _read(kind: type, value: Any) -> Any:
    if kind is np.ndarray or getattr(kind, "__origin__", None) is np.ndarray:
        return np.frombuffer(value, np.float16).astype(np.float32)
    raise NotImplementedError  # as above


_encoder = msgspec.msgpack.Encoder(enc_hook=_written)
_decoder = msgspec.msgpack.Decoder(PathState, dec_hook=_read)
