import gzip

import msgspec
import pytest

from tests.scripted.faults import parse
from tests.scripted.reply import DONE, Reply, event_stream, spoil

EVENT = b'{"choices":[{"index":0,"delta":{"content":"hi"}}]}'
ANSWER = b'{"choices":[{"message":{"content":"hi"}}]}'


def test_events_are_framed_and_followed_by_done() -> None:
    assert event_stream([b"{}"], 0.0).pieces == [b"data: {}\n\n", DONE]


@pytest.mark.parametrize(
    ("fault", "pieces"),
    [
        ("no-done", [b"data: 1\n\n", b"data: 2\n\n"]),
        ("crlf", [b"data: 1\r\n\r\n", b"data: 2\r\n\r\n", b"data: [DONE]\r\n\r\n"]),
        ("split", [b"data: 1", b"\n\ndata:", b" 2\n\ndat", b"a: [DON", b"E]\n\n"]),
        ("cut=1", [b"data: 1\n\n", b"data: 2\n\n", DONE]),
        ("gzip", [b"data: 1\n\n", b"data: 2\n\n", DONE]),
    ],
)
def test_what_a_fault_makes_of_a_stream(fault: str, pieces: list[bytes]) -> None:
    assert spoil(event_stream([b"1", b"2"], 0.0), parse(fault)).pieces == pieces


def test_garbage_and_an_error_come_after_the_given_piece() -> None:
    garbage = spoil(event_stream([b"1", b"2"], 0.0), parse("garbage=2")).pieces
    error = spoil(event_stream([b"1", b"2"], 0.0), parse("error-event=1")).pieces
    assert (garbage[:2], garbage[3:]) == ([b"data: 1\n\n", b"data: 2\n\n"], [DONE])
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(garbage[2].removeprefix(b"data: "))
    assert error[0] == b"data: 1\n\n"
    assert msgspec.json.decode(error[1].removeprefix(b"data: "))["error"]["type"] == "server_error"
    assert len(error) == 2


def test_a_body_breaks_in_its_middle_and_compresses_to_itself() -> None:
    whole = Reply(200, [ANSWER])
    halves = spoil(whole, parse("cut")).pieces
    assert (len(halves), b"".join(halves)) == (2, ANSWER)
    packed = spoil(whole, parse("gzip"))
    assert gzip.decompress(packed.pieces[0]) == ANSWER
    assert packed.headers == {"content-encoding": "gzip"}
    assert spoil(whole, None) is whole


def test_oversized_answers_stay_valid() -> None:
    body = spoil(Reply(200, [ANSWER]), parse("oversized=5")).pieces[0]
    assert msgspec.json.decode(body)["choices"][0]["message"]["content"] == "xxxxx"
    stream = spoil(event_stream([EVENT], 0.0), parse("oversized=100000")).pieces
    deltas = [msgspec.json.decode(piece.removeprefix(b"data: ")) for piece in stream[:-1]]
    assert sum(len(event["choices"][0]["delta"]["content"]) for event in deltas) >= 100_000
    refused = Reply(404, [b'{"error":{}}'])
    assert spoil(refused, parse("oversized")).pieces == [b'{"error":{}}']
