"""Responses as they are kept, and the chain of them."""

import json
from typing import Any

import msgspec
import pytest

from proxy.protocol.origin import Origin
from proxy.protocol.responses import keeping, reasoning
from proxy.protocol.responses.request import chained, parse

Json = Any
SAID = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}


def record(given: Json, chain: str = "", output: Json = (SAID,)) -> keeping.KeptResponse:
    request = parse(json.dumps({"model": "m", "input": given}).encode())
    origin = chained(request, chain, is_unstored=False).origin
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
    told = keeping.listed(keeping.said_before([record("One")]), keeping.Page())
    assert [item["role"] for item in told["data"]] == ["assistant", "user"]
    assert told["data"][1]["content"] == [{"type": "input_text", "text": "One"}]
    assert (told["first_id"], told["last_id"]) == ("m", "item_0")
    assert keeping.listed(b"", keeping.Page())["first_id"] is None


def test_a_list_has_pages_in_both_orders() -> None:
    joined = keeping.said_before([record([{"role": "user", "content": str(at)} for at in range(5)], output=())])
    seen: list[str] = []
    for oldest_first in (True, False):
        page: Json = {"has_more": True}
        after = ""
        while page["has_more"]:
            page = keeping.listed(joined, keeping.Page(2, oldest_first, after))
            seen += [item["content"][0]["text"] for item in page["data"]]
            after = page["last_id"]
    assert "".join(seen) == "0123443210"


def test_what_a_request_goes_on_from_has_no_ids_and_reasoning_that_only_the_proxy_reads() -> None:
    told = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I think"}]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "sealed"},
        {**SAID, "phase": "final_answer"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]
    whole = msgspec.json.decode(b"[" + keeping.before([record("One", output=told)]) + b"]")
    assert [item.get("id") for item in whole] == [None, None, None, None, "ws_1"]
    assert reasoning.read(whole[1]) == ("I think", False)
    assert whole[2]["encrypted_content"] == "sealed"
    assert whole[3]["phase"] == "final_answer"


OWN = "0123456789abcdef00000001"


def test_ids_of_ours_are_told_from_those_of_providers() -> None:
    assert keeping.is_own(f"resp_{OWN}")
    assert not keeping.is_own("resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b")
    assert [keeping.response_of(f"{kind}_{OWN}0a") for kind in ("msg", "rs")] == [f"resp_{OWN}"] * 2
    assert keeping.response_of("msg_67ccd3acc8d48190a77525dc6de64b4104becb25c45c1d41") == ""


def test_an_item_is_found_by_its_id() -> None:
    assert msgspec.json.decode(record("One").by_id()["m"])["content"] == SAID["content"]


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"choices":[]}'])
def test_anything_else_is_none(data: bytes) -> None:
    assert keeping.read(data) is None


def test_the_place_of_an_item_is_nothing_but_that() -> None:
    assert keeping.placed(keeping.place("resp_1")) == "resp_1"
    assert keeping.read(keeping.place("resp_1")) is None
    assert keeping.placed(b"{}") == keeping.placed(b"no") == ""
