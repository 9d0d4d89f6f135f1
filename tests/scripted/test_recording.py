import base64

import pytest

from tests.scripted.recording import Received, Recorder


def received(*headers: tuple[str, str], body: bytes = b"") -> Received:
    return Received("POST", "/v1/x", "a=1", headers, body, 7.0)


@pytest.mark.parametrize(
    ("value", "key"),
    [("Bearer sk-1", "sk-1"), ("bearer  sk-1 ", "sk-1"), ("Basic sk-1", ""), ("Bearer", ""), ("", "")],
)
def test_the_key_is_the_bearer_token(value: str, key: str) -> None:
    assert received(("authorization", value)).api_key == key


def test_is_told_as_json_with_its_bytes_intact() -> None:
    told = received(("x-one", "1"), body=b"\x00\xff").as_json()
    assert base64.b64decode(told["body"]) == b"\x00\xff"
    assert (told["query"], told["headers"], told["arrived"]) == ("a=1", [["x-one", "1"]], 7.0)


def test_counts_always_and_keeps_only_when_enabled() -> None:
    for enabled in (True, False):
        recorder, request = Recorder(enabled), received()
        recorder.arrived(request)
        assert (recorder.received, recorder.in_flight, len(recorder.requests)) == (1, 1, int(enabled))
        request.closed_early = True
        recorder.done(request)
        assert (recorder.in_flight, recorder.closed_early) == (0, 1)


def test_forgets_what_is_over_and_not_what_is_under_way() -> None:
    recorder = Recorder(enabled=True)
    recorder.arrived(received())
    recorder.clear()
    assert (recorder.received, recorder.requests, recorder.in_flight) == (0, (), 1)
