"""Requests to other routes: every one leaves its row and its count, and none of them changes for it."""

import gzip
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import time
from typing import Any

import httpx
import pytest

from proxy.http.exchange import AsgiMessage, Receive, Send
from proxy.pipeline import Services
from proxy.pipeline.unmanaged import KEPT, Passage
from proxy.types import UNANSWERED, LedgerRow, Outcome, RowFilter, Scope, Usage
from tests.builders import config
from tests.servers import Inside, eventually, proxy_app, run_app, run_proxy

USAGE = {"input_tokens": 1_000, "input_tokens_details": {"cached_tokens": 400}, "output_tokens": 100}
ANSWER = json.dumps({"id": "resp_1", "output": [{"text": "x" * 20_000}], "usage": USAGE}).encode()
EVENTS = (
    b'data: {"type":"response.created"}\n\n' * 9 + b'data: {"response": {"usage": %s}}\n\n' % json.dumps(USAGE).encode()
)


@dataclass
class App:
    """An upstream that answers as it is told to, and keeps what it got."""

    bodies: list[bytes] = field(default_factory=list)
    codings: list[bytes] = field(default_factory=list)  # that were accepted

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{phase}"
                await send({"type": f"lifespan.{phase}.complete"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        self.codings.append(dict(scope["headers"]).get(b"accept-encoding", b""))
        wish = dict(scope["headers"]).get(b"x-wish", b"").decode()
        status, headers, pieces = self._answer(wish)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if wish == "break":
            raise RuntimeError("as it was told to")
        while wish == "stay" and (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.body", "body": b""})

    def _answer(self, wish: str) -> tuple[int, list[tuple[bytes, bytes]], list[bytes]]:
        match wish:
            case "refuse":
                return 401, [], [b"{}"]
            case "gzip":
                return 200, [(b"content-encoding", b"gzip")], [gzip.compress(ANSWER)]
            case "gzip, if asked" if b"gzip" in self.codings[-1]:
                return 200, [(b"content-encoding", b"gzip")], [gzip.compress(ANSWER)]
            case "silent":
                said = b'data: {"model": "m-2", "choices": [{"delta": {"content": "word"}}]}\n\n'
                return 200, [(b"content-type", b"text/event-stream")], [said] * 300
            case "silent object":
                return 200, [], [b'{"model": "m-2", "text": "%s"}' % (b"x" * 4_000)]
            case "stream" | "stay" | "break":
                return 200, [(b"content-type", b"text/event-stream")], [EVENTS[at : at + 7] for at in range(0, 700, 7)]
            case _:
                return 200, [], [ANSWER]


@dataclass(frozen=True, slots=True)
class Running:
    upstream: App
    services: Services
    inside: Inside
    http: httpx.Client

    def ask(self, method: str = "POST", path: str = "/v1/completions", wish: str = "", **more: Any) -> httpx.Response:
        headers = {"authorization": "Bearer sk-known", "x-wish": wish, **more.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **more)

    def row(self, request_id: str) -> LedgerRow:
        """The row of a request, as soon as it is written."""
        found: list[LedgerRow] = []

        def look() -> bool:
            row = self.inside.do(lambda: self.services.storage.accounts.row(request_id))
            found.extend([row] if row else [])
            return bool(found)

        eventually(look)
        return found[0]

    def asked(self, *how: Any, **more: Any) -> LedgerRow:
        """The row of a request that is made now."""
        return self.row(self.ask(*how, **more).headers["x-olvido-request"])

    def counted(self, route: str) -> float:
        value = self.services.metrics.registry.get_sample_value("olvido_unmanaged_requests_total", {"route": route})
        assert value is not None, "the series does not begin at 0"
        return value


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    upstream = App()
    with ExitStack() as stack:
        url = stack.enter_context(run_app(upstream))
        price = {"input": 1.0, "cached": 0.5, "output": 2.0}
        entry = {"name": "up", "base_url": f"{url}/v1", "price": price, "timeout": {"idle": 5}}
        settings = config(upstreams=[entry], storage={"kind": "memory"}, server={"port": 0, "drain": 1})
        app = proxy_app(settings)
        proxy = stack.enter_context(run_proxy(settings, inside := Inside(app)))
        client = stack.enter_context(httpx.Client(base_url=proxy, timeout=120, trust_env=False))
        yield Running(upstream, app.state.services, inside, client)


BODY = {"input": "hello " * 50_000, "model": "gpt-5", "stream": False}


def test_a_request_leaves_a_row_with_what_its_answer_tells(running: Running) -> None:
    before, began = running.counted("/v1/completions"), time()
    row = running.asked(json=BODY)
    assert (row.route, row.model, row.upstream, row.source, row.plan) == (
        "/v1/completions", "gpt-5", "up", "upstream", "untouched",
    )  # fmt: skip
    assert (row.status, row.outcome, row.stream, row.measured) == (200, "complete", False, True)
    assert (row.tokens_original, row.tokens_sent, row.tokens_cached, row.tokens_completion) == (1_000, 1_000, 400, 100)
    assert row.cost == pytest.approx((600 * 1.0 + 400 * 0.5 + 100 * 2.0) / 1e6)
    assert row.cost_saved == 0
    assert began <= row.at <= time()
    assert row.upstream_seconds == row.total_seconds > 0
    assert running.counted("/v1/completions") == before + 1
    assert json.loads(running.upstream.bodies[-1]) == BODY


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"wish": "stream"}, {"stream": True, "measured": True, "tokens_sent": 1_000, "outcome": "complete"}),
        ({"wish": "gzip"}, {"measured": False, "tokens_sent": 0, "cost": 0.0, "outcome": "complete"}),
        ({"wish": "refuse"}, {"status": 401, "measured": False, "outcome": "complete"}),
        ({"method": "GET", "path": "/v1/files"}, {"route": "/v1/files", "model": ""}),
        ({"path": "/v1/of/somebody's/own"}, {"route": "other"}),
        (
            {
                "content": b'--x\r\n\r\n{"model": "m"}\r\n--x--',
                "headers": {"content-type": "multipart/form-data; boundary=x"},
            },
            {"model": ""},
        ),
        ({"headers": {"x-olvido-user": "ana"}}, {"route": "/v1/completions"}),
    ],
)  # fmt: skip
def test_what_cannot_be_read_in_passing_is_not_told(
    running: Running, how: dict[str, Any], told: dict[str, object]
) -> None:
    running.ask()  # an upstream has answered its scope
    row = running.asked(**how)
    assert {name: getattr(row, name) for name in told} == told


