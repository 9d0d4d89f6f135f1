"""A response out of several rounds, as one body: what a stream of the same rounds would add up to."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from proxy.protocol.responses.whole_rounds import WholeResponseRound, WholeResponseSplice
from proxy.protocol.rounds import NOBODYS
from tests.other_apis import events_of
from tests.protocol.responses.test_rounds import ASKED, ECHO, WHOSE, Json, heard, is_ours, rounds
from tests.responding import Round, text, thought, use


def spliced(said: list[Round]) -> tuple[Json, list[WholeResponseRound]]:
    splice, readers = WholeResponseSplice(ECHO), []
    for number, each in enumerate(said):
        readers.append(WholeResponseRound(splice, WHOSE, json.dumps(each.response(ASKED)).encode()))
        if number < len(said) - 1:
            readers[-1].end_round()
    return json.loads(readers[-1].closing()), readers


@given(rounds())
def test_it_is_what_the_stream_adds_up_to(said: list[Round]) -> None:
    whole, readers = spliced(said)
    stream, streamed = heard(said, ())
    assert whole == events_of(stream)[-1]["response"]
    for one, other in zip(readers, streamed, strict=True):
        assert (one.ours, one.has_text, one.has_theirs) == (other.ours, other.has_text, other.has_theirs)
        mine, theirs = one.said({}), other.said({})
        assert mine is not None
        assert theirs is not None
        assert json.loads(b"[%b]" % mine.message.span) == json.loads(b"[%b]" % theirs.message.span)
        assert mine.ours == theirs.ours


@given(rounds())
def test_a_round_in_which_nothing_is_hidden_is_its_own_body(said: list[Round]) -> None:
    theirs = replace(said[0], items=[item for item in said[0].items if not is_ours(item)])
    body = json.dumps(theirs.response({}), indent=1).encode()
    assert WholeResponseRound(WholeResponseSplice(), NOBODYS, body).closing() is body


def test_items_keep_their_bytes() -> None:
    first = json.dumps(Round([thought("1", "é"), use("2", "remember")]).response({}), ensure_ascii=True)
    last = json.dumps(Round([text("3", "é")]).response({}), ensure_ascii=False)
    splice = WholeResponseSplice()
    WholeResponseRound(splice, WHOSE, first.encode()).end_round()
    whole = WholeResponseRound(splice, WHOSE, last.encode()).closing().decode()
    assert "\\u00e9" in whole
    assert "é" in whole


@pytest.mark.parametrize(
    "body", [b'{"error":{}}', b"{}", b'{"output":"x"}', b'{"status":"failed","output":[],"error":{"code":"x"}}']
)
def test_what_is_no_whole_response_has_failed(body: bytes) -> None:
    assert WholeResponseRound(WholeResponseSplice(), WHOSE, body).failed


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        WholeResponseRound(WholeResponseSplice(), WHOSE, b"[]")


def test_a_response_that_has_failed_has_calls_of_ours_all_the_same() -> None:
    (name, *_) = WHOSE.may_be_ours - WHOSE.client
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": name, "arguments": "{}"}
    body = json.dumps({"status": "failed", "output": [call], "error": {"code": "server_error"}}).encode()
    round_ = WholeResponseRound(WholeResponseSplice(), WHOSE, body)
    assert (round_.failed, round_.ours) == (True, (0,))
