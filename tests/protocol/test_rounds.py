"""Of rounds whose calls may be ours the client gets text at once, its own calls in their order, and nothing of ours."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.accumulate import Accumulator
from proxy.protocol.rounds import RoundReader, Whose
from proxy.protocol.splicing import JOINT, Splice
from proxy.protocol.sse import DONE, SseParser, encode
from proxy.types import ToolCall
from tests.spoken import STYLES, Called, Spoken, Style, chunks, joined, numbered, stream

OURS = frozenset({"remember", "recall_original"})
LISTED = "get_time"  # a tool of the client's whose results the session may have
CLIENT = frozenset({LISTED, "remember_me", "re", "look"})


def answers(call: ToolCall) -> bool:
    return call.name in OURS or (call.name == LISTED and call.arguments == '{"known":1}')


WHOSE = Whose(OURS | {LISTED}, CLIENT, answers)


def is_ours(call: Called) -> bool:
    return answers(ToolCall(call.id, call.name, call.arguments))


def assert_no_trace(got: bytes, spoken: Spoken) -> None:
    assert not any(call.id.encode() in got for call in spoken.calls if is_ours(call))
    assert not any(b'"%b"' % name.encode() in got for name in OURS)


def datas(out: bytes) -> list[dict[str, Any]]:
    events = SseParser().feed(out)
    return [msgspec.json.decode(each.data) for each in events if each.data and not each.data.startswith(b"[")]


class Client:
    """Plays rounds as the loop does, and keeps what the client gets."""

    def __init__(self) -> None:
        self.splice = Splice()
        self.got = b""
        self.readers: list[RoundReader] = []

    def hear(self, pieces: Iterable[bytes], usage: dict[str, Any] | None, *, is_last: bool) -> RoundReader:
        reader = RoundReader(self.splice, WHOSE)
        self.readers.append(reader)
        self.got += b"".join(map(reader.feed, pieces)) + reader.end()
        if reader.is_untouched:
            return reader
        if is_last:
            self.got += reader.closing()
        else:
            self.splice.end_round(usage)
        return reader

    @property
    def completion(self) -> dict[str, Any]:
        accumulator = Accumulator()
        for event in SseParser().feed(self.got):
            accumulator.feed(event.data or b"")
        assert accumulator.complete
        return accumulator.completion()


def play(rounds: Sequence[Spoken], style: Style = "plain", **how: Any) -> Client:
    client = Client()
    for at, spoken in enumerate(rounds):
        client.hear([stream(spoken, style, **how)], spoken.usage, is_last=at == len(rounds) - 1)
    return client


REMEMBER = Called("remember", '{"key":"a","value":"b"}')
LOOK = Called("look", '{"at":"x"}')
KNOWN = Called(LISTED, '{"known":1}')
UNKNOWN = Called(LISTED, '{"known":0}')


# --- one round ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "spoken",
    [
        Spoken("Hello there."),
        Spoken("Let me look.", (LOOK,)),
        Spoken("", (LOOK, Called("remember_me"), Called("re", '{"a":1}'))),
        Spoken("", (UNKNOWN, LOOK)),
        Spoken("x", (Called("unheard_of", ""),), reasoning="Hm."),
        Spoken("", (), finish="length"),
    ],
    ids=["text", "a call of the client's", "names alike", "not known", "arguments empty", "empty"],
)
def test_a_round_without_a_call_of_ours_passes_to_the_byte(spoken: Spoken, style: Style) -> None:
    client = play(numbered([spoken]), style)
    assert client.got == stream(numbered([spoken])[0], style)
    assert client.readers[0].is_untouched


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("calls", "theirs"),
    [
        pytest.param((REMEMBER, LOOK), (1,), id="theirs behind ours"),
        pytest.param((LOOK, REMEMBER), (0,), id="ours behind theirs"),
        pytest.param((LOOK, REMEMBER, Called("re"), Called("recall_original"), LOOK), (0, 2, 4), id="in between"),
        pytest.param((KNOWN, UNKNOWN, LOOK), (1, 2), id="by their arguments"),
        pytest.param((UNKNOWN, REMEMBER, KNOWN, LOOK), (0, 3), id="all of it"),
    ],
)
def test_of_both_in_one_turn_the_client_gets_its_own(
    calls: tuple[Called, ...], theirs: tuple[int, ...], style: Style
) -> None:
    (spoken,) = numbered([Spoken("Well,", calls)])
    client = play([spoken], style)
    (choice,) = client.completion["choices"]
    assert choice["message"]["tool_calls"] == [spoken.calls[at].json for at in theirs]
    assert choice["message"]["content"] == "Well,"
    assert choice["finish_reason"] == "tool_calls"
    assert client.readers[0].ours == tuple(at for at in range(len(calls)) if at not in theirs)
    assert_no_trace(client.got, spoken)
    indices = [
        fragment["index"]
        for each in datas(client.got)
        for choice in each["choices"]
        for fragment in choice.get("delta", {}).get("tool_calls", [])
        if "index" in fragment
    ]
    assert sorted(set(indices)) == list(range(len(set(indices))))


@pytest.mark.parametrize("style", STYLES)
def test_of_calls_of_ours_alone_nothing_is_passed(style: Style) -> None:
    client = Client()
    (spoken,) = numbered([Spoken("", (REMEMBER, KNOWN))])
    reader = client.hear([stream(spoken, style)], None, is_last=False)
    assert client.got == b""
    assert (reader.ours, reader.has_theirs, reader.has_text) == ((0, 1), False, False)


def test_calls_of_the_clients_pass_at_once_where_nobody_else_could_be_meant() -> None:
    reader = RoundReader(Splice(), WHOSE)
    for chunk in chunks(Spoken("", (LOOK,))):
        event = encode(msgspec.json.encode(chunk))
        assert reader.feed(event) == event


def test_a_call_passes_as_soon_as_its_name_is_no_beginning_of_ours() -> None:
    reader = RoundReader(Splice(), WHOSE)
    events = [encode(msgspec.json.encode(each)) for each in chunks(Spoken("", (Called("remember_me"),)), "one by one")]
    passed = [reader.feed(event) for event in events]
    assert passed[:3] == [b"", b"", b"".join(events[:3])]  # reme|mber|_me
    assert passed[3:] == events[3:]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("remember", True),
        ("functions.remember", True),
        ("Remember", True),
        ("remember:0", True),
        ("Look", False),  # the client's own
        ("functions.look", False),
        ("recall", False),
        ("forget_everything", False),
        ("", False),
    ],
)
def test_a_call_may_be_ours_by_whatever_spelling_of_a_name_the_client_has_not(name: str, expected: bool) -> None:
    assert (
        Whose(frozenset({"remember", "get_time"}), frozenset({"look", "Look", "get_time"})).may_take(name) is expected
    )


def test_a_name_that_both_have_is_only_meant_by_itself() -> None:
    whose = Whose(frozenset({"get_time"}), frozenset({"get_time"}))
    assert [whose.may_take(name) for name in ("get_time", "functions.get_time")] == [True, False]


def test_a_call_behind_one_that_may_be_ours_waits_so_that_their_order_stays() -> None:
    (spoken,) = numbered([Spoken("", (UNKNOWN, LOOK))])
    client = play([spoken])
    assert client.got == stream(spoken)


def test_text_passes_while_a_call_is_held() -> None:
    reader = RoundReader(Splice(), WHOSE)
    told = chunks(Spoken("Meanwhile", (REMEMBER,)), calls_first=True)
    got = b"".join(reader.feed(encode(msgspec.json.encode(each))) for each in told)
    texts = [each["choices"][0]["delta"].get("content") for each in datas(got) if each["choices"]]
    assert "".join(filter(None, texts)) == "Meanwhile"
    assert datas(got)[0]["choices"][0]["delta"]["role"] == "assistant"


def test_a_chunk_of_text_and_a_call_is_parted() -> None:
    delta = {"role": "assistant", "content": "Hi", "tool_calls": [{**REMEMBER.json, "index": 0}]}
    chunk = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    got = RoundReader(Splice(), WHOSE).feed(encode(msgspec.json.encode(chunk)))
    (told,) = datas(got)
    assert told["choices"][0]["delta"] == {"role": "assistant", "content": "Hi"}


def test_the_message_so_far_beside_a_delta_tells_nothing_of_ours() -> None:
    reader = RoundReader(Splice(), WHOSE)
    call = {**REMEMBER.json, "index": 0}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call]}
    told = [
        {"index": 0, "delta": {"content": "Hi", "tool_calls": [call]}, "message": message, "finish_reason": None},
        {"index": 0, "delta": {"content": " you"}, "message": message, "finish_reason": None},
        {"index": 0, "message": message, "finish_reason": "tool_calls"},
    ]
    got = b"".join(reader.feed(encode(msgspec.json.encode({"id": "c", "choices": [each]}))) for each in told)
    assert b"remember" not in got
    assert [each["choices"][0]["delta"] for each in datas(got)] == [{"content": "Hi"}, {"content": " you"}]


def test_comments_and_garbage_pass_as_they_come() -> None:
    client = Client()
    raw = b": wait\n\ndata: {not json\n\n" + stream(Spoken("Hi"))
    client.hear([raw], None, is_last=True)
    assert client.got == raw


def test_an_error_passes_if_nothing_is_held_and_else_ends_the_round() -> None:
    error = encode(b'{"error":{"message":"overloaded"}}')
    reader = RoundReader(Splice(), WHOSE)
    assert reader.feed(stream(Spoken("Hi")).removesuffix(DONE) + error).endswith(error)
    assert not reader.failed

    reader = RoundReader(Splice(), WHOSE)
    assert reader.feed(stream(Spoken("", (REMEMBER,))).removesuffix(DONE) + error) == b""
    assert reader.failed
    assert not reader.is_untouched


# --- several rounds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (("Let me see.", "It is 7."), "Let me see.\n\nIt is 7."),
        (("Let me see.\n", "It is 7."), "Let me see.\nIt is 7."),
        (("Let me see.", " It is 7."), "Let me see. It is 7."),
        (("", "It is 7."), "It is 7."),
        (("a", "", "b"), "a\n\nb"),
    ],
)
def test_texts_of_two_rounds_are_a_paragraph_apart(texts: tuple[str, ...], whole: str) -> None:
    rounds = [Spoken(text, (REMEMBER,), reasoning=text) for text in texts[:-1]]
    client = play(numbered([*rounds, Spoken(texts[-1], reasoning=texts[-1])]))
    (choice,) = client.completion["choices"]
    assert choice["message"]["content"] == whole
    assert choice["message"]["reasoning_content"] == whole
    assert choice["finish_reason"] == "stop"


def test_the_answer_is_one_by_its_head() -> None:
    client = play(numbered([Spoken("One", (REMEMBER,)), Spoken("two", (REMEMBER,)), Spoken("three")]))
    told = datas(client.got)
    assert {(each["id"], each["created"], each["model"]) for each in told} == {("chatcmpl-0", 7, "m-2026")}
    deltas = [choice["delta"] for each in told for choice in each["choices"]]
    assert sum("role" in delta for delta in deltas) == 1
    assert [choice["finish_reason"] for each in told for choice in each["choices"]].count("stop") == 1
    assert client.got.count(DONE) == 1


def test_the_usage_is_the_sum_of_all_rounds() -> None:
    details = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    client = play([Spoken("", (REMEMBER,), usage=details), Spoken("Hi", usage=details)])
    usages = [each["usage"] for each in datas(client.got) if each.get("usage")]
    summed = {"prompt_tokens": 20, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 8}}
    assert usages == [summed]


def test_no_usage_is_told_that_was_not_asked_for() -> None:
    client = Client()
    client.hear([stream(Spoken("", (REMEMBER,)), wants_usage=False)], {"prompt_tokens": 9}, is_last=False)
    client.hear([stream(Spoken("Hi"), wants_usage=False)], None, is_last=True)
    assert b"usage" not in client.got


def test_usage_in_a_choice_is_the_sum_too() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    told = chunks(Spoken("Hi"), wants_usage=False)
    told[-1]["choices"][0]["usage"] = usage
    client = Client()
    client.hear([stream(Spoken("", (REMEMBER,)))], usage, is_last=False)
    client.hear([b"".join(encode(msgspec.json.encode(each)) for each in told)], usage, is_last=True)
    assert datas(client.got)[-1]["choices"][0]["usage"] == {"prompt_tokens": 20, "completion_tokens": 6}


def test_calls_of_ours_that_are_left_over_leave_an_answer_that_has_stopped() -> None:
    client = play(numbered([Spoken("One", (REMEMBER,)), Spoken("two", (REMEMBER,))]))
    (choice,) = client.completion["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"] == {"role": "assistant", "content": "One\n\ntwo"}


def test_details_of_the_reasoning_are_numbered_on() -> None:
    def said(text: str, **delta: Any) -> bytes:
        detail = {"type": "reasoning.text", "index": 0, "text": text}
        choice = {"index": 0, "delta": {"role": "assistant", "reasoning_details": [detail], **delta}}
        return encode(msgspec.json.encode({"id": "c", "choices": [{**choice, "finish_reason": None}]}))

    client = Client()
    call = {**REMEMBER.json, "index": 0}
    client.hear([said("one"), said(".", tool_calls=[call]), encode(b"[DONE]")], None, is_last=False)
    client.hear([said("two"), stream(Spoken("Hi"))], None, is_last=True)
    details = client.completion["choices"][0]["message"]["reasoning_details"]
    assert [(each["index"], each["text"]) for each in details] == [(0, "one."), (1, "two")]


# --- whatever it is, however it is cut -------------------------------------------------------------------------------

_texts = st.sampled_from(["", "Hello, you.", " a", "b ", "one two three\n", "ñandú 💡 "])
_calls = st.sampled_from(
    [REMEMBER, LOOK, KNOWN, UNKNOWN, Called("remember_me"), Called("recall_original", ""), Called("re", '{"q":"é"}')]
)
_spoken = st.builds(Spoken, _texts, st.lists(_calls, max_size=4).map(tuple), _texts)
_styles = st.sampled_from(STYLES)


def cut(raw: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(raw) + 1) for place in places}), len(raw)]
    return [raw[start:stop] for start, stop in pairwise(edges)]


@given(
    st.lists(st.tuples(_spoken, _styles, st.booleans()), min_size=1, max_size=4),
    st.lists(st.integers(0, 5_000), max_size=12),
    st.integers(1, 9),
)
def test_the_client_sees_what_an_upstream_without_our_tools_would_have_sent(
    played: list[tuple[Spoken, Style, bool]], places: list[int], size: int
) -> None:
    rounds = numbered([spoken for spoken, _, _ in played])
    # All but the last go on, and so have calls of ours alone.
    rounds = [*map(_ours_alone, rounds[:-1]), rounds[-1]]
    client = Client()
    for at, (spoken, (_, style, calls_first)) in enumerate(zip(rounds, played, strict=True)):
        raw = stream(spoken, style, size=size, calls_first=calls_first)
        reader = client.hear(cut(raw, places), spoken.usage, is_last=at == len(rounds) - 1)
        assert reader.ours == tuple(place for place, call in enumerate(spoken.calls) if is_ours(call))
    last = rounds[-1]
    theirs = [call.json for call in last.calls if not is_ours(call)]
    (choice,) = client.completion["choices"]
    said = choice["message"]
    assert (said.get("content") or "") == joined([each.text for each in rounds])
    assert (said.get("reasoning_content") or "") == joined([each.reasoning for each in rounds])
    assert said.get("tool_calls", []) == theirs
    assert choice["finish_reason"] == ("tool_calls" if theirs else "stop")
    for each in rounds:
        assert_no_trace(client.got, each)
    told = datas(client.got)
    assert len({each["id"] for each in told}) == 1
    assert client.got.count(DONE) == 1
    usage = told[-1].get("usage")
    assert usage == {"prompt_tokens": 10 * len(rounds), "completion_tokens": 3 * len(rounds)}


def _ours_alone(spoken: Spoken) -> Spoken:
    kept = tuple(call for call in spoken.calls if is_ours(call))
    return Spoken(
        spoken.text, kept or (Called("remember", id=f"{spoken.id[-1]}_only"),), spoken.reasoning, id=spoken.id
    )


@given(st.lists(st.tuples(_spoken, _styles), min_size=1, max_size=3), st.booleans())
def test_a_text_is_passed_with_the_chunk_in_which_it_came(
    played: list[tuple[Spoken, Style]], calls_first: bool
) -> None:
    splice = Splice()
    for spoken, style in played:
        reader = RoundReader(splice, WHOSE)
        for chunk in chunks(spoken, style, calls_first=calls_first):
            passed = "".join(map(_text, datas(reader.feed(encode(msgspec.json.encode(chunk))))))
            assert passed.replace(JOINT, "") == _text(chunk)
        reader.end()
        splice.end_round(spoken.usage)


def _text(chunk: dict[str, Any]) -> str:
    deltas = [choice.get("delta") or choice.get("message") or {} for choice in chunk["choices"]]
    return "".join(delta.get(name) or "" for delta in deltas for name in ("reasoning_content", "content"))


@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(0, 300), max_size=6))
def test_nothing_that_an_upstream_sends_makes_it_fail(parts: list[bytes], places: list[int]) -> None:
    raw = b"".join(b"data: " + part + b"\n\n" for part in parts)
    reader = RoundReader(Splice(), WHOSE)
    got = b"".join(map(reader.feed, cut(raw, places))) + reader.end()
    assert got == raw


def test_garbage_in_a_later_round_ends_it() -> None:
    splice = Splice()
    splice.end_round(None)
    reader = RoundReader(splice, WHOSE)
    assert reader.feed(b"data: {nonsense\n\n") == b""
    assert reader.failed
