"""Which requests are looked up, what is given again and in which form, and what is kept."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.config.reuse import ExactReuse
from proxy.protocol.accumulate import Accumulator
from proxy.protocol.request import parse
from proxy.protocol.sse import DONE_DATA, SseParser
from proxy.reuse.exact import addressee, exact_key, is_deterministic, lookup, replayed, storable
from proxy.storage.answers import MemoryAnswers
from proxy.types import ChatRequest, Delivery, Directives, Headers, ReuseHit, ReuseMiss, StoredAnswer, Usage
from tests.builders import NOW, Executor, calling, chat, completion, identity, inline, stored, user
from tests.examples import examples

EXECUTOR = Executor()  # never used: the work of these tests is small
QUESTION = user("What is the capital of France?")
FIXED = chat(QUESTION, temperature=0)
FREE = chat(QUESTION, temperature=0.7)


async def looked_up(
    request: ChatRequest,
    directives: Directives = Directives(),  # noqa: B008 (frozen)
    *,
    person: str = "",
    upstream: str = "up",
    cache: MemoryAnswers | None = None,
    now: float = NOW,
    **config: Any,
) -> ReuseHit | ReuseMiss:
    return await lookup(
        request,
        identity(request, person=person),
        directives,
        upstream=upstream,
        config=ExactReuse(**config),
        cache=cache or MemoryAnswers(),
        now=now,
        offload=inline(EXECUTOR),
    )


async def holding(request: ChatRequest, answer: StoredAnswer, *, ttl: float = 60.0) -> MemoryAnswers:
    """A cache that has this answer to this request."""
    cache = MemoryAnswers()
    missed = await looked_up(request)
    assert isinstance(missed, ReuseMiss)
    assert missed.key is not None
    await cache.put(identity(request).scope.id, missed.key, answer, ttl)
    return cache


# --- look-up --------------------------------------------------------------------------------------------------------

OPTED_IN = Directives(opted_in=True)
REFRESH = Directives(lookup=False, opted_in=True)
NO_CACHE = Directives(lookup=False)
OFF = Directives(lookup=False, store=False)
NO_STORE = Directives(store=False)


@pytest.mark.parametrize(
    ("request_", "directives", "config", "reason", "may_be_stored"),
    [
        (FIXED, Directives(), {}, "absent", True),
        (chat(QUESTION, seed=7), Directives(), {}, "absent", True),
        (FREE, Directives(), {}, "not_deterministic", False),
        (chat(QUESTION), Directives(), {}, "not_deterministic", False),
        (FREE, Directives(), {"when": "always"}, "absent", True),
        (FREE, OPTED_IN, {}, "absent", True),
        (FREE, REFRESH, {}, "refresh", True),
        (FIXED, REFRESH, {}, "refresh", True),
        (FIXED, NO_CACHE, {}, "refresh", True),
        (FREE, NO_CACHE, {}, "not_deterministic", False),
        (FIXED, NO_STORE, {}, "absent", False),
        (FIXED, OFF, {}, "client_off", False),
        (FREE, OFF, {}, "client_off", False),
        (FIXED, Directives(), {"enabled": False}, "disabled", False),
        (FIXED, OPTED_IN, {"enabled": False}, "disabled", False),
        (chat(QUESTION, temperature=0, n=2), Directives(), {}, "n_gt_1", False),
        (chat(QUESTION, temperature=0, n=2), OPTED_IN, {}, "n_gt_1", False),
        (chat(QUESTION, temperature=0, n=2), REFRESH, {}, "n_gt_1", False),
        (chat(user("What time is it now?"), temperature=0), Directives(), {}, "time_dependent", False),
    ],
)
async def test_a_request_goes_to_the_upstream_for_a_reason(
    request_: ChatRequest, directives: Directives, config: Mapping[str, Any], reason: str, may_be_stored: bool
) -> None:
    missed = await looked_up(request_, directives, **config)
    assert isinstance(missed, ReuseMiss)
    assert missed.reason == reason
    key = exact_key(identity(request_).scope.id, "up", request_)
    assert missed.key == (key if may_be_stored else None)


@pytest.mark.note("7 SÍ/3")
async def test_what_was_stored_is_found() -> None:
    answer = stored()
    cache = await holding(FIXED, answer)
    hit = await looked_up(FIXED, cache=cache)
    assert isinstance(hit, ReuseHit)
    assert (hit.source, hit.answer) == ("exact", answer)
    assert hit.key == exact_key(identity(FIXED).scope.id, "up", FIXED)
    assert isinstance(await looked_up(FIXED, NO_STORE, cache=cache), ReuseHit)


@pytest.mark.parametrize(
    ("request_", "other"),
    [
        (FIXED, {"person": "ana"}),
        (FIXED, {"upstream": "other"}),
        (FIXED, {"now": NOW + 60.0}),
        (FIXED, {"directives": REFRESH}),
        (FIXED, {"directives": NO_CACHE}),
        (chat(QUESTION, temperature=0, model="m2"), {}),
        (chat(user("What is the capital of Spain?"), temperature=0), {}),
        (chat(QUESTION, temperature=0, seed=1), {}),
    ],
)
async def test_and_nothing_else_is(request_: ChatRequest, other: Mapping[str, Any]) -> None:
    cache = await holding(FIXED, stored())
    assert isinstance(await looked_up(request_, cache=cache, **other), ReuseMiss)


# --- replay ---------------------------------------------------------------------------------------------------------

SAID = {"role": "assistant", "content": "yes"}
WITH_CALLS = completion(None, finish_reason="tool_calls", tool_calls=calling("1")["tool_calls"])
RICH = completion("¡Hola! 🧉 " * 60, reasoning_content="They greet, so I greet.", refusal=None, annotations=[])


def read(sse: bytes) -> tuple[Mapping[str, Any] | None, list[bytes | None]]:
    """A stream as a client reads it: the completion it amounts to, and the data of its events."""
    parser, accumulator = SseParser(), Accumulator()
    events = [event.data for event in [*parser.feed(sse), *parser.flush()]]
    for data in events:
        accumulator.feed(data or b"")
    assert accumulator.complete
    return accumulator.completion(), events


@pytest.mark.parametrize("answer", [completion(), WITH_CALLS, RICH], ids=["plain", "calls", "rich"])
@pytest.mark.parametrize("was_streamed", [False, True])
def test_an_answer_is_replayed_as_json_to_the_byte(answer: Mapping[str, Any], was_streamed: bool) -> None:
    kept = stored(answer, streamed=was_streamed)
    given_again = replayed(ReuseHit("exact", "k", kept), FIXED, NOW + 12.7)
    assert given_again.body == kept.completion
    assert (given_again.status, given_again.source) == (200, "exact")
    assert given_again.headers == (("content-type", "application/json"), ("age", "12"))


@pytest.mark.parametrize("answer", [completion(), WITH_CALLS, RICH], ids=["plain", "calls", "rich"])
@pytest.mark.parametrize("was_streamed", [False, True])
@pytest.mark.parametrize("asks_for_usage", [False, True])
def test_or_as_a_stream_that_amounts_to_it(answer: Mapping[str, Any], was_streamed: bool, asks_for_usage: bool) -> None:
    asking = chat(QUESTION, temperature=0, stream=True, stream_options={"include_usage": asks_for_usage})
    given_again = replayed(ReuseHit("exact", "k", stored(answer, streamed=was_streamed)), asking, NOW + 3.0)
    headers = dict(given_again.headers)
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["age"] == "3"
    assert isinstance(given_again.body, bytes)
    whole, events = read(given_again.body)
    expected = dict(answer) if asks_for_usage else {k: v for k, v in answer.items() if k != "usage"}
    assert whole == expected
    assert events[-1] == DONE_DATA


def test_a_clock_that_was_set_back_makes_no_negative_age() -> None:
    given_again = replayed(ReuseHit("exact", "k", stored(at=NOW + 100)), FIXED, NOW)
    assert dict(given_again.headers)["age"] == "0"


# --- what is kept ---------------------------------------------------------------------------------------------------


def delivery(**differing: Any) -> Delivery:
    base: dict[str, Any] = {
        "outcome": "complete",
        "status": 200,
        "upstream": "up",
        "model": "m-2026",
        "streamed": False,
        "usage": Usage(9, 3),
        "completion": completion(),
    }
    return Delivery(**{**base, **differing})


def said(parts: list[dict[str, str]]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}]}


def choices(*reasons: Any) -> dict[str, Any]:
    return {
        **completion(),
        "choices": [{"index": i, "message": SAID, "finish_reason": each} for i, each in enumerate(reasons)],
    }


@pytest.mark.parametrize(
    ("differing", "kept"),
    [
        ({}, True),
        ({"status": 201}, False),
        ({"streamed": True}, True),
        ({"usage": None}, True),
        ({"completion": choices("length")}, True),
        ({"completion": choices("tool_calls")}, True),
        ({"completion": choices("stop", "length")}, True),
        ({"outcome": "client_gone"}, False),
        ({"outcome": "upstream_broken"}, False),
        ({"outcome": "upstream_error"}, False),
        ({"outcome": "our_error"}, False),
        ({"status": 199}, False),
        ({"status": 301}, False),
        ({"status": 429}, False),
        ({"status": 500}, False),
        ({"completion": None}, False),
        ({"completion": None, "partial": completion()}, False),
        ({"completion": {}}, False),
        ({"completion": {"choices": None}}, False),
        ({"completion": {"choices": []}}, False),
        ({"completion": {"choices": ["stop"]}}, False),
        ({"completion": choices("content_filter")}, False),
        ({"completion": choices(None)}, False),
        ({"completion": choices("error")}, False),
        ({"completion": choices("stop", None)}, False),
        ({"completion": {"error": {"message": "no"}}}, False),
        ({"completion": {**completion(), "error": {"message": "no"}}}, False),
        ({"completion": {"choices": [{"message": SAID, "finish_reason": "stop", "error": {"code": 502}}]}}, False),
        ({"completion": completion("")}, False),
        ({"completion": completion(" \n")}, False),
        ({"completion": completion(None)}, False),
        ({"completion": completion(None, finish_reason="length", reasoning_content="I thought")}, False),
        ({"completion": said([{"type": "text", "text": ""}])}, False),
        ({"completion": {"choices": [{"finish_reason": "stop"}]}}, False),
        ({"completion": said([{"type": "text", "text": "yes"}])}, True),
        ({"completion": completion(None, refusal="I can't help with that.")}, True),
        ({"completion": WITH_CALLS}, True),
        ({"completion": {**completion(), "error": None}}, True),
    ],
)
def test_only_a_complete_answer_is_kept(differing: Mapping[str, Any], kept: bool) -> None:
    assert (storable(delivery(**differing), NOW) is not None) == kept


def test_it_is_kept_as_the_upstreams_own_bytes() -> None:
    raw = b'{ "choices" : [] , "unknown" : 1.0 }'
    kept = storable(delivery(raw_completion=raw), NOW)
    assert kept == StoredAnswer(raw, NOW, "up", "m-2026", streamed=False, usage=Usage(9, 3))


def test_or_as_what_its_stream_amounted_to() -> None:
    kept = storable(delivery(streamed=True), NOW)
    assert kept is not None
    assert msgspec.json.decode(kept.completion) == completion()
    assert kept.streamed


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("api-version=2", ()),
        ("", (("openai-beta", "x"),)),
        ("", (("openai-organization", "org"),)),
        ("", (("x-portkey-config", "1"),)),
    ],
)
def test_another_addressee_is_another_question(query: str, headers: Headers) -> None:
    assert addressee("kimi", query, headers) != addressee("kimi", "", ())


def test_headers_that_only_inform_and_their_order_make_no_difference() -> None:
    steering = (("openai-beta", "x"), ("openai-project", "y"))
    informing = (("user-agent", "z"), ("x-stainless-retry-count", "1"), ("x-request-id", "2"))
    assert addressee("kimi", "", (*steering, *informing)) == addressee("kimi", "", steering[::-1])


BODY: dict[str, Any] = {"model": "kimi-k2", "messages": [{"role": "user", "content": "¿Qué es un agujero negro?"}]}


def key(body: bytes | dict[str, Any], scope: str = "tenant/ana", upstream: str = "kimi") -> str:
    return exact_key(scope, upstream, parse(body if isinstance(body, bytes) else msgspec.json.encode(body)))


@pytest.mark.note("5.1/1")
@pytest.mark.parametrize(
    "same",
    [
        b'{"messages":[{"content":"\\u00bfQu\\u00e9 es un agujero negro?","role":"user"}],"model":"kimi-k2"}',
        '{ "model" : "kimi-k2",\n"messages": [ {"role":"user", "content":"¿Qué es un agujero negro?"} ] }'.encode(),
        '{"model":"kimi\\u002dk2","messages":[{"role":"user","content":"¿Qué es un agujero negro?"}]}'.encode(),
    ],
)
def test_spelling_makes_no_difference(same: bytes) -> None:
    assert key(same) == key(BODY)


def test_the_spelling_of_a_quotation_mark_makes_no_difference() -> None:
    written = rb'{"model":"m","messages":[{"role":"user","content":"say \"hi\""}]}'
    escaped = rb'{"model":"m","messages":[{"role":"user","content":"say \u0022hi\u0022"}]}'
    assert key(written) == key(escaped)


# Values that some language or library would take for one another.
DISTINCT = [
    "1", "1.0", "true", '"1"', "null", "0", "-0.0", "false", '""', "[]", "{}", "[1]", "[[1]]", '{"a":1}', '{"a":[1]}',
    "9007199254740992", "9007199254740993", "123456789012345678901234567890", "123456789012345678901234567891",
    '"é"', '"e\\u0301"', '"E"', '" "', '"a\\u0000"', '"a"', '["a","b"]', '["b","a"]', '["a,b"]', '{"a":null}',
]  # fmt: skip


def test_different_values_have_different_keys() -> None:
    keys = {
        key(f'{{"model":"m","messages":[{{"role":"user","content":"x"}}],"f":{value}}}'.encode()) for value in DISTINCT
    }
    assert len(keys) == len(DISTINCT)


def test_scope_and_upstream_are_keyed_and_not_run_together() -> None:
    pairs = [("a", "bc"), ("ab", "c"), ("a", "b"), ("", "abc"), ('a","', "b"), ("a", '","b')]
    assert len({key(BODY, scope, upstream) for scope, upstream in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "other", [{"role": "system"}, {"content": "¿Qué es un agujero negro? "}, {"name": "ana"}, {"x": 1}]
)
def test_every_field_of_a_message_is_keyed(other: dict[str, Any]) -> None:
    assert key({**BODY, "messages": [{**BODY["messages"][0], **other}]}) != key(BODY)


def test_the_order_of_messages_is_keyed() -> None:
    first, second = {"role": "user", "content": "a"}, {"role": "user", "content": "b"}
    assert key({**BODY, "messages": [first, second]}) != key({**BODY, "messages": [second, first]})


DUPLICATES = [
    (b'{"model":"m","seed":1,"seed":2,"messages":[{"role":"user","content":"x"}]}', b'"seed":1,'),
    (b'{"model":"m","messages":[{"role":"user","content":"y","content":"x"}]}', b'"content":"y",'),
    (b'{"model":"m","tools":[{"a":{"b":1,"b":2}}],"messages":[{"role":"user","content":"x"}]}', b'"b":1,'),
    (b'{"model":"m","messages":[],"messages":[{"role":"user","content":"x"}]}', b'"messages":[],'),
    (b'{"model":"m","messages":[{"role":"user","content":"x","\\u0061":1,"a":2}]}', b'"\\u0061":1,'),
]


@pytest.mark.parametrize(("twice", "first"), DUPLICATES)
def test_a_request_that_names_a_field_twice_equals_only_itself(twice: bytes, first: bytes) -> None:
    assert key(twice) != key(twice.replace(first, b""))
    assert key(twice) == key(twice)


def test_a_key_is_sixty_four_hex_digits_that_do_not_change_between_versions_unnoticed() -> None:
    assert key(BODY) == "79626a9164215f420df60bdefc674cd54a7a666af23feda1f668722c11a7e3db"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
MESSAGES = st.lists(st.dictionaries(st.text(), VALUES, max_size=4), min_size=1, max_size=4)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(element) for element in value] if isinstance(value, list) else value


@settings(max_examples=examples(40))
@given(MESSAGES, st.dictionaries(st.text(), VALUES, max_size=4))
def test_key_order_never_makes_a_difference(messages: list[Any], fields: dict[str, Any]) -> None:
    fields = {name: value for name, value in fields.items() if name not in {"model", "messages", "stream"}}
    body = {**fields, "model": "m", "messages": messages}
    assert key(body) == key(shuffled(body))


def spelled(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


@settings(max_examples=examples(40))
@given(MESSAGES, MESSAGES)
def test_two_requests_have_one_key_only_if_they_say_the_same(one: list[Any], other: list[Any]) -> None:
    same_key = key({"model": "m", "messages": one}) == key({"model": "m", "messages": other})
    assert same_key == (spelled(one) == spelled(other))


@pytest.mark.note("7 SÍ/3")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"temperature": 0}, True),
        ({"temperature": 0.0}, True),
        ({"temperature": -0.0}, True),
        ({"temperature": 0.1}, False),
        ({"temperature": False}, False),
        ({"temperature": "0"}, False),
        ({"temperature": None}, False),
        ({"seed": 7}, True),
        ({"seed": 0}, True),
        ({"seed": -1}, True),
        ({"seed": True}, False),
        ({"seed": "7"}, False),
        ({"seed": 7.0}, False),
        ({"seed": None}, False),
        ({"temperature": 1, "seed": 7}, True),
        ({"top_p": 0}, False),
    ],
)
def test_a_request_is_deterministic_if_it_says_so(fields: dict[str, Any], expected: bool) -> None:
    request = parse(msgspec.json.encode({**BODY, **fields}))
    assert is_deterministic(request, "deterministic") is expected
    assert is_deterministic(request, "always")
