"""What goes wrong upstream: what can be mended is, and what can't is never taken for a complete answer."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator

import httpx
import openai
import pytest

from tests.e2e.conftest import BREAK, FALLBACK_KEY, PATIENCE
from tests.e2e.running import CHAT, Demo, Proxy, chat, events
from tests.servers import eventually

pytestmark = pytest.mark.long

IMPATIENT, RETRYING, STUBBORN, FRAGILE = "deepseek-v4-flash", "kimi-k2.6", "gpt-4o-mini", "mistral-small-latest"

Ask = Callable[..., httpx.Response]


@pytest.fixture
def ask(proxy: Proxy, demo: Demo) -> Ask:
    """Post a question, its upstream under a fault."""

    def post(question: str, fault: str, **fields: object) -> httpx.Response:
        # Attempts are counted by key: those at a fallback, whose body may differ, with the others.
        headers = {"x-demo-fault": fault, "x-demo-fault-key": secrets.token_hex(8)}
        return proxy.http.post(CHAT, json=chat(question, **fields), headers=headers)

    return post


@pytest.fixture(scope="module")
def sdk(proxy: Proxy) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.base_url, api_key="sk-sdk", max_retries=0) as client:
        yield client


def code(answer: httpx.Response) -> str:
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    return str(error["code"])


# --- answers that break off -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["cut=4", "reset=4", "stall=4"])
def test_the_sdk_raises_when_a_stream_breaks_off(fault: str, sdk: openai.OpenAI, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"60 words {fault}", model=IMPATIENT, temperature=0)
    raw = sdk.chat.completions.with_raw_response.create(**asked, stream=True, extra_headers={"x-demo-fault": fault})
    chunks: list[object] = []
    with raw.parse() as stream, pytest.raises(openai.APIError):
        chunks.extend(stream)
    assert len(chunks) == 4
    row = proxy.row(request_id=raw.headers["x-olvido-request"])
    assert (row["outcome"], row["status"]) == ("upstream_broken", 200)
    again = sdk.chat.completions.with_raw_response.create(**asked)
    assert again.headers["x-olvido-source"] == "upstream"


def test_a_stream_that_breaks_off_ends_with_an_error_event_and_no_clean_end(proxy: Proxy, demo: Demo) -> None:
    asked = chat("60 words", stream=True)
    pieces: list[bytes] = []
    with (
        proxy.http.stream("POST", CHAT, json=asked, headers={"x-demo-fault": "cut=4"}) as answer,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        pieces.extend(answer.iter_raw())
    seen = b"".join(pieces)
    *chunks, last = events(seen)
    assert len(chunks) == 4
    assert last["error"]["code"] == "upstream_broken"
    assert b"[DONE]" not in seen


@pytest.mark.parametrize(("fault", "status"), [("cut=1", 502), ("reset=1", 502), ("stall=1", 504)])
def test_a_whole_answer_that_breaks_off_is_an_error(fault: str, status: int, ask: Ask, proxy: Proxy) -> None:
    answer = ask("60 words", fault, model=IMPATIENT)
    assert answer.status_code == status
    assert code(answer) == ("upstream_timeout" if status == 504 else "upstream_broken")
    assert answer.headers["x-request-id"] == answer.headers["x-olvido-request"]
    assert proxy.row(request_id=answer.headers["x-olvido-request"])["outcome"] == "upstream_broken"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_upstream_that_says_nothing_is_given_up(stream: bool, ask: Ask, demo: Demo) -> None:
    answer = ask("say: x", "slow-first-byte", model=IMPATIENT, stream=stream)
    assert (answer.status_code, code(answer)) == (504, "upstream_timeout")
    assert len(demo.arrived()) == 1, "it may still be working on the request: a timeout is not tried again"
    eventually(lambda: demo.arrived()[0].closed_early)


@pytest.mark.long
def test_a_pause_that_is_shorter_than_the_timeout_is_waited_for(proxy: Proxy, demo: Demo) -> None:
    steadily = {"x-demo-chunks": "4", "x-demo-chunk-delay": str(PATIENCE / 3)}
    answer = proxy.http.post(CHAT, json=chat("60 words", model=IMPATIENT, stream=True), headers=steadily)
    assert answer.text.endswith("data: [DONE]\n\n")


# --- retries and fallback ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "attempts"),
    [("reset=0x1", 2), ("cut=0x1", 2), ("503x1", 2), ("429=0.05x2", 3), ("500x1", 2), ("502x1", 2)],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_fails_before_the_first_byte_is_tried_again(
    fault: str, attempts: int, stream: bool, ask: Ask, demo: Demo, proxy: Proxy
) -> None:
    answer = ask(f"say: after {fault} {stream}", fault, model=RETRYING, stream=stream)
    assert answer.status_code == 200
    arrived = demo.arrived()
    assert len(arrived) == attempts
    assert {request.body for request in arrived} == {answer.request.content}
    assert proxy.row(request_id=answer.headers["x-olvido-request"])["retries"] == attempts - 1


def test_the_pause_that_the_upstream_asks_for_is_kept(ask: Ask) -> None:
    started = time.monotonic()
    assert ask("say: waited", "429=0.6x1", model=RETRYING).status_code == 200
    assert time.monotonic() - started >= 0.6


def test_a_longer_pause_than_allowed_is_the_clients_to_keep(ask: Ask, demo: Demo) -> None:
    answer = ask("say: x", "429=30", model=RETRYING)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    assert len(demo.arrived()) == 1


def test_used_up_retries_give_back_the_upstreams_own_answer(ask: Ask, demo: Demo, proxy: Proxy) -> None:
    answer = ask("say: x", "429=0.01", model=RETRYING)
    assert len(demo.arrived()) == 3
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "rate_limit_exceeded"
    assert answer.headers["retry-after-ms"] == "10"
    row = proxy.row(request_id=answer.headers["x-olvido-request"])
    assert (row["outcome"], row["status"], row["retries"]) == ("upstream_error", 429, 2)


@pytest.mark.long
def test_used_up_retries_are_told_when_no_answer_came_either(ask: Ask, demo: Demo, proxy: Proxy) -> None:
    answer = ask("say: x", "reset", model=RETRYING)
    assert len(demo.arrived()) == 3
    assert (answer.status_code, code(answer)) == (502, "upstream_broken")
    row = proxy.row(request_id=answer.headers["x-olvido-request"])
    assert (row["outcome"], row["status"], row["retries"]) == ("upstream_error", 502, 2)


def test_what_the_client_did_wrong_is_not_tried_again(ask: Ask, demo: Demo) -> None:
    answer = ask("hi", "", model=RETRYING, messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}])
    assert answer.status_code == 400
    assert len(demo.arrived()) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_fallback_answers_with_its_own_key_and_its_own_name_for_the_model(
    stream: bool, ask: Ask, demo: Demo, proxy: Proxy
) -> None:
    answer = ask(f"say: in its place {stream}", "429=0.01x3", model=STUBBORN, stream=stream)
    assert answer.status_code == 200
    *tries, last = demo.arrived()
    assert [request.header("authorization") for request in tries] == ["Bearer sk-test"] * 3
    assert last.header("authorization") == f"Bearer {FALLBACK_KEY}"
    assert b"sk-test" not in repr(last).encode()
    assert last.body == answer.request.content.replace(b'"gpt-4o-mini"', b'"demo-chat"')
    assert last.header("host") != tries[0].header("host")
    row = proxy.row(request_id=answer.headers["x-olvido-request"])
    assert (row["upstream"], row["outcome"], row["retries"]) == ("stand-in", "complete", 2)
    assert FALLBACK_KEY not in answer.text + str(answer.headers)


@pytest.mark.long
def test_when_the_fallback_fails_too_its_answer_goes_back(ask: Ask, demo: Demo) -> None:
    answer = ask("say: x", "503", model=STUBBORN)
    assert answer.status_code == 503
    assert len(demo.arrived()) == 4


def test_a_breaker_opens_answers_for_the_upstream_and_lets_it_recover(ask: Ask, demo: Demo, proxy: Proxy) -> None:
    assert [ask("say: x", "503", model=FRAGILE).status_code for _ in range(2)] == [503, 503]
    refused = ask("say: x", "", model=FRAGILE)
    assert (refused.status_code, code(refused)) == (503, "upstream_unavailable")
    assert int(refused.headers["retry-after"]) >= 1
    assert len(demo.arrived()) == 2
    assert proxy.metric("olvido_upstream_breaker_open", upstream="fragile") == 1
    parts = proxy.http.get("/readyz").json()["parts"]
    assert parts["upstreams"]["fragile"]["breaker"] in ("open", "half-open")
    assert ask("say: others work", "").status_code == 200

    eventually(lambda: ask("say: x", "", model=FRAGILE).status_code == 200, 10 * BREAK)
    assert proxy.metric("olvido_upstream_breaker_open", upstream="fragile") == 0


# --- odd answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", ["crlf", "comments", "multiline", "no-space", "split", "odd", "no-done", "garbage=3", "error-event=3"]
)
def test_an_odd_stream_passes_to_the_byte(fault: str, ask: Ask, demo: Demo) -> None:
    asked = chat(f"40 words {fault}", stream=True, temperature=0)
    direct = demo.control.post(CHAT, json=asked, headers={"authorization": "Bearer sk-x", "x-demo-fault": fault})
    assert ask(asked["messages"][0]["content"], fault, stream=True, temperature=0).content == direct.content


@pytest.mark.parametrize(
    ("fault", "kept"),
    [
        ("crlf", True),
        ("comments", True),
        ("multiline", True),
        ("no-space", True),
        ("odd", True),
        ("no-done", True),  # some upstreams never say it: the finish reason does
        ("garbage=3", False),
        ("error-event=3", False),
        ("oversized=3000000", False),
    ],
)
def test_an_odd_stream_is_kept_only_if_it_is_complete(fault: str, kept: bool, ask: Ask) -> None:
    asked = {"temperature": 0, "stream": True}
    first = ask(f"30 words kept {fault}", fault, **asked)
    again = ask(f"30 words kept {fault}", fault, **asked)
    assert (again.headers["x-olvido-source"] == "exact") is kept
    if kept:
        assert said(again) == said(first) != ""


def said(answer: httpx.Response) -> str:
    """The text of a stream, however it is framed."""
    lines = answer.text.replace("\r\n", "\n").replace("data: {\ndata:", "data: {").replace("data:{\ndata:", "data: {")
    data = [line.removeprefix("data:").strip() for line in lines.split("\n") if line.startswith("data:")]
    return "".join(
        choice["delta"].get("content") or ""
        for event in data
        if event != "[DONE]"
        for choice in httpx.Response(200, text=event).json()["choices"]
    )


@pytest.mark.parametrize("fault", ["garbage", "gzip", "oversized=2000000"])
def test_an_odd_whole_answer_passes_to_the_byte(fault: str, demo: Demo, proxy: Proxy) -> None:
    asked = chat(f"say: odd {fault}", temperature=0)
    headers = {"authorization": "Bearer sk-x", "x-demo-fault": fault}
    with demo.control.stream("POST", CHAT, json=asked, headers=headers) as direct:
        expected = b"".join(direct.iter_raw())
    with proxy.http.stream("POST", CHAT, json=asked, headers=headers) as proxied:
        assert b"".join(proxied.iter_raw()) == expected
        assert proxied.headers.get("content-encoding") == direct.headers.get("content-encoding")


@pytest.mark.parametrize("fault", ["garbage", "gzip"])
def test_a_whole_answer_that_cannot_be_read_is_not_kept(fault: str, ask: Ask) -> None:
    for _ in range(2):
        with contextlib.suppress(httpx.DecodingError):
            assert ask(f"say: unread {fault}", fault, temperature=0).headers["x-olvido-source"] == "upstream"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_larger_than_is_held_passes_whole(stream: bool, ask: Ask) -> None:
    size = 34 * 2**20
    answer = ask("say: large", f"oversized={size}", stream=stream)
    assert answer.status_code == 200
    assert answer.content.count(b"x") >= size


def test_an_upstream_that_is_not_there(ask: Ask, sdk: openai.OpenAI, proxy: Proxy) -> None:
    answer = ask("hi", "", model="absent-chat")
    assert (answer.status_code, code(answer)) == (502, "upstream_unreachable")
    assert proxy.row(request_id=answer.headers["x-olvido-request"])["outcome"] == "upstream_error"
    with pytest.raises(openai.InternalServerError):
        sdk.chat.completions.create(**chat("hi", model="absent-chat", stream=True))
