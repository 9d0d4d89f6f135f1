"""Turns that are over, as they are archived, and those that go on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.turns import archived, complete, open_turn, up_to_calls
from proxy.protocol.chains import chain_of
from proxy.protocol.message import unpacked
from proxy.types import OpenTurn
from tests.builders import Said, assistant, calling, messages, result, system, user
from tests.conversation.test_progress import SYSTEM, A, C, R, U


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], []),
        ([SYSTEM], []),
        ([A], []),  # nobody has asked anything
        ([SYSTEM, A], []),
        ([U], []),
        ([U, A], [(0, 2)]),
        ([SYSTEM, U, A], [(0, 3)]),  # the first turn begins with what stands before it
        ([SYSTEM, A, U, A], [(0, 4)]),
        ([U, A, U], [(0, 2)]),
        ([U, A, U, A], [(0, 2), (2, 4)]),
        ([U, C, R], []),  # in mid-turn
        ([U, C], []),
        ([U, C, R, A, U, A], [(0, 4), (4, 6)]),
        ([U, A, U, C, R, A], [(0, 2), (2, 6)]),
        ([U, U, A], [(0, 1), (1, 3)]),
        ([U, A, SYSTEM, U, A], [(0, 3), (3, 5)]),
        ([U, A, SYSTEM], []),  # what follows the answer is not told yet
        ([U, assistant(None, function_call={"name": "look", "arguments": "{}"})], []),
    ],
)
def test_which_turns_are_over(said: list[Said], expected: list[tuple[int, int]]) -> None:
    assert complete(messages(*said)) == expected


@given(st.lists(st.sampled_from([SYSTEM, U, A, C, R]), max_size=12))
def test_turns_tile_the_beginning_of_every_history(said: list[Said]) -> None:
    found = complete(messages(*said))
    stops = [0, *(stop for _, stop in found)]
    assert [start for start, _ in found] == stops[:-1]
    for number, (start, stop) in enumerate(found):
        roles = [each["role"] for each in said[start:stop]]
        assert roles.count("user") == 1
        assert number == 0 or roles[0] == "user"


def test_a_turn_is_kept_with_the_clients_own_bytes_and_what_was_said_in_it() -> None:
    said = messages(
        system("Be brief."),
        user([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "x"}}]),
        calling("c1", content="Let me see."),
        result("c1", "a cat"),
        assistant("A cat.", x_unknown=[1]),
        user("And?"),
    )
    chain = chain_of("s", said)
    kept = archived(said, chain, 0, 5, number=1, session="s", at=7.0)
    assert (kept.link, kept.parent, kept.number, kept.at) == (chain[4], b"", 1, 7.0)
    assert [(each.role, each.text, each.link) for each in kept.utterances] == [
        ("user", "Look:", chain[1]),
        ("assistant", "Let me see.", chain[2]),
        ("assistant", "A cat.", chain[4]),
    ]
    assert unpacked(kept.messages) == said[:5]
    assert [each.raw for each in unpacked(kept.messages)] == [each.raw for each in said[:5]]
    assert archived(said, chain, 5, 6, number=2, session="s", at=8.0).parent == chain[4]


def test_bytes_that_no_encoder_would_write_come_back_as_they_were() -> None:
    raw = b'{"role" : "user",\n "content":"caf\\u00e9 \\/", "n":1.0e-0}'
    said = unpacked(b"[" + raw + b"]")
    kept = archived(said, chain_of("s", said), 0, 1, number=1, session="s", at=0)
    assert [each.raw for each in unpacked(kept.messages)] == [raw]


def test_what_we_had_added_is_not_kept_as_said() -> None:
    said = messages(user("<memory>\nWhat the user has stated:\n- [work] x\n</memory>\n\nhello"), assistant("hi"))
    kept = archived(said, chain_of("s", said), 0, 2, number=1, session="s", at=0)
    assert [each.text for each in kept.utterances] == ["hello", "hi"]


def test_a_message_without_words_is_no_utterance() -> None:
    said = messages(user(""), assistant("   "), user(None))
    assert archived(said, chain_of("s", said), 0, 3, number=1, session="s", at=0).utterances == ()


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ([], None),
        ([U, A], None),
        ([U, C, R], None),
        ([U, C], 0),
        ([SYSTEM, U, C], 0),
        ([SYSTEM, U, A, U, C], 3),
        ([U, A, U, C, R, calling("c2")], 2),
    ],
)
def test_a_turn_goes_on_when_it_ends_with_calls(said: list[Said], start: int | None) -> None:
    given, chain = messages(*said), [bytes([index]) for index in range(len(said))]
    expected = None if start is None else OpenTurn(given[start:], chain[start - 1] if start else b"")
    assert open_turn(given, chain) == expected


@pytest.mark.parametrize(
    ("ids", "stop"),
    [
        (["c1"], 2),
        (["c2", "c3"], 4),
        (["c3", "c2"], 4),
        (["c2"], 0),
        (["c1", "c2"], 0),
        (["c2", "c3", "c3"], 0),
        ([], 0),
    ],
)
def test_a_turn_up_to_the_calls_that_are_answered(ids: list[str], stop: int) -> None:
    turn = messages(U, C, R, calling("c2", "c3"), result("c2"), result("c3"), A)
    assert up_to_calls(turn, ids) == turn[:stop]