def test_an_answer_is_asked_for_without_a_coding_so_that_its_usage_is_told(running: Running) -> None:
    """SDKs accept gzip unasked: what it hid was counted as nothing."""
    row = running.asked(json=BODY, wish="gzip, if asked")
    assert (row.measured, row.tokens_sent, row.tokens_completion) == (True, 1_000, 100)
    running.ask("GET", "/v1/files/f/content", headers={"accept-encoding": "gzip"})
    assert running.upstream.codings[-1] == b"gzip"


@pytest.mark.parametrize(
    ("how", "model", "prompt", "completion"),
    [
        ({"wish": "silent"}, "gpt-5", 25, 300),  # a token an event
        ({"wish": "silent object"}, "gpt-5", 25, 1_007),
        ({"wish": "silent", "path": "/v1/threads/t/runs"}, "gpt-5", 25, 300),
        ({"wish": "silent object", "path": "/v1/embeddings"}, "gpt-5", 25, 0),
        ({"wish": "silent object", "path": "/v1/threads"}, "gpt-5", 0, 0),  # nobody knows what it is
        ({"wish": "silent", "path": "/v1/files"}, "gpt-5", 0, 0),
        ({"wish": "silent", "headers": {"content-type": "multipart/form-data"}}, "gpt-5", 25, 300),  # it is not
        ({"wish": "silent", "body": b'\xef\xbb\xbf{"prompt": "%s"}'}, "m-2", 25, 300),  # the answer names it
    ],
)
def test_what_an_answer_does_not_tell_is_estimated_where_tokens_are_billed(
    running: Running, how: dict[str, Any], model: str, prompt: int, completion: int
) -> None:
    template = how.pop("body", b'{"model": "gpt-5", "prompt": "%s"}')
    body = template % (b"x" * (100 + 2 - len(template)))
    headers = {"content-type": "application/json", **how.pop("headers", {})}
    row = running.asked(content=body, headers=headers, **how)
    assert (row.measured, row.model, row.tokens_sent, row.tokens_completion) == (False, model, prompt, completion)
    assert row.cost == pytest.approx((prompt * 1.0 + completion * 2.0) / 1e6)


def test_of_a_compressed_answer_the_bytes_are_counted_which_are_fewer_than_its_tokens_would_fill() -> None:
    passage = _passage()
    passage.sent(b'{"prompt": ""}  ')
    passage.answered(200, (("content-encoding", "br"), ("content-type", "text/event-stream")))
    passage.came(b"x" * 70)
    assert passage.estimated() == Usage(4, 70)


@pytest.mark.parametrize(
    ("status", "outcome", "prompt"), [(0, "client_gone", 4), (0, "upstream_error", 0), (400, "complete", 0)]
)
def test_what_was_refused_is_not_billed_and_what_nobody_waited_for_is(
    status: int, outcome: Outcome, prompt: int
) -> None:
    passage = _passage()
    passage.sent(b'{"prompt": ""}  ')
    if status:
        passage.answered(status, ())
    passage.outcome = outcome
    assert passage.estimated() == Usage(prompt, 0)


