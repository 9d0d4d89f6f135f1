"""Responses as they are kept, and the chain of them."""

import json
from typing import Any

import msgspec
import pytest

from proxy.protocol.origin import Origin
from proxy.protocol.responses import keeping
from proxy.protocol.responses.request import chained, parse

Json = Any
SAID = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}


def record(given: Json, chain: str = "", output: Json = (SAID,)) -> keeping.KeptResponse:
    request = parse(json.dumps({"model": "m", "input": given}).encode())
    origin = chained(request, chain).origin
    assert isinstance(origin, Origin)
    found = keeping.read(keeping.kept(origin, origin.given, {"id": "r", "output": list(output)}))
    assert found is not None
    return found


def test_what_is_kept_is_read_again() -> None:
    found = record("Hello", "resp_0")
    assert (found.previous, msgspec.json.decode(found.response)["id"]) == ("resp_0", "r")
    assert msgspec.json.decode(found.items) == [{"type": "message", "role": "user", "content": "Hello"}]


def test_a_chain_is_all_that_was_said_oldest_first() -> None:
    first, second = record("One"), record([{"role": "user", "content": "Two"}], "r", [])
    joined = msgspec.json.decode(b"[" + keeping.before([first, second]) + b"]")
    assert [item["content"] for item in joined] == ["One", SAID["content"], "Two"]
    assert keeping.before([]) == b""


def test_items_are_listed_newest_first() -> None:
    told = keeping.listed(keeping.before([record("One")]))
    assert [item["role"] for item in told["data"]] == ["assistant", "user"]
    assert told["data"][1]["content"] == [{"type": "input_text", "text": "One"}]
    assert (told["first_id"], told["last_id"]) == ("m", "item_0")
    assert keeping.listed(b"")["first_id"] is None


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"choices":[]}'])
def test_anything_else_is_none(data: bytes) -> None:
    assert keeping.read(data) is None
