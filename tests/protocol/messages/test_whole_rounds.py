"""A message out of several rounds, as one body: what a stream of the same rounds would add up to."""

import json

import pytest
from hypothesis import given

from proxy.protocol.messages.whole_rounds import WholeMessageRound, WholeMessageSplice
from tests.minding import Round, text, thought, use
from tests.protocol.messages.test_rounds import WHOSE, Json, heard, is_ours, read, rounds


def spliced(said: list[Round]) -> tuple[Json, list[WholeMessageRound]]:
    splice, readers = WholeMessageSplice(), []
    for number, each in enumerate(said):
        readers.append(WholeMessageRound(splice, WHOSE, json.dumps(each.message).encode()))
        if number < len(said) - 1:
            readers[-1].end_round()
    return json.loads(readers[-1].closing()), readers


@given(rounds())
def test_it_is_what_the_stream_adds_up_to(said: list[Round]) -> None:
    whole, readers = spliced(said)
    stream, streamed = heard(said, ())
    client = read(stream)
    assert whole["content"] == client.content()
    assert whole["usage"] == client.told_usage
    assert whole["stop_reason"] == client.stop_reason
    assert [each.ours for each in readers] == [each.ours for each in streamed]
    assert [each.has_text for each in readers] == [each.has_text for each in streamed]


@given(rounds())
def test_a_round_without_calls_of_ours_is_its_own_body(said: list[Round]) -> None:
    body = json.dumps(Round([block for block in said[0].blocks if not is_ours(block)]).message, indent=1).encode()
    assert WholeMessageRound(WholeMessageSplice(), WHOSE, body).closing() is body


def test_blocks_keep_their_bytes() -> None:
    first = json.dumps(Round([thought("é"), use("m1", "memory", command="view")]).message, ensure_ascii=True)
    last = json.dumps(Round([text("é")]).message, ensure_ascii=False)
    splice = WholeMessageSplice()
    WholeMessageRound(splice, WHOSE, first.encode()).end_round()
    whole = WholeMessageRound(splice, WHOSE, last.encode()).closing().decode()
    assert "\\u00e9" in whole
    assert "é" in whole


@pytest.mark.parametrize("body", [b'{"type":"error","error":{}}', b"{}", b'{"content":"x"}'])
def test_what_is_no_message_has_failed(body: bytes) -> None:
    assert WholeMessageRound(WholeMessageSplice(), WHOSE, body).failed


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        WholeMessageRound(WholeMessageSplice(), WHOSE, b"[]")
