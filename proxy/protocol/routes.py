"""Routes of the API that are passed through: their names, of which there are as many as here and no more, and which of
them carry conversations, that the managed route could have managed. And what can be read of such a request without
parsing it: the model that it names, and the usage at the end of its answer.

Both are read from a few kilobytes of JSON. A quotation mark inside of a text is escaped there, so what looks like a
key is one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.protocol.answers import parse_usage
from proxy.types import Usage

# Asked for with POST at this very path.
CONVERSATIONS = ("/v1/responses", "/v1/messages", "/v1/completions")
# With whatever method, with all that is below.
FAMILIES = (
    *("/v1/embeddings", "/v1/models", "/v1/files", "/v1/batches", "/v1/images", "/v1/audio", "/v1/moderations"),
    "/v1/rerank",
)
OTHER = "other"
ROUTES = (*CONVERSATIONS, *FAMILIES, OTHER)

MOST_MODEL = 160  # bytes of `"model": "…"`

_MODEL = re.compile(rb'"model"\s{0,8}:\s{0,8}"([^"\\\x00-\x1f]{1,100})"')
_USAGE = '"usage"'
_VALUE = re.compile(r"\s{0,8}:\s{0,8}(?=\{)")
_decoder = json.JSONDecoder()


def route_of(method: str, path: str) -> str:
    """Returns the name of a route that is passed through."""
    whole = path.rstrip("/")
    if whole in CONVERSATIONS and method == "POST":
        return whole
    family = "/".join(whole.split("/", 3)[:3])
    return family if family in FAMILIES else OTHER


def model_in(piece: bytes) -> str:
    """Returns the model that a piece of a JSON body names; "" if it names none."""
    found = _MODEL.search(piece) if b'"model"' in piece else None
    return found[1].decode("utf-8", "replace") if found else ""


def usage_in(beginning: bytes, end: bytes) -> Usage | None:
    """Returns the usage that an answer tells in its first or last bytes, be it JSON or a stream of events; None if it
    tells none. In a stream of messages the beginning has the tokens of the prompt, the end those of the answer."""
    told: dict[str, Any] = {}
    for part in (beginning, end):
        for found in _usages(part.decode("utf-8", "replace")):
            told |= {name: value for name, value in found.items() if value is not None}
    return parse_usage(_in_our_names(told)) if told else None


def _usages(text: str) -> Iterator[Mapping[str, Any]]:
    at = text.find(_USAGE)
    while at >= 0:
        begins = _VALUE.match(text, at := at + len(_USAGE))
        if begins is not None:
            try:
                value, at = _decoder.raw_decode(text, begins.end())
            except (ValueError, RecursionError):  # it is cut off
                return
            yield value
        at = text.find(_USAGE, at)


def _in_our_names(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns usage in the words of chat completions. Messages count what the prefix cache held beside the rest of the
    prompt, the other routes as a part of it."""
    if "input_tokens" not in told and "output_tokens" not in told:
        return told
    prompt, read = told.get("input_tokens"), told.get("cache_read_input_tokens")
    written = told.get("cache_creation_input_tokens")
    beside = sum(each for each in (read, written) if isinstance(each, int))
    return {
        "prompt_tokens": prompt + beside if isinstance(prompt, int) else None,
        "completion_tokens": told.get("output_tokens"),
        "cached_tokens": read,
        "prompt_tokens_details": told.get("input_tokens_details"),
        "completion_tokens_details": told.get("output_tokens_details"),
        "cache_creation_input_tokens": written,
        "cache_creation": told.get("cache_creation"),
    }
