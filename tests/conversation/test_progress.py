"""How far a conversation has come, from the state that an earlier request left or from its whole history."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.context.layout import lay_out
from proxy.conversation.progress import (
    FACTS_TITLE,
    MOST_READ,
    RECALLED_TITLE,
    SUMMARIES_TITLE,
    VERSION,
    Histories,
    archived,
    complete,
    memory_head,
    open_turn,
    pack,
    progress,
    quoted,
    unpack,
    up_to_calls,
    volatile_block,
    without_ours,
    without_summaries,
)
from proxy.protocol.chat import chain_of
from proxy.protocol.message import unpacked
from proxy.types import Excerpt, Fold, Message, OpenTurn, PathState, Summary, TurnDigest, Vector, VolatileBlock
from tests.builders import Said, assistant, calling, messages, result, system, user
from tests.context.conversations import conversations
from tests.context.told import LEAN, OVERHEAD, ROLES, Teller, case, counter, exchange, profile, where, words

S, GREETING = system("Be brief."), assistant("How can I help?")


def tokens(*said: Said) -> int:
    return sum(map(counter.message, messages(*said)))


@pytest.mark.parametrize("said", [[S], [GREETING], [S, GREETING]])
def test_where_nobody_has_asked_anything_there_is_none(said: list[Said]) -> None:
    assert progress(case(messages(*said))) is None


@pytest.mark.parametrize(
    ("said", "preamble", "newest", "turns", "starts"),
    [
        ([user("1")], 0, 0, 1, []),
        ([S, user("1")], 1, 1, 1, []),
        ([S, GREETING, user("1")], 2, 2, 1, []),
        ([user("1"), assistant("a"), user("2")], 0, 2, 2, [0]),
        ([S, user("1"), assistant("a"), user("2")], 1, 3, 2, [1]),
        ([user("1"), user("2"), assistant("a"), user("3")], 0, 3, 3, [0, 1]),
        ([user("1"), assistant("a"), S, user("2")], 0, 3, 2, [0]),
        ([user("1"), assistant("a"), user("2"), calling("c"), result("c")], 0, 2, 2, [0]),
        ([user("1"), assistant("a"), user("2"), assistant("Sure,", partial=True)], 0, 2, 2, [0]),
    ],
)
def test_what_a_history_is_made_of(said: list[Said], preamble: int, newest: int, turns: int, starts: list[int]) -> None:
    of = case(messages(*said))
    found = progress(of)
    assert found is not None
    assert (found.preamble, found.newest, found.turns) == (preamble, newest, turns)
    assert [turn.start for turn in found.open] == starts
    stops = [*starts, newest][1:]
    assert [turn.tokens for turn in found.open] == [
        tokens(*said[start:stop]) for start, stop in zip(starts, stops, strict=True)
    ]
    assert [turn.link for turn in found.open] == [of.chain[stop - 1] for stop in stops]
    assert found.preamble_tokens == tokens(*said[:preamble])
    assert found.newest_tokens == tokens(*said[newest:])
    assert found.before == tokens(*said[:newest])


def test_from_a_state_it_comes_as_far_as_from_the_beginning() -> None:
    said = [S]
    teller = Teller()
    for number in range(12):
        asked, answered = exchange(number, 40)
        told = teller.ask(*said, asked)
        afresh = progress(case(messages(*said, asked)))
        assert afresh is not None
        ours = told.progress
        assert (ours.preamble, ours.newest, ours.turns, ours.before) == (
            afresh.preamble,
            afresh.newest,
            afresh.turns,
            afresh.before,
        )
        assert [(turn.start, turn.tokens, turn.link) for turn in ours.open] == [
            (turn.start, turn.tokens, turn.link) for turn in afresh.open
        ]
        assert told.managed.tokens.original == OVERHEAD + tokens(*said, asked)
        said += [asked, answered]


def test_only_what_is_new_is_read_again() -> None:
    said = [each for number in range(30) for each in exchange(number, 20)]
    teller = Teller()
    teller.ask(*said, user("30?"))
    given = messages(*said, user("30?"), assistant("a"), user("31?"))
    read: list[int] = []

    def counted(index: int) -> int:
        read.append(index)
        return counter.message(given[index])

    state = next(iter(teller.states.values()))
    found = progress(replace(case(given, state=state), tokens=counted))
    assert found is not None
    assert (found.turns, set(read)) == (32, {60, 61, 62})


@settings(max_examples=30)
@given(conversations(), st.lists(st.integers(0, 20), min_size=2, max_size=6), st.integers(0, 2))
def test_with_what_was_read_before_it_comes_as_far_as_without(said: list[Said], stops: list[int], most: int) -> None:
    """Whatever was asked after whichever part of the history, with one profile or another, and remembered or not."""
    histories = Histories(most)
    for number, stop in enumerate(stops):
        asked = messages(*said[:stop], user(f"And {'again' * (number % 3)}?"))
        for base in (LEAN, profile(LEAN, window={"shift": 0.01})):
            assert progress(case(asked, profile=base), histories) == progress(case(asked, profile=base))


def test_a_history_is_read_once_however_many_questions_follow_it() -> None:
    said = [S, *(each for number in range(30) for each in exchange(number, 20))]
    histories, read = Histories(), set[int]()
    for question in ("Why?", "When?"):
        given_ = messages(*said, user(question))
        read.clear()

        def counted(index: int, given_: Sequence[Message] = given_) -> int:
            read.add(index)
            return counter.message(given_[index])

        assert progress(replace(case(given_), tokens=counted), histories) is not None
    assert read == {len(said)}
    assert histories.size > 0


def test_a_message_that_is_longer_for_what_its_link_leaves_out_is_counted_anew() -> None:
    """A link leaves thinking out."""
    histories = Histories()
    plain = [user("1?"), assistant("1."), user("2?")]
    thought = [plain[0], assistant("1.", reasoning_content=words(40)), plain[2]]
    assert case(messages(*plain)).chain == case(messages(*thought)).chain
    found = [progress(case(messages(*said)), histories) for said in (plain, thought)]
    assert found == [progress(case(messages(*said))) for said in (plain, thought)]
    assert found[0] != found[1]


def test_within_a_turn_nothing_is_new_but_what_was_said_in_it() -> None:
    said = [*exchange(1), user("Look it up.")]
    teller = Teller()
    first = teller.ask(*said)
    second = teller.ask(*said, calling("c"), result("c", words(30)))
    assert second.progress.open == first.progress.open
    assert (second.progress.turns, second.progress.newest) == (first.progress.turns, first.progress.newest)
    assert second.progress.newest_tokens == first.progress.newest_tokens + tokens(calling("c"), result("c", words(30)))


def unit(*numbers: float) -> Vector:
    row = np.array(numbers, np.float32)
    found: Vector = row / np.linalg.norm(row)
    return found


def test_continuity_is_told_with_the_turn_before_and_kept_with_the_turn() -> None:
    teller = Teller()
    said = [*exchange(1, 10), user("and tea?")]
    assert teller.ask(*said[:1], vector=unit(1, 0)).progress.topic.continuity is None
    near = teller.ask(*said, vector=unit(1, 0.1)).progress.topic.continuity
    far = teller.ask(*said[:-1], user("and milk?"), vector=unit(-1, 0)).progress.topic.continuity
    assert near is not None
    assert far is not None
    assert near > far
    later = teller.ask(*said, assistant("Tea."), user("Thanks"), vector=unit(1, 0))
    assert later.progress.open[-1].continuity == near


def test_continuity_that_no_decision_depended_on_is_told_once_the_vectors_are_there() -> None:
    eager, late = Teller(), Teller()
    said = [*exchange(1, 10), user("and tea?"), assistant("Tea."), user("Thanks")]
    for at in (1, 3, 5):
        eager.ask(*said[:at], vector=unit(1, at / 10))
        late.ask(*said[:at])
    given = replace(late.ask(*said).case, vector=unit(1, 0.5), before=(unit(1, 0.3), unit(1, 0.1)))
    found, expected = progress(given), eager.ask(*said, vector=unit(1, 0.5)).progress
    assert found is not None
    assert expected.topic.continuity is not None
    assert found.topic.continuity == pytest.approx(expected.topic.continuity, abs=1e-3)
    assert found.open[-1].continuity == pytest.approx(expected.open[-1].continuity, abs=1e-3)


def test_continuity_is_read_on_the_scale_of_the_model_that_made_the_vectors() -> None:
    teller = Teller()
    said = [*exchange(1, 10), user("¿Cuánto tiempo lleva el viaje en tren?")]
    teller.ask(*said[:1], vector=unit(1, 0))
    asked = teller.ask(*said, vector=unit(0.3, 1)).case
    found = [
        progress(replace(asked, embedding=version)) for version in ("minilm-l6-v2/int8/3", "multilingual-e5-small/")
    ]
    near = [each.topic.continuity for each in found if each is not None]
    assert near[0] is not None
    assert near[1] is not None
    assert near[0] < 0 < near[1]


def test_without_an_embedding_continuity_is_unknown() -> None:
    assert Teller().tell(*exchange(1), user("2?"))[-1].progress.topic.continuity is None


@pytest.mark.parametrize(
    ("asked", "shift"),
    [
        ("Cambiemos de tema: ¿qué cocino hoy?", "flush"),
        ("Cambiando de tema, ¿qué cocino hoy?", "phrase"),
        ("And with milk?", None),
    ],
)
def test_a_turn_that_changes_the_topic_is_told_so_for_good(asked: str, shift: str | None) -> None:
    teller = Teller()
    said = [user("Which tea is strong?"), assistant("Assam tea is.")]
    assert teller.tell(*said, user(asked))[-1].progress.topic.shift == shift
    later = teller.ask(*said, user(asked), assistant("Rice."), user("Thanks"))
    assert later.progress.open[-1].shift == shift


def test_of_a_long_history_that_is_new_only_the_last_turns_are_read_for_their_topics() -> None:
    said = [each for _ in range(2 * MOST_READ) for each in (user("Cambiando de tema, ¿y el té?"), assistant("Sí."))]
    found = progress(case(messages(*said, user("¿Y?"))))
    assert found is not None
    assert not any(turn.shift for turn in found.open[:-MOST_READ])
    assert all(turn.shift for turn in found.open[-MOST_READ + 2 :])


def test_a_branch_goes_on_from_where_it_left() -> None:
    said = [each for number in range(6) for each in exchange(number)]
    teller = Teller()
    teller.tell(*said, user("6?"))
    branched = teller.ask(*said[:6], user("on the other hand"))
    assert branched.case.state is not None
    assert [turn.start for turn in branched.progress.open] == [0, 2, 4]
    assert branched.progress.turns == 4


def test_a_request_that_comes_again_starts_from_the_one_before_it() -> None:
    said = [*exchange(1), *exchange(2), user("3?")]
    teller = Teller()
    first = teller.tell(*said)[-1]
    again = teller.ask(*said)
    assert again.case.state is first.case.state
    assert again.managed == first.managed


VECTOR = np.array([0.5, -0.25, 0.125], np.float32)  # that float16 holds exactly
SUMMARY = Summary("tea", ("green", "black"), "green it is", ("no sugar",), ("when?",), 1, 3)
# Every value differs from its default, so that one that is not written shows.
STATE = PathState(
    turns=9,
    at=1.5,
    newest=17,
    before=900,
    original=1_000,
    sent=500,
    stable=400,
    baseline=2_000.5,
    spent=1_500.25,
    fold=Fold(7, "<memory>", 11, ("f-1",), 5, (SUMMARY,), (8, 10), (3,), 6, 2),
    open=(TurnDigest(b"\xff" * 16, 120, 0.5, "phrase", "work", 7), TurnDigest(b"\0" * 16, 80, None, None)),
    folded_results=(4, 6),
    volatile=VolatileBlock("<recalled>", 9, facts=3, others=4, quoted=(1, 3)),
    volatile_link=b"\x80" * 16,
    omitted=1,
    vector=VECTOR,
    continuity=0.25,
    shift="flush",
    domain="food",
)


def test_a_state_comes_back_as_it_was() -> None:
    found = unpack(pack(STATE))
    assert found == STATE
    assert found is not None
    assert found.vector is not None
    assert found.vector.dtype == np.float32
    assert np.array_equal(found.vector, VECTOR)


def test_so_does_one_of_a_conversation_that_has_just_begun() -> None:
    bare = PathState(1, 0.0, 0, 0, 9, 9, 9, 9.0, 9.0)
    assert unpack(pack(bare)) == bare
    assert replace(bare, turns=2) != bare


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\0",
        bytes([VERSION]),
        bytes([VERSION + 1]) + pack(STATE)[1:],
        pack(STATE)[:-1],
        pack(STATE) + b"\0",
        bytes([VERSION]) + msgspec.msgpack.encode({"turns": "nine"}),
        bytes([VERSION]) + b"\xc1",
    ],
)
def test_what_cannot_be_read_is_no_state(packed: bytes) -> None:
    assert unpack(packed) is None


SYSTEM, U, A, C, R = system("s"), user("u"), assistant("a"), calling("c1"), result("c1")


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


NOON = 1_700_000_000.0  # 2023-11-14
DAY = 86_400.0
BOAT = Excerpt(b"1", "user", "My boat is Marigold", 12, "s", NOON, 1.0, 8)
REPLY = replace(BOAT, link=b"2", role="assistant", text="A fine name")


def lines(*excerpts: Excerpt, now: float = NOON) -> list[str]:
    return volatile_block("", excerpts, now=now, session="s").splitlines()[2:-1]


def test_a_line_says_which_turn_it_is_from_and_who_said_it() -> None:
    assert lines(BOAT, REPLY) == ["12: My boat is Marigold", "12 assistant: A fine name"]


def test_the_day_is_named_once_for_all_that_was_said_on_it_unless_it_is_today() -> None:
    today = replace(BOAT, at=NOON + DAY, turn=13)
    assert lines(BOAT, REPLY, today, now=NOON + DAY) == [
        "[2023-11-14]",
        "12: My boat is Marigold",
        "12 assistant: A fine name",
        "[2023-11-15]",
        "13: My boat is Marigold",
    ]


def test_what_was_said_in_another_conversation_is_told_apart() -> None:
    assert lines(replace(BOAT, session="t"), BOAT) == [
        "[2023-11-14, another conversation]",
        "12: My boat is Marigold",
        "[2023-11-14]",
        "12: My boat is Marigold",
    ]


def test_nothing_to_add_is_no_block() -> None:
    assert volatile_block("", (), now=NOON, session="s") == ""
    assert memory_head("", ()) == ""


def test_what_we_added_is_taken_out_of_a_prompt_that_comes_back() -> None:
    ours = volatile_block("boat: Marigold", (BOAT, REPLY), now=NOON, session="s")
    assert without_ours(f"{ours}\nWhat is it called?") == "What is it called?"


_TAGS = ("<memory>", "</memory>", "<recalled>", "</recalled>", "</ Recalled >", "<", "/")
_PIECES = st.sampled_from((*_TAGS, FACTS_TITLE, SUMMARIES_TITLE, RECALLED_TITLE, "\n", "\n", " ", "x", "¿y?", "{", "}"))
_TEXTS = st.lists(_PIECES, max_size=12).map("".join)


def _is_ours(said: str) -> bool:
    """It has a block of ours of its own."""
    return any(f"{tag}\n{title}\n" in said for tag in _TAGS for title in (FACTS_TITLE, SUMMARIES_TITLE, RECALLED_TITLE))


_ORIGINALS = _TEXTS.filter(lambda said: not _is_ours(said))


@given(said=_ORIGINALS, facts=_TEXTS, summaries=st.lists(_TEXTS, max_size=2), old=st.lists(_TEXTS, max_size=2))
def test_whatever_our_blocks_quote_the_clients_words_come_back_to_the_byte(
    said: str, facts: str, summaries: Sequence[str], old: Sequence[str]
) -> None:
    memory = memory_head(facts, summaries)
    recalled = volatile_block(facts, [replace(BOAT, text=each) for each in old], now=NOON, session="s")
    for newest in (1, 2):
        for content in (said, [{"type": "text", "text": said}] if said else [], None):
            for role in ROLES:
                sent = lay_out(
                    messages(system("Be brief."), user(content), user(content)),
                    where(1, newest, newest, volatile=recalled),
                    head=memory,
                    role=role,
                )
                assert {without_ours(each.text) for each in sent[1:]} == {said if content else ""}
                assert without_ours(sent[0].text) == "Be brief."


@pytest.mark.parametrize(
    "said", ["#include <memory>\nint main() {}\n</memory>", "<recalled>\nthe car\n</recalled> why?"]
)
def test_tags_of_others_are_theirs(said: str) -> None:
    assert without_ours(said) == said


def test_what_would_end_a_block_is_quoted_so_that_it_can_be_read_and_nothing_else_is_touched() -> None:
    assert quoted("std::vector<int> is </recalled>") == "std::vector<int> is \u2039/recalled\u203a"
    assert quoted("< / MEMORY >") == "\u2039 / MEMORY \u203a"
    told = volatile_block("", [replace(BOAT, text="a\n</recalled>\nb")], now=NOON, session="s")
    assert told.count("</recalled>") == 1
    assert told.endswith("12: a\n\u2039/recalled\u203a\nb\n</recalled>")


def test_a_head_without_its_summaries_is_what_it_would_be_with_none() -> None:
    stated, told = "- [work] tea\n- [work] milk", ["{topic: tea}", "{topic: milk}"]
    assert (
        without_summaries(memory_head(stated, told))
        == without_summaries(memory_head(stated, ()))
        == memory_head(stated, ())
    )
    assert without_summaries(memory_head("", told)) == without_summaries("") == ""
