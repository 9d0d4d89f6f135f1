"""Reasoning items: their text, what only a provider can read, and what the proxy hands out itself."""

import base64
import binascii
from collections.abc import Mapping

from proxy.types import Json

# Reasoning that the proxy has handed out itself, readable to it alone: base64 of the text behind this.
OWN = "olvido:"


def read(item: Mapping[str, Json]) -> tuple[str, bool]:
    """Returns the text of a reasoning item, and True if it holds what only its provider can read."""
    encrypted = item.get("encrypted_content")
    if isinstance(encrypted, str) and encrypted.startswith(OWN):
        try:
            return base64.b64decode(encrypted.removeprefix(OWN), validate=True).decode(), False
        except (binascii.Error, UnicodeDecodeError):
            return "", False
    parts = [part for name in ("content", "summary") if isinstance(said := item.get(name), list) for part in said]
    text = "\n\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
    return text, bool(encrypted)


def sealed(text: str) -> str:
    """Returns reasoning as what the proxy hands out, and reads itself."""
    return OWN + base64.b64encode(text.encode()).decode()


def is_sealed(item: Mapping[str, Json]) -> bool:
    """True for reasoning that only its provider can read."""
    return item.get("type") == "reasoning" and bool(item.get("encrypted_content")) and not is_own(item)


def is_own(item: Mapping[str, Json]) -> bool:
    """True for reasoning that the proxy has handed out itself."""
    encrypted = item.get("encrypted_content")
    return isinstance(encrypted, str) and encrypted.startswith(OWN)
