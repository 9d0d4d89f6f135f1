"""A streamed message out of several rounds: the client gets the blocks that are not ours, each as it came, in one
message, however the bytes are cut."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.messages.blocks import UNFINISHED
from proxy.protocol.messages.events import event
from proxy.protocol.messages.output import completion_of
from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.messages.rounds import MessageRound, MessageSplice
from proxy.protocol.rounds import NOBODYS, Whose
from proxy.protocol.sse import SseParser
from tests.minding import SIGNED, Round, cited, text, thought, use
from tests.other_apis import misplaced_message_events

Json = Any
KNOWN = {"at": "known"}
# `memory` is ours; `look` is the client's, but for calls whose results are known.
WHOSE = Whose(
    frozenset({"memory", "look"}),
    frozenset({"look", "search"}),
    lambda call: call.name == "memory" or "known" in (call.arguments or ""),
)
_TEXTS = st.text(min_size=1, max_size=8)
_BLOCKS = st.one_of(
    _TEXTS.map(text),
    _TEXTS.map(thought),
    _TEXTS.map(lambda said: cited(said, 1, 7)),
    st.just({"type": "redacted_thinking", "data": "AA=="}),
    st.sampled_from(["memory", "look", "search"]).map(lambda name: use(name, name, at="x")),
    st.just(use("look", "look", **KNOWN)),
)


@st.composite
def rounds(draw: st.DrawFn) -> list[Round]:
    """Rounds of blocks; the ids of calls differ."""
    made = []
    for number in range(draw(st.integers(1, 3))):
        blocks = draw(st.lists(_BLOCKS, min_size=1, max_size=5))
        made.append(
            Round([{**block, "id": f"c{number}-{at}"} if "id" in block else block for at, block in enumerate(blocks)])
        )
    return made


def is_ours(block: Json) -> bool:
    return bool(block["type"] == "tool_use" and (block["name"] == "memory" or block["input"] == KNOWN))


def cut(whole: bytes, sizes: Sequence[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(whole[at : at + size])
        at += size
    return [*pieces, whole[at:]]


def heard(said: Sequence[Round], sizes: Sequence[int]) -> tuple[bytes, list[MessageRound]]:
    """Returns what the client gets of these rounds, and their readers."""
    splice = MessageSplice()
    got, readers = b"", []
    for number, each in enumerate(said):
        reader = MessageRound(splice, WHOSE)
        got += b"".join(map(reader.feed, cut(b"".join(each.events()), sizes))) + reader.end()
        readers.append(reader)
        if number < len(said) - 1:
            splice.end_round(completion_of(each.message).get("usage"))
    return got + readers[-1].closing(), readers


def read(stream: bytes) -> MessageReader:
    reader = MessageReader()
    reader.feed_all([each.data for each in SseParser().feed(stream) if each.data])
    return reader


@given(rounds(), st.lists(st.integers(0, 90), max_size=6))
def test_the_client_gets_the_blocks_that_are_not_ours_in_one_message(said: list[Round], sizes: list[int]) -> None:
    got, readers = heard(said, sizes)
    client = read(got)
    assert client.complete
    assert client.done
    assert client.garbage == 0
    visible = [block for each in said for block in each.blocks if not is_ours(block)]
    assert client.content() == visible
    ours = [tuple(block["id"] for block in each.blocks if is_ours(block)) for each in said]
    for reader, each, ids in zip(readers, said, ours, strict=True):
        calls = [block["id"] for block in each.blocks if block["type"] == "tool_use"]
        assert tuple(calls[at] for at in reader.ours) == ids
        assert reader.has_theirs == (len(calls) > len(ids))


@given(rounds(), st.lists(st.integers(0, 90), max_size=6))
def test_its_events_are_in_order_and_its_usage_is_the_sum(said: list[Round], sizes: list[int]) -> None:
    got, _ = heard(said, sizes)
    events = [msgspec.json.decode(each.data) for each in SseParser().feed(got) if each.data]
    kinds = [each["type"] for each in events if each["type"] != "ping"]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("message_start") == 1
    opened: list[int] = []
    for each in events:
        match each["type"]:
            case "content_block_start":
                opened.append(each["index"])
            case "content_block_delta" | "content_block_stop":
                assert each["index"] == opened[-1]
    assert opened == list(range(len(opened)))
    usage = read(got).told_usage
    assert usage["output_tokens"] == 20 * len(said)
    assert usage["input_tokens"] == 10 * len(said)
    assert usage["cache_read_input_tokens"] == 100 * len(said)


@given(rounds(), st.data())
def test_a_round_that_breaks_off_leaves_no_block_open(said: list[Round], data: st.DataObject) -> None:
    events = [each.raw for each in SseParser().feed(b"".join(said[-1].events()))]
    splice, told = MessageSplice(), b""
    for number, before in enumerate(said[:-1]):
        each = Round([*before.blocks, use(f"m{number}", "memory", command="view")])
        reader = MessageRound(splice, WHOSE)
        told += reader.feed(b"".join(each.events())) + reader.end()
        splice.end_round(None)
    broken = MessageRound(splice, WHOSE)
    told += broken.feed(b"".join(events[: data.draw(st.integers(1, len(events) - 3))])) + broken.end()
    splice.end_round(None)
    own = MessageRound(splice, NOBODYS)
    told += own.feed(b"".join(Round([text("All the same.")]).events())) + own.end() + own.closing()
    heard_ = [msgspec.json.decode(each.data) for each in SseParser().feed(told) if each.data]
    assert misplaced_message_events([each for each in heard_ if each["type"] != "ping"]) == []
    client = read(told)
    assert client.complete
    assert client.content()[-1] == text("All the same.")
    unsigned = [each for each in client.content() if each["type"] == "thinking" and each["signature"] != SIGNED]
    assert [each["signature"] for each in unsigned] == [UNFINISHED] * len(unsigned)


@given(rounds())
def test_a_round_without_calls_of_ours_is_passed_to_the_byte(said: list[Round]) -> None:
    theirs = Round([block for block in said[0].blocks if not is_ours(block)])
    got, (reader,) = heard([theirs], ())
    assert got == b"".join(theirs.events())
    assert reader.is_untouched


def test_text_and_thinking_pass_at_once_and_a_call_of_the_clients_as_soon_as_it_cannot_be_ours() -> None:
    reader = MessageRound(MessageSplice(), WHOSE)
    events = Round([text("Hello."), use("c1", "search", at="x"), use("c2", "look", at="x"), text("Bye.")]).events()
    passed = [len(reader.feed(each)) > 0 for each in events]
    held = [b'"index":2' in each or b'"index":3' in each for each in events]
    first_known = next(at for at, each in enumerate(events) if b"content_block_stop" in each and b'"index":2' in each)
    assert passed == [not (waits and at < first_known) for at, waits in enumerate(held)]


def test_the_message_goes_back_in_its_own_blocks_and_without_ours_in_the_rest() -> None:
    blocks = [thought("I look."), text("So."), use("m1", "memory", command="view"), use("c1", "search", at="x")]
    _, (reader,) = heard([Round(blocks)], ())
    found = reader.said(completion_of(Round(blocks).message))
    assert found is not None
    given_back = [{name: value for name, value in block.items() if value is not None} for block in blocks]
    assert msgspec.json.decode(b"[%b]" % found.message.span) == given_back
    assert msgspec.json.decode(b"[%b]" % found.rest.span) == [given_back[0], given_back[1], given_back[3]]
    assert found.message.is_sealed
    assert [call.id for call in found.ours] == ["m1"]
    assert [call.id for call in found.rest.tool_calls] == ["c1"]
    assert SIGNED.encode() in found.message.span


@pytest.mark.parametrize(
    ("bad", "passes"),
    [(event({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}), True), (b"data: {no\n\n", True)],
)
def test_an_error_passes_unless_something_is_hidden(bad: bytes, *, passes: bool) -> None:
    begun = Round([text("Hello."), use("m1", "memory", command="view")]).events()
    reader = MessageRound(MessageSplice(), WHOSE)
    reader.feed(b"".join(begun[:4]))
    assert (reader.feed(bad) == bad) is passes
    assert not reader.failed
    reader = MessageRound(MessageSplice(), WHOSE)
    reader.feed(b"".join(begun[:-2]))
    assert reader.feed(bad) == b""
    assert reader.failed
