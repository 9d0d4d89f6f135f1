"""A streamed response out of several rounds: the client gets the items that are not ours, each as it came, in one
response, however the bytes are cut."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import openai.types.responses as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from proxy.protocol.responses.echoed import Echo
from proxy.protocol.responses.output import completion_of
from proxy.protocol.responses.reading import ResponseReader
from proxy.protocol.responses.rounds import ResponseRound, ResponseSplice
from proxy.protocol.rounds import NOBODYS, Whose
from proxy.protocol.sse import SseParser
from tests.other_apis import events_of, misplaced_events
from tests.responding import Round, encoded, free, searched, text, thought, use

Json = Any
KNOWN = {"at": "known"}
# `remember` is ours; `look` is the client's, but for calls whose results are known.
WHOSE = Whose(
    frozenset({"remember", "look"}),
    frozenset({"look", "search"}),
    lambda call: call.name == "remember" or "known" in (call.arguments or ""),
)
ASKED: Json = {
    "instructions": "What was sent.",
    "tools": [{"type": "function", "name": name, "parameters": {}} for name in ("look", "search", "remember")],
}
ECHO = Echo({"instructions": "What the client says."})
_EVENTS: TypeAdapter[Json] = TypeAdapter(sdk.ResponseStreamEvent)
_TEXTS = st.text(min_size=1, max_size=8)
_ITEMS = st.one_of(
    _TEXTS.map(lambda told: text("x", told)),
    (_TEXTS | st.just("")).map(lambda told: thought("x", told)),
    st.just(searched("x")),
    st.sampled_from(["remember", "look", "search"]).map(lambda name: use("x", name, at="x")),
    st.just(use("x", "look", **KNOWN)),
    st.just(free("x", "patch", "*** a")),
)


@st.composite
def rounds(draw: st.DrawFn) -> list[Round]:
    """Rounds of items; their ids differ. All but the last have a call of ours: else the answer would end."""
    made: list[Round] = []
    for number in reversed(range(draw(st.integers(1, 3)))):
        items = draw(st.lists(_ITEMS, min_size=1, max_size=5))
        if made:
            items.insert(draw(st.integers(0, len(items))), use("x", "remember"))
        named = [_named(item, f"{number}-{at}") for at, item in enumerate(items)]
        only_ends = draw(st.booleans())
        made.insert(0, Round(named, id=f"resp_{number}", created=number, only_ends=only_ends))
    return made


def _named(item: Json, name: str) -> Json:
    more = {"call_id": f"call_{name}"} if "call_id" in item else {}
    return {**item, "id": f"{item['id'].partition('_')[0]}_{name}", **more}


def is_ours(item: Json) -> bool:
    is_call = item["type"] == "function_call"
    return bool(is_call and (item["name"] == "remember" or json.loads(item["arguments"]) == KNOWN))


def cut(whole: bytes, sizes: Sequence[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(whole[at : at + size])
        at += size
    return [*pieces, whole[at:]]


def heard(said: Sequence[Round], sizes: Sequence[int]) -> tuple[bytes, list[ResponseRound]]:
    """Returns what the client gets of these rounds, and their readers."""
    splice = ResponseSplice(ECHO)
    got, readers = b"", []
    for number, each in enumerate(said):
        reader = ResponseRound(splice, WHOSE)
        got += b"".join(map(reader.feed, cut(b"".join(each.events(ASKED)), sizes))) + reader.end()
        readers.append(reader)
        if number < len(said) - 1:
            splice.end_round(completion_of(each.response(ASKED)).get("usage"))
    return got + readers[-1].closing(), readers


def visible(said: Sequence[Round]) -> list[Json]:
    return [item for each in said for item in each.items if not is_ours(item)]


@given(rounds(), st.lists(st.integers(0, 900), max_size=6))
def test_the_client_gets_the_items_that_are_not_ours_in_one_response(said: list[Round], sizes: list[int]) -> None:
    got, readers = heard(said, sizes)
    events = events_of(got)
    assert misplaced_events(events) == []
    assert [event["item"] for event in events if event["type"] == "response.output_item.done"] == visible(said)
    response = events[-1]["response"]
    assert response["output"] == visible(said)
    assert {event["response"]["created_at"] for event in events if "response" in event} == {0}
    assert b"remember" not in got
    ours = [tuple(item["call_id"] for item in each.items if is_ours(item)) for each in said]
    for reader, each, ids in zip(readers, said, ours, strict=True):
        calls = [item["call_id"] for item in each.items if "call_id" in item]
        assert tuple(calls[at] for at in reader.ours) == ids
        assert reader.has_theirs == (len(calls) > len(ids))
        assert reader.has_text == any(item["type"] == "message" and _says(item) for item in each.items)


def _says(item: Json) -> bool:
    return any(part["text"].strip() for part in item["content"])


@given(rounds())
def test_its_events_are_those_of_the_sdk_and_its_usage_is_the_sum(said: list[Round]) -> None:
    got, _ = heard(said, ())
    for each in events_of(got):
        _EVENTS.validate_python(each, strict=True)
    usage = events_of(got)[-1]["response"]["usage"]
    assert usage["input_tokens"] == 100 * len(said)
    assert usage["input_tokens_details"] == {"cached_tokens": 60 * len(said), "cache_write_tokens": 0}
    assert usage["output_tokens_details"] == {"reasoning_tokens": 5 * len(said)}


@given(rounds(), st.lists(st.integers(0, 900), max_size=6))
def test_what_repeats_the_request_is_the_clients_own(said: list[Round], sizes: list[int]) -> None:
    got, _ = heard(said, sizes)
    for response in [event["response"] for event in events_of(got) if "response" in event]:
        assert [tool["name"] for tool in response["tools"]] == ["look", "search"]
        assert response["instructions"] == "What the client says."


@given(rounds(), st.lists(st.integers(0, 900), max_size=6))
def test_a_round_in_which_nothing_is_hidden_is_passed_to_the_byte(said: list[Round], sizes: list[int]) -> None:
    theirs = replace(said[0], items=[item for item in said[0].items if not is_ours(item)], only_ends=False)
    reader = ResponseRound(ResponseSplice(), NOBODYS)
    stream = b"".join(theirs.events({}))
    assert b"".join(map(reader.feed, cut(stream, sizes))) + reader.end() + reader.closing() == stream
    assert reader.is_untouched


@given(rounds())
def test_the_answer_so_far_is_what_the_client_has(said: list[Round]) -> None:
    splice = ResponseSplice()
    for number, each in enumerate(said):
        reader = ResponseRound(splice, WHOSE)
        reader.feed(b"".join(each.events(ASKED)))
        reader.end()
        if number < len(said) - 1:
            splice.end_round(None)
    before = splice.answer.completion()["choices"][0]["message"]
    stream = ResponseReader()
    stream.feed_all([event.data for event in SseParser().feed(heard(said, ())[0]) if event.data])
    assert before == stream.completion()["choices"][0]["message"]


def test_text_passes_at_once_and_a_call_of_the_clients_as_soon_as_it_cannot_be_ours() -> None:
    reader = ResponseRound(ResponseSplice(), WHOSE)
    items = [text("1", "Hello."), use("2", "search", at="x"), use("3", "look", at="x"), text("4", "Bye.")]
    events = Round(items).events(ASKED)
    passed = [len(reader.feed(each)) > 0 for each in events]
    held = [b'"output_index": 2' in each or b'"output_index": 3' in each for each in events]
    known = next(at for at, each in enumerate(events) if b"output_item.done" in each and b'"output_index": 2' in each)
    assert passed == [not (waits and at < known) for at, waits in enumerate(held)]


@given(rounds(), st.integers(3, 40), st.lists(st.integers(0, 900), max_size=6))
def test_a_round_that_is_cut_off_is_followed_by_another_answer_in_order(
    said: list[Round], passing: int, sizes: list[int]
) -> None:
    splice = ResponseSplice(ECHO)
    first = ResponseRound(splice, WHOSE)
    got = first.feed(b"".join(Round([use("h", "remember")], id="resp_0", created=0).events(ASKED))) + first.end()
    splice.end_round(None)
    broken = ResponseRound(splice, WHOSE)
    begun = b"".join(replace(said[0], only_ends=False).events(ASKED)[:-1][:passing])
    got += b"".join(map(broken.feed, cut(begun, sizes))) + broken.end()
    if splice.has_calls:
        return  # the stream breaks off
    splice.end_round(None)
    own = ResponseRound(splice, NOBODYS)
    got += own.feed(b"".join(Round([text("own", "So.")], id="resp_9").events({}))) + own.end() + own.closing()
    events = events_of(got)
    assert misplaced_events(events) == []
    for each in events:
        _EVENTS.validate_python(each, strict=True)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert events[-1]["response"]["output"] == done
    assert done[-1] == text("own", "So.")
    told = [item["encrypted_content"] for item in done if item.get("status") == "incomplete" and "summary" in item]
    assert all(each.startswith("olvido:") for each in told)  # half of a thought is no provider's to read


ERROR = encoded({"type": "error", "sequence_number": 3, "code": "x", "message": "busy", "param": None})
FAILED = encoded({"type": "response.failed", "sequence_number": 3, "response": {"id": "resp_1", "status": "failed"}})


@pytest.mark.parametrize("bad", [ERROR, FAILED, b"data: {no\n\n"])
def test_an_error_passes_unless_something_is_hidden(bad: bytes) -> None:
    begun = Round([text("1", "Hello."), use("2", "remember")]).events(ASKED)
    reader = ResponseRound(ResponseSplice(), WHOSE)
    reader.feed(b"".join(begun[:3]))
    assert reader.feed(bad) == bad
    assert not reader.failed
    reader = ResponseRound(ResponseSplice(), WHOSE)
    reader.feed(b"".join(begun[:-1]))
    assert reader.feed(bad) == b""
    assert reader.failed


def test_a_call_that_is_cut_off_is_nobodys() -> None:
    reader = ResponseRound(ResponseSplice(), WHOSE)
    events = Round([use("1", "look", at="x")]).events(ASKED)
    got = reader.feed(b"".join(events[:4])) + reader.end()
    assert b"look" not in b"".join(got.split(b"\n\n")[2:])
    assert not reader.is_untouched


def test_functions_of_a_namespace_are_the_clients() -> None:
    reader = ResponseRound(ResponseSplice(), WHOSE)
    reader.feed(b"".join(Round([{**use("1", "remember"), "namespace": "mcp"}]).events(ASKED)))
    reader.end()
    assert reader.ours == ()
    assert reader.has_theirs


def test_the_message_goes_back_in_its_own_items() -> None:
    items = [thought("1", "é"), text("2", "So."), use("3", "remember"), use("4", "search", at="é")]
    _, (reader,) = heard([Round(items)], ())
    found = reader.said({})
    assert found is not None
    assert msgspec.json.decode(b"[%b]" % found.message.span) == items
    assert found.message.is_sealed
    assert found.message.span == b",".join(json.dumps(item, ensure_ascii=False).encode() for item in items)


@given(rounds())
def test_a_stream_that_ends_as_one_of_chat_completions_does_so_once(said: list[Round]) -> None:
    got, readers = heard([replace(each, says_done=True) for each in said], ())
    assert not any(reader.failed for reader in readers)
    assert got.count(b"[DONE]") == 1
    assert got.endswith(b"data: [DONE]\n\n")
