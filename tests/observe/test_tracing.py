"""Traces of requests: parents, samples, spans, and when they are handed on."""

import contextvars
from typing import Any

import pytest

from proxy.observe.sampling import Sampler
from proxy.observe.tracing import CURRENT, MOST_SPANS, Finished, Parent, Span, Trace, Tracing, current, parent_in
from proxy.types import Delivery, Headers, Round, Usage
from tests.builders import ledger_row

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (f"00-{TRACE}-{CALLER}-01", True),
        (f"00-{TRACE}-{CALLER}-00", False),
        (f"00-{TRACE}-{CALLER}-03", True),  # other flags than the sampled one are none of ours
        (f"  00-{TRACE}-{CALLER}-01 ", True),
        (f"01-{TRACE}-{CALLER}-01-more", True),  # a later version may have more
        (f"00-{TRACE}-{CALLER}-01-more", None),
        (f"ff-{TRACE}-{CALLER}-01", None),
        (f"00-{'0' * 32}-{CALLER}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE.upper()}-{CALLER}-01", None),
        (f"00-{TRACE}-{CALLER}", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_the_caller_is_read_as_the_standard_has_it(told: str, found: bool | None) -> None:
    expected = None if found is None else Parent(int(TRACE, 16), int(CALLER, 16), is_sampled=found)
    assert parent_in((("traceparent", told),)) == expected


def test_without_a_header_there_is_no_caller() -> None:
    assert parent_in((("tracestate", "a=b"),)) is None


class House:
    """A sender that keeps what it is given."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.sent: list[Finished] = []
        self.tracing = Tracing(Sampler(ratio, 60), self.sent.append)

    def begin(self, headers: Headers = (), request_id: str = "req_1") -> Trace:
        return self.tracing.begin(headers, request_id)

    @property
    def spans(self) -> dict[str, Span]:
        return {span.name: span for finished in self.sent for span in finished.spans}


def call(trace: Trace, *, streamed: bool = False, resent: int = 0, dialect: str = "kimi") -> Any:
    return trace.call("up", dialect, "https://api.example.com/v1", "m", streamed=streamed, resent=resent)


def delivery(**differing: Any) -> Delivery:
    told = {"outcome": "complete", "status": 200, "upstream": "up", "model": "m-2", "streamed": False}
    return Delivery(**{**told, **differing})


def test_a_trace_is_handed_on_once_it_is_answered_and_recorded() -> None:
    house = House()
    trace = house.begin()
    trace.stage("plan", 1.0, 2.0, None)
    trace.hold()
    trace.end("POST /x", {"http.route": "/x"}, 200)
    assert house.sent == []
    trace.stage("ledger", 3.0, 4.0, None)
    trace.release()
    (finished,) = house.sent
    assert (finished.trace, [span.name for span in finished.spans]) == (trace.id, ["plan", "POST /x", "ledger"])
    root = house.spans["POST /x"]
    assert (root.kind, root.parent, root.error) == ("server", None, "")
    assert root.attributes == {"http.route": "/x", "http.response.status_code": 200}
    assert {span.parent for span in finished.spans if span is not root} == {root.id}


def test_what_ends_later_is_handed_on_by_itself() -> None:
    house = House()
    trace = house.begin()
    trace.end("POST /x", {}, 200)
    trace.stage("verify", 1.0, 2.0, None)
    assert [[span.name for span in finished.spans] for finished in house.sent] == [["POST /x"], ["verify"]]


def test_a_request_outside_of_the_sample_has_a_name_and_no_spans() -> None:
    house = House(0.0)
    trace = house.begin()
    trace.stage("plan", 1.0, 2.0, None)
    trace.end("POST /x", {}, 200)
    assert house.sent == []
    assert trace.id
    assert trace.root.id


@pytest.mark.parametrize(("ratio", "least", "most"), [(0.0, 0, 0), (0.1, 40, 170), (1.0, 1_000, 1_000)])
def test_the_sample_is_a_share_of_the_requests(ratio: float, least: int, most: int) -> None:
    house = House(ratio)
    assert least <= sum(house.begin().is_sampled for _ in range(1_000)) <= most


@pytest.mark.parametrize(("ratio", "flag"), [(0.0, "01"), (1.0, "00"), (0.0, "00"), (1.0, "01")])
def test_the_caller_decides_whether_its_request_is_sampled(ratio: float, flag: str) -> None:
    trace = House(ratio).begin((("traceparent", f"00-{TRACE}-{CALLER}-{flag}"),))
    assert trace.is_sampled == (flag == "01")
    assert (trace.id, trace.root.parent) == (int(TRACE, 16), int(CALLER, 16))


def test_a_stage_that_failed_open_says_why() -> None:
    house = House()
    trace = house.begin()
    trace.stage("plan", 1.0, 2.0, "deadline")
    trace.end("POST /x", {}, 200)
    assert house.spans["plan"].error == "deadline"
    assert house.spans["POST /x"].error == ""


def test_a_call_is_told_by_the_conventions_for_generative_ai() -> None:
    house = House()
    trace = house.begin()
    made = call(trace, streamed=True, resent=1)
    assert made.parent.split("-")[:2] == ["00", f"{trace.id:032x}"]
    usage = Usage(120, 30, 100, reasoning_tokens=8, written_tokens=20)
    said = {"id": "chatcmpl-1", "choices": [{"finish_reason": "stop", "message": {"content": "secret"}}]}
    delivered = delivery(usage=usage, completion=said, streamed=True, first_byte_seconds=0.25)
    made.answered(delivered)
    trace.accounted(ledger_row(), delivered)
    trace.end("POST /x", {}, 200)
    span = house.spans["chat m"]
    assert (span.kind, span.parent, span.error) == ("client", trace.root.id, "")
    assert made.parent == f"00-{trace.id:032x}-{span.id:016x}-01"
    assert span.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "moonshot_ai",
        "gen_ai.request.model": "m",
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "m-2",
        "gen_ai.response.time_to_first_chunk": 0.25,
        "gen_ai.usage.cache_creation.input_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.reasoning.output_tokens": 8,
        "http.request.method": "POST",
        "http.request.resend_count": 1,
        "http.response.status_code": 200,
        "olvido.upstream": "up",
        "server.address": "api.example.com",
        "server.port": 443,
    }


@pytest.mark.parametrize(("dialect", "name"), [("openai", "openai"), ("mistral", "mistral_ai"), ("generic", "up")])
def test_a_provider_is_named_as_the_conventions_name_it_and_else_as_we_do(dialect: str, name: str) -> None:
    house = House()
    trace = house.begin()
    call(trace, dialect=dialect).failed("503", 503)
    trace.end("POST /x", {}, 200)
    assert house.spans["chat m"].attributes["gen_ai.provider.name"] == name


def test_each_round_has_its_own_usage() -> None:
    house = House()
    trace = house.begin()
    call(trace).failed("503", 503)
    first, second = call(trace, resent=1), call(trace)
    for each in (first, second):
        each.answered(delivery())
    rounds = (Round("up", Usage(10, 1)), Round("up", Usage(20, 2)))
    trace.accounted(ledger_row(), delivery(rounds=rounds, usage=Usage(30, 3)))
    trace.end("POST /x", {}, 200)
    spans = [span for span in house.sent[0].spans if span.kind == "client"]
    assert [span.attributes.get("gen_ai.usage.input_tokens") for span in spans] == [None, 10, 20]
    assert [span.error for span in spans] == ["503", "", ""]


def test_the_request_is_told_as_the_ledger_has_it() -> None:
    house = House()
    trace = house.begin(request_id="req_1")
    trace.accounted(ledger_row(cost=0.25, cost_saved=0.5, session="s-9", plan="managed"), None)
    trace.accounted(ledger_row(request_id="req_1-verify", cost=9.0), None)  # one of ours, made for it
    trace.end("POST /x", {}, 200)
    told = house.spans["POST /x"].attributes
    assert (told["olvido.cost.dollars"], told["olvido.saved.dollars"], told["olvido.plan"]) == (0.25, 0.5, "managed")
    assert (told["gen_ai.conversation.id"], told["gen_ai.request.model"]) == ("s-9", "m")
    assert (told["olvido.tokens.original"], told["olvido.tokens.sent"]) == (100, 100)


@pytest.mark.parametrize(
    ("outcome", "status", "error", "expected"),
    [
        ("complete", 200, "", ""),
        ("upstream_error", 400, "", ""),  # the client's own mistake
        ("upstream_error", 503, "", "503"),
        ("client_gone", 200, "", "client_gone"),
        ("upstream_broken", 200, "", "upstream_broken"),
        ("complete", 0, "client_gone", "client_gone"),
    ],
)
def test_a_request_ends_with_an_error_if_it_was_one(outcome: Any, status: int, error: str, expected: str) -> None:
    house = House()
    trace = house.begin()
    trace.accounted(ledger_row(outcome=outcome), None)
    trace.end("POST /x", {}, status, error)
    assert house.spans["POST /x"].error == expected


def test_a_tool_of_ours_is_a_span() -> None:
    house = House()
    trace = house.begin()
    trace.tool("recall", 1.0, 2.0, None)
    trace.end("POST /x", {}, 200)
    span = house.spans["execute_tool recall"]
    assert span.attributes["gen_ai.operation.name"] == "execute_tool"
    assert (span.attributes["gen_ai.tool.name"], span.error) == ("recall", "")


def test_a_request_of_very_many_rounds_has_as_many_spans_as_can_be_kept_and_itself() -> None:
    house = House()
    trace = house.begin()
    for _ in range(MOST_SPANS + 50):
        trace.stage("tools", 1.0, 2.0, None)
    trace.end("POST /x", {}, 200)
    assert len(house.sent[0].spans) == MOST_SPANS + 1
    assert house.sent[0].spans[-1].name == "POST /x"


def test_times_are_those_of_the_clock_on_the_wall() -> None:
    house = House()
    trace = house.begin()
    trace.end("POST /x", {}, 200)
    (finished,) = house.sent
    root = finished.spans[0]
    begun = (finished.clock + root.started * 1e9) / 1e9
    assert begun == pytest.approx(finished.clock / 1e9 + root.started)
    assert 1.7e9 < begun < 4e9
    assert root.ended >= root.started


def test_the_current_trace_is_that_of_the_sample() -> None:
    def look(ratio: float) -> Trace | None:
        CURRENT.set(House(ratio).begin())
        return current()

    assert current() is None
    assert contextvars.copy_context().run(look, 0.0) is None
    assert contextvars.copy_context().run(look, 1.0) is not None
