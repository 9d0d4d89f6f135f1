"""Names of routes that are passed through, and what is read of their requests in passing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.routes import ROUTES, is_counted, is_traffic, model_in, route_of, spelt, told_in, usage_in
from proxy.types import Usage


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/responses", "/v1/responses"), ("POST", "/v1/messages", "/v1/messages"),
        ("POST", "/v1/messages/", "/v1/messages"), ("POST", "/v1/completions", "/v1/completions"),
        # No new turn of a conversation.
        ("GET", "/v1/responses/resp_1", "other"), ("POST", "/v1/messages/count_tokens", "other"),
        ("GET", "/v1/responses", "other"), ("GET", "/v1/chat/completions/c1", "other"),
        ("POST", "/v1/embeddings", "/v1/embeddings"), ("GET", "/v1/models", "/v1/models"),
        ("GET", "/v1/models/gpt-5", "/v1/models"), ("DELETE", "/v1/files/f/content", "/v1/files"),
        ("POST", "/v1/images/generations", "/v1/images"), ("POST", "/v1/audio/speech", "/v1/audio"),
        ("POST", "/v1/embeddingsX", "other"), ("GET", "/v1/invented/by/a/client", "other"), ("GET", "/v1/", "other"),
        ("GET", "/v1", "other"),
    ],
)  # fmt: skip
def test_a_route_is_named_by_method_and_path(method: str, path: str, name: str) -> None:
    assert route_of(method, path) == name


@pytest.mark.parametrize(
    "path",
    [
        "/v1/completions", "/v1//completions", "/v1/completions/", "/v1/%63ompletions", "/v1/Completions",
        "/v1/completions;x", "/v1%2Fcompletions", "/v1/\\completions//", "/v1/completions%3Bx", "/v1;a/completions;b/;",
        "/v1/v1/completions",
    ],
)  # fmt: skip
def test_a_route_has_one_name_however_it_is_spelt(path: str) -> None:
    assert spelt(path) == "/v1/completions"
    assert route_of("POST", path) == "/v1/completions"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"model":"m","max_tokens":7}', ("m", 7)), (b'{"model":"m"}', ("m", None)), (b" {}", ("", None)),
        # Only what stands at the top is the request's own.
        (b'{"metadata":{"model":"cheap","max_tokens":1},"model":"dear","max_tokens":9}', ("dear", 9)),
        (b'{"max_tokens":5,"max_completion_tokens":8,"n":3}', ("", 24)), (b'{"max_output_tokens":4}', ("", 4)),
        (b'{"max_tokens":5,"n":2,"best_of":4}', ("", 20)), (b'{"max_tokens":5,"n":-2}', ("", 5)),
        (b'{"max_tokens":true,"n":"2","model":7}', ("", None)), (b'{"max_tokens":-5,"n":null}', ("", None)),
        (b'{"model":"a\\u0000b"}', ("", None)), (b'{"model":"' + b"m" * 101 + b'"}', ("", None)),
    ],
)  # fmt: skip
def test_what_a_body_says_of_its_cost_is_read(body: bytes, told: tuple[str, int | None]) -> None:
    found = told_in(body)
    assert found is not None
    assert (found.named, found.most_tokens) == told


@pytest.mark.parametrize("body", [b"", b"[]", b"no json", b'{"model":', b"\xff\xfe{", b'{"a":' * 9_000])
def test_what_is_no_object_says_nothing(body: bytes) -> None:
    assert told_in(body) is None


@pytest.mark.parametrize(
    ("route", "streams", "is_billed"),
    [
        ("/v1/completions", False, True), ("/v1/messages", False, True), ("/v1/embeddings", False, True),
        ("/v1/files", True, False), ("/v1/models", False, False), ("other", False, False), ("other", True, True),
    ],
)  # fmt: skip
def test_what_is_billed_by_the_token_is_known_by_its_route(route: str, *, streams: bool, is_billed: bool) -> None:
    assert is_counted(route, streams=streams) is is_billed


@pytest.mark.parametrize(
    ("method", "route", "counts"),
    [
        ("GET", "/v1/models", False), ("HEAD", "/v1/models", False), ("DELETE", "/v1/models", True),
        ("GET", "/v1/files", True), ("POST", "/v1/completions", True), ("GET", "other", True),
    ],
)  # fmt: skip
def test_a_look_at_the_list_of_models_is_no_traffic(method: str, route: str, *, counts: bool) -> None:
    assert is_traffic(method, route) is counts


@given(st.text(), st.text())
def test_there_are_no_more_names_than_listed(method: str, path: str) -> None:
    assert route_of(method, f"/v1/{path}") in ROUTES


@pytest.mark.parametrize(
    ("piece", "model"),
    [
        (b'{"input":"hi","model":"gpt-5"}', "gpt-5"), (b'{ "model" : "m/1:free", "x": 1}', "m/1:free"),
        (b'{"model": null}', ""), (b'{"model": 5}', ""), (b'{"mode":"x"}', ""), (b"", ""), (b"\xff\x00", ""),
        (json.dumps({"input": 'say "model": "no"', "model": "yes"}).encode(), "yes"),
        (json.dumps({"input": '"model": "no"'}).encode(), ""), (b'{"type":"model","name":"x"}', ""),
        (b'{"model":"' + b"x" * 200 + b'"}', ""),
    ],
)  # fmt: skip
def test_the_model_of_a_request_is_read_in_passing(piece: bytes, model: str) -> None:
    assert model_in(piece) == model


def _events(*payloads: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in payloads)


RESPONSES = {
    "input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 59,
}  # fmt: skip
MESSAGES = {"input_tokens": 10, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40, "output_tokens": 1}


@pytest.mark.parametrize(
    ("begins", "ends", "usage"),
    [
        (b"", b'{"data":[],"usage":{"prompt_tokens":8,"total_tokens":8}}', Usage(8, 0)),
        (b"", _events({"response": {"usage": None}}, {"response": {"usage": RESPONSES}}), Usage(50, 9, 20, 4)),
        # A stream of messages: the prompt at its beginning, the answer at its end.
        (
            _events({"type": "message_start", "message": {"usage": MESSAGES}}),
            _events({"type": "message_delta", "usage": {"output_tokens": 77}}),
            Usage(350, 77, 300, written_tokens=40),
        ),
        (b"", json.dumps({"content": 'it said "usage": {"prompt_tokens": 5}'}).encode(), None),
        (b"", b'{"usage":{"prompt_tokens":8,"tot', None),  # cut off
        (b'{"usage":{"prompt_tokens":3,"completion_tokens":2}}', b"", Usage(3, 2)),
        (b"", b'{"usage":"much"}', None), (b"", b'{"usage":{"prompt_tokens":"many"}}', None), (b"\xff", b"\xfe", None),
        (b"", b'{"usage":{}}', None), (b"", b'"usage":' + b'{"a":' * 5_000, None),
    ],
)  # fmt: skip
def test_the_usage_of_an_answer_is_read_at_its_ends(begins: bytes, ends: bytes, usage: Usage | None) -> None:
    assert usage_in(begins, ends) == usage


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_are_a_failure(begins: bytes, ends: bytes) -> None:
    usage_in(begins, ends)
    model_in(begins)
