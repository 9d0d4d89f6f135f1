"""Routes of the API that are passed through: their names, of which there are as many as here and no more, and which of
them carry conversations, that the managed route could have managed. A path has many spellings that servers take for one
(`/v1//chat/completions/`); none of them is a way around what its own spelling is counted as. And what can be read of
such a request without parsing it: the model that it names, and the usage at the end of its answer.

Both are read from a few kilobytes of JSON. A quotation mark inside of a text is escaped there, so what looks like a
key is one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from proxy.protocol.answers import parse_usage
from proxy.types import Usage

# Asked for with POST at this very path.
CONVERSATIONS = ("/v1/responses", "/v1/messages", "/v1/completions")
# With whatever method, with all that is below.
FAMILIES = (
    *("/v1/embeddings", "/v1/models", "/v1/files", "/v1/batches", "/v1/images", "/v1/audio", "/v1/moderations"),
    "/v1/rerank",
)
# Asked for with GET it tells what there is: nothing is said in it, nothing billed, and clients ask it all day.
CATALOGUE = "/v1/models"
# Of these the prompt alone is billed.
ANSWERLESS = ("/v1/embeddings", "/v1/rerank")
OTHER = "other"
ROUTES = (*CONVERSATIONS, *FAMILIES, OTHER)

MOST_MODEL = 160  # bytes of `"model": "…"`

_MODEL = re.compile(rb'"model"\s{0,8}:\s{0,8}"([^"\\\x00-\x1f]{1,100})"')
_NAMED = re.compile(r"[^\x00-\x1f]{1,100}")
_USAGE = '"usage"'
_VALUE = re.compile(r"\s{0,8}:\s{0,8}(?=\{)")
_decoder = json.JSONDecoder()
_SLASHES = re.compile(r"[/\\]+")
_VERSIONS = re.compile(r"^(?:/v1)+(?=/)")  # of a client that adds it to a base URL which has it: Anthropic's SDKs do


class Told(msgspec.Struct, frozen=True):
    """The cost of a request that is passed through, as far as its body tells. Values of any type: APIs refuse most."""

    model: Any = None
    stream: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    max_output_tokens: Any = None
    n: Any = None
    best_of: Any = None

    @property
    def named(self) -> str:
        """The model; "" if it names none."""
        return self.model if isinstance(self.model, str) and _NAMED.fullmatch(self.model) else ""

    @property
    def most_tokens(self) -> int | None:
        """The most tokens that all its answers may have; None: it says none."""
        limits = (self.max_tokens, self.max_completion_tokens, self.max_output_tokens)
        most = max((each for each in limits if type(each) is int and each > 0), default=None)
        return None if most is None else most * self.answers

    @property
    def answers(self) -> int:
        """The answers that are made for it."""
        return max([1, *(each for each in (self.n, self.best_of) if type(each) is int)])


_told = msgspec.json.Decoder(Told)


def told_in(body: bytes) -> Told | None:
    """Returns what a body says of its cost; None if it is no JSON object."""
    try:
        return _told.decode(body)
    except (ValueError, RecursionError):
        return None


def spelt(path: str) -> str:
    """Returns a path as its route is written: servers differ in which other spellings they take for it."""
    plain = _SLASHES.sub("/", unquote(path))
    whole = "/".join(step.partition(";")[0] for step in plain.split("/")).rstrip("/").lower()
    return _VERSIONS.sub("/v1", whole)


def is_counted(route: str, *, streams: bool) -> bool:
    """Tells whether a request to a route is billed by the token, so that its tokens are estimated where the answer does
    not tell them. `streams`: its answer is a stream of events, whatever it is called."""
    return route in CONVERSATIONS or route in ANSWERLESS or (route == OTHER and streams)


def route_of(method: str, path: str) -> str:
    """Returns the name of a route that is passed through."""
    whole = spelt(path)
    if whole in CONVERSATIONS and method == "POST":
        return whole
    family = "/".join(whole.split("/", 3)[:3])
    return family if family in FAMILIES else OTHER


def is_traffic(method: str, route: str) -> bool:
    """Tells whether a request to a route that is passed through counts as one, so that it has a row in the ledger."""
    return route != CATALOGUE or method not in ("GET", "HEAD")


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
