"""What counts as an event, wherever the chunks are cut; and that no byte is lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.sse import DONE, DONE_DATA, Event, EventTooLargeError, SseParser, encode, error_event

# The pieces that streams are made of, and that go wrong when cut or put side by side.
_FIELDS = [b"data: ", b"data:", b"data", b"event: error", b"id: 7", b"retry: 10", b": ping"]
_LINE_ENDS = [b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n"]
_VALUES = [b'{"a":1}', "ñandú 🧉".encode(), b"[DONE]", b"\xef\xbb\xbf", b"\xff", b":", b" ", b"x"]
_fragments = st.sampled_from([*_FIELDS, *_LINE_ENDS, *_VALUES])
streams = st.lists(_fragments, max_size=30).map(b"".join)


def parse(*chunks: bytes) -> list[Event]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.flush()


def data_of(*chunks: bytes) -> list[bytes | None]:
    return [event.data for event in parse(*chunks)]


def feed_all(parser: SseParser, chunks: list[bytes]) -> None:
    for chunk in chunks:
        parser.feed(chunk)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\n\r\ndata: b\r\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b"data:\n\n", [b""]),
        (b"data: a: b\n\n", [b"a: b"]),
        (b": OPENROUTER PROCESSING\n\ndata: a\n\n", [None, b"a"]),
        (b": ping\ndata: a\n\n", [b"a"]),
        (b"id: 1\nretry: 10\ndata: a\n\n", [b"a"]),
        (b"id: 1\n\n", [None]),
        (b"database: a\n\n", [None]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a", None]),
        (b"data: a\n\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\n\ndata: [DONE]", [b"a", b"[DONE]"]),
        (b"data: [DONE]\n", [b"[DONE]"]),
        (b"data: a\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b\n\n", [b"a\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b"]),
        (b"", []),
    ],
)
def test_a_stream_holds_these_events(stream: bytes, data: list[bytes | None]) -> None:
    assert data_of(stream) == data


def test_an_event_is_told_with_its_name_and_its_bytes() -> None:
    stream = b": hm\r\nevent: error\r\ndata: {}\r\n\r\n"
    assert parse(stream) == [Event(raw=stream, data=b"{}", name=b"error")]


def test_an_event_is_given_out_as_soon_as_its_blank_line_is_there() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [Event(b"data: a\n\n", b"a")]
    assert parser.feed(b"\r\n\r\n") == [Event(b"data: b\r\n\r\n", b"b")]
    assert parser.feed(b"data: c\n\ndata: d\n\n") == [Event(b"data: c\n\n", b"c"), Event(b"data: d\n\n", b"d")]
    assert parser.flush() == []


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r\n\r") == []
    assert parser.feed(b"\ndata: b\r\n\r\n") == [Event(b"data: a\r\n\r\n", b"a"), Event(b"data: b\r\n\r\n", b"b")]


@given(streams)
def test_no_byte_is_lost(stream: bytes) -> None:
    assert b"".join(event.raw for event in parse(stream)) == stream


@given(streams, st.lists(st.integers(0, 10_000), max_size=12))
def test_the_cuts_do_not_matter(stream: bytes, cuts: list[int]) -> None:
    assert parse(*pieces(stream, cuts)) == parse(stream)


@given(streams)
def test_nor_does_feeding_byte_by_byte(stream: bytes) -> None:
    assert parse(*(stream[i : i + 1] for i in range(len(stream)))) == parse(stream)


@given(st.lists(st.text(alphabet=st.sampled_from("añ🧉{}: \n\r"), max_size=20), max_size=5))
def test_what_was_written_is_read_again(texts: list[str]) -> None:
    stream = b"".join(encode(text.encode()) for text in texts)
    line_ends_as_lf = [text.replace("\r\n", "\n").replace("\r", "\n").encode() for text in texts]
    assert data_of(stream) == line_ends_as_lf


@pytest.mark.parametrize(
    "chunks", [[b"data: " + b"x" * 100], [b"data: ", b"x" * 100], [b"data: " + b"x" * 100 + b"\n\n"]]
)
def test_an_event_beyond_the_bound_is_refused_and_its_bytes_can_be_passed_on(chunks: list[bytes]) -> None:
    parser = SseParser(max_event_bytes=64)
    passed_on = parser.feed(b"data: a\n\n")[0].raw
    with pytest.raises(EventTooLargeError):
        feed_all(parser, chunks)
    assert passed_on + parser.rest() == b"data: a\n\n" + b"".join(chunks)


def test_a_chunk_beyond_the_bound_made_of_small_events_is_fine() -> None:
    stream = b"data: x\n\n" * 100
    assert len(SseParser(max_event_bytes=64).feed(stream)) == 100


def test_the_events_before_one_too_large_are_not_lost_when_they_share_its_chunk() -> None:
    parser = SseParser(max_event_bytes=64)
    chunk = b"data: a\n\ndata: " + b"x" * 100
    with pytest.raises(EventTooLargeError):
        parser.feed(chunk)
    assert parser.rest() == chunk


def test_the_end_of_a_stream_is_one_event() -> None:
    assert parse(DONE) == [Event(DONE, DONE_DATA)]


def test_an_error_event_is_one_unnamed_event() -> None:
    assert parse(error_event(b'{"error":{}}')) == [Event(b'data: {"error":{}}\n\n', b'{"error":{}}')]
