"""A history is recognised by the links of its messages, however a client spells them."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.chains import LINK_BYTES, Chains, chain_of, identity_of, links_after
from proxy.protocol.message import message
from tests.builders import assistant, calling, messages, result, system, user

Said = Mapping[str, Any]

U, A, S = user("q"), assistant("a"), system("s")
CALL, TWO = calling("1"), calling("1", "2")
OLD_CALL = assistant(None, function_call={"name": "look", "arguments": "{}"})
OLD_RESULT = {"role": "function", "name": "look", "content": "done"}


kinds = st.sampled_from([S, U, A, CALL, TWO, result("1"), result("2"), OLD_CALL, OLD_RESULT, {"role": "odd"}, {}])
histories = st.lists(kinds, max_size=14).map(lambda said: messages(*said))


@given(histories, st.integers(0, 14))
def test_a_beginning_has_the_links_of_the_whole(history: Any, length: int) -> None:
    links = chain_of("a/", history)
    assert chain_of("a/", history[:length]) == links[:length]
    assert len(links) == len(history)
    assert all(len(link) == LINK_BYTES for link in links)
    if 0 < length <= len(history):
        assert links_after(links[length - 1], history[length:]) == links[length:]


@given(histories, histories)
def test_links_are_equal_exactly_where_the_histories_are(one: Any, other: Any) -> None:
    said = [[identity_of(m) for m in history] for history in (one, other)]
    for position, (link, link_of_other) in enumerate(zip(chain_of("a/", one), chain_of("a/", other), strict=False)):
        assert (link == link_of_other) == (said[0][: position + 1] == said[1][: position + 1])


scopes = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(scopes, min_size=2, max_size=5, unique=True), histories)
def test_no_two_scopes_share_a_link(names: list[str], history: Any) -> None:
    links = [link for name in names for link in chain_of(name, history)]
    assert len(set(links)) == len(links)


TEXT_TURNS = [{"type": "text", "text": "hi"}]
IMAGE_TURNS = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("hi"), {"content": "hi", "role": "user"}),
        (user("hi"), user("hi", name=None)),
        (user("hi"), user(TEXT_TURNS)),
        (user("hi"), user("  hi\n")),
        (user("hi"), user([{"text": " hi", "type": "text"}])),
        (assistant("hi"), assistant("hi", refusal=None, annotations=[], audio=None, tool_calls=None)),
        (assistant("hi"), assistant("hi", reasoning_content="let me think", logprobs={}, id="msg_1")),
        (calling("1", content=None), calling("1", content="")),
        (calling("1", content=None), {k: v for k, v in calling("1").items() if k != "content"}),
        (calling("1", content=None), calling("1", content=[])),
        (system("It is 12:45:01 on 2026-11-21."), system("It is 9:07:33 on 2027-01-02.")),
        ({"role": "developer", "content": "Build 7"}, {"role": "developer", "content": "Build 1234"}),
    ],
)
def test_one_thing_said_in_two_ways_is_one(one: Said, other: Said) -> None:
    assert identity_of(message(one)) == identity_of(message(other))
    assert chain_of("a/", messages(one, U)) == chain_of("a/", messages(other, U))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("hi"), user("Hi")),
        (user("hi"), user("hi!")),
        (user("a b"), user("a  b")),
        (user("hi"), assistant("hi")),
        (user("hi"), system("hi")),
        (user("hi"), {"content": "hi"}),
        (user("hi"), user("hi", name="ana")),
        (user("hi", name="ana"), user("hi", name="eva")),
        (user("room 12"), user("room 13")),
        (assistant("12"), assistant("13")),
        (system("You are terse."), system("You are kind.")),
        (system("No digits"), system("No 1 digits")),
        (user("hi"), user([*TEXT_TURNS, *TEXT_TURNS])),
        (user("hi"), user([*TEXT_TURNS, *IMAGE_TURNS])),
        (user("hi"), user([{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}])),
        (user(IMAGE_TURNS), user([{"type": "image_url", "image_url": {"url": "https://example.org/b.png"}}])),
        (calling("1"), calling("2")),
        (calling("1"), calling("1", "2")),
        (calling("1"), assistant(None)),
        ({"role": "assistant", "tool_calls": [1]}, {"role": "assistant", "tool_calls": [2]}),
        ({"content": "hi", "name": "ana"}, {"content": "hi", "name": "eva"}),
        (calling("1"), calling("1", content="Let me look.")),
        (OLD_CALL, assistant(None)),
        (result("1"), result("2")),
        (result("1"), result("1", "failed")),
        (user("True"), user([True])),
        (user("null"), user(None)),
    ],
)
def test_two_things_said_are_two(one: Said, other: Said) -> None:
    assert identity_of(message(one)) != identity_of(message(other))
    assert set(chain_of("a/", messages(one, U))).isdisjoint(chain_of("a/", messages(other, U)))


_said = st.sampled_from([U, A, S, CALL, TWO, result("1"), OLD_CALL, user(TEXT_TURNS), user(IMAGE_TURNS)])
_informative = st.dictionaries(st.sampled_from(["refusal", "annotations", "audio", "id", "x"]), st.text(max_size=3))
_nulls = st.lists(st.sampled_from(["name", "tool_call_id", "function_call"]))


@given(_said, _informative, _nulls, st.randoms(use_true_random=False))
def test_order_nulls_and_what_only_informs_make_no_difference(
    said: Said, informative: Said, nulls: list[str], chance: Any
) -> None:
    members = [*{**informative, **said}.items(), *((name, None) for name in nulls if name not in said)]
    chance.shuffle(members)
    assert identity_of(message(dict(members))) == identity_of(message(said))


def test_a_message_moved_is_another_history() -> None:
    assert set(chain_of("a/", messages(U, A))).isdisjoint(chain_of("a/", messages(A, U)))


@given(st.lists(st.tuples(st.sampled_from(["a/", "b/"]), st.lists(_said, min_size=1, max_size=8)), max_size=8))
def test_what_is_remembered_of_a_chain_is_the_chain(asked: list[tuple[str, list[Said]]]) -> None:
    chains = Chains(most=3)
    for scope, said in asked:
        for length in range(1, len(said) + 1):
            known = messages(*said[:length])
            assert chains.of(scope, known) == chain_of(scope, known)


def test_messages_whose_bytes_run_into_each_other_are_other_messages() -> None:
    chains = Chains()
    split, joined = messages(user("1"), user("2")), messages(user("12"))
    assert chains.of("a/", joined)[-1] != chains.of("a/", split)[-1]


def test_very_long_histories_leave_room_for_few() -> None:
    chains = Chains(most=100, most_links=20)
    for number in range(10):
        chains.of("a/", messages(*(user(f"{number} {place}") for place in range(8))))
    assert len(chains) == 2