def test_what_a_broken_answer_was_is_told(running: Running) -> None:
    with running.http.stream("POST", "/v1/completions", headers={"x-wish": "break"}) as answer:
        request_id = answer.headers["x-olvido-request"]
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
    assert running.row(request_id).outcome == "upstream_broken"


def test_a_client_that_leaves_is_told(running: Running) -> None:
    with running.http.stream("POST", "/v1/completions", headers={"x-wish": "stay"}) as answer:
        request_id = answer.headers["x-olvido-request"]
        next(answer.iter_raw())
    assert running.row(request_id).outcome == "client_gone"


def test_an_upstream_that_is_away_is_told() -> None:
    entry = {"name": "up", "base_url": "http://127.0.0.1:9/v1"}
    settings = config(upstreams=[entry], storage={"kind": "memory"}, server={"port": 0, "drain": 1})
    app = proxy_app(settings)
    with (
        run_proxy(settings, inside := Inside(app)) as url,
        httpx.Client(base_url=url, timeout=120, trust_env=False) as client,
    ):
        running = Running(App(), app.state.services, inside, client)
        row = running.asked()
    assert (row.status, row.outcome, row.scope) == (502, "upstream_error", UNANSWERED)


def test_a_key_that_no_upstream_has_answered_leaves_no_scope(running: Running) -> None:
    """Some upstreams answer what is asked for with GET without looking at the key."""
    invented = {"authorization": "Bearer sk-invented"}
    for how in ({"wish": "refuse"}, {"method": "GET", "path": "/v1/files"}):
        row = running.asked(**how, headers=invented)
        assert (row.scope, row.session) == (UNANSWERED, UNANSWERED)
    known = running.asked(headers=invented)
    assert known.scope != UNANSWERED
    assert running.asked("GET", "/v1/files", headers=invented).scope == known.scope


def test_a_look_at_the_list_of_models_is_no_traffic(running: Running) -> None:
    before = running.counted("/v1/models")
    for path in ("/v1/models", "/v1/models/m-1", "/v1//models/"):
        assert running.ask("GET", path).status_code == 200
    row = running.asked("DELETE", "/v1/models/ft-1")  # what comes later is written later
    accounts = running.services.storage.accounts
    found = running.inside.do(lambda: accounts.rows(limit=10, like=RowFilter(route="/v1/models")))
    assert [each.request_id for _, each in found] == [row.request_id]
    assert running.counted("/v1/models") == before + 1


def test_an_end_user_has_a_scope_of_his_own(running: Running) -> None:
    assert running.asked(headers={"x-olvido-user": "ana"}).scope.endswith("/ana")


def test_no_other_sum_counts_them_and_no_list_of_conversations_has_them(running: Running) -> None:
    row = running.asked(headers={"x-olvido-user": "bob"}, json=BODY)
    accounts = running.services.storage.accounts
    (bucket,) = running.inside.do(lambda: accounts.buckets(row.at - 60, row.at + 60, 60, row.scope, "route"))
    assert (bucket.name, bucket.sums.unmanaged) == ("/v1/completions", 1)
    assert bucket.sums.unmanaged_cost == pytest.approx(row.cost)
    assert (bucket.sums.requests, bucket.sums.cost, bucket.sums.tokens_sent, bucket.sums.overhead_seconds) == (
        0, 0, 0, 0,
    )  # fmt: skip
    assert running.inside.do(lambda: accounts.sessions(scope=row.scope)) == []
    assert running.services.metrics.registry.get_sample_value("olvido_requests_total") is None


def test_a_ledger_that_fails_costs_the_client_nothing(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(row: LedgerRow) -> None:
        raise OSError("no disk")

    def failed() -> float:
        told = {"stage": "ledger", "reason": "OSError"}
        return running.services.metrics.registry.get_sample_value("olvido_fail_open_total", told) or 0.0

    monkeypatch.setattr(running.services.metrics, "passed_through", fail)
    assert running.ask(json=BODY).content == ANSWER
    eventually(lambda: failed() == 1)


def test_a_name_that_is_cut_in_two_is_read() -> None:
    whole = b'{"input": "%s", "model": "gpt-5"}' % (b"x" * 500)
    for cut in range(1, len(whole)):
        passage = _passage()
        passage.sent(whole[:cut])
        passage.sent(whole[cut:])
        assert passage.model == "gpt-5"


def test_kept_are_both_ends_of_an_answer_and_no_more() -> None:
    passage = _passage()
    passage.answered(200, ())
    whole = bytes(range(256)) * 256
    for at in range(0, len(whole), 100):
        passage.came(whole[at : at + 100])
    assert (passage.begins, passage.ends) == (whole[:KEPT], whole[-KEPT:])
    passage.came(whole)
    assert passage.ends == whole[-KEPT:]


def _passage() -> Passage:
    return Passage("req_1", 0.0, "/v1/completions", "POST", Scope("t"), "up", is_json=True, started=0.0)
