"""Messages that are nothing but a command, and what remains of a conversation that has some."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.turns import archived
from proxy.conversation.whole_commands import (
    LONGEST,
    Command,
    before_end,
    clearing,
    command_in,
    is_clearing,
    keyed,
    reading,
    since_cleared,
    without_commands,
)
from proxy.protocol.chains import chain_of, links_after
from proxy.protocol.message import message
from proxy.types import ArchivedTurn, Message
from tests.builders import NOW, Said, assistant, calling, chat, identity, messages, result, system, user

OURS = "<memory>\nWhat the user has stated:\n- [work] I work at Acme\n</memory>\n\n"


@pytest.mark.parametrize(
    ("content", "command"),
    [
        ("/clear", Command("clear")),
        ("  /CLEAR \n", Command("clear")),
        ("/memory", Command("memory")),
        ("/remember city: Rosario", Command("remember", "city: Rosario")),
        ("/Remember\nbuy milk\nand bread ", Command("remember", "buy milk\nand bread")),
        ("/remember", Command("remember")),
        ("/forget my city", Command("forget", "my city")),
        ([{"type": "text", "text": " /clear "}], Command("clear")),
        (f"{OURS}/memory", Command("memory")),
        ([{"type": "text", "text": OURS}, {"type": "text", "text": "/memory"}], Command("memory")),
        # Anything more, or other, is the client's own text.
        ("/clear everything", None),
        ("/memory of an elephant", None),
        ("/clearing", None),
        ("/help", None),
        ("//clear", None),
        ("clear", None),
        ("please /clear", None),
        ("`/clear`", None),
        ("/ clear", None),
        ([{"type": "text", "text": "/clear"}, {"type": "text", "text": "and more"}], None),
        ([{"type": "text", "text": "/clear"}, {"type": "image_url", "image_url": {"url": "data:,"}}], None),
        (f"/remember {'x' * LONGEST}", None),
        ("", None),
        (None, None),
    ],
)
def test_a_command_is_a_message_that_is_nothing_else(content: Any, command: Command | None) -> None:
    assert command_in(message(user(content))) == command
    assert command_in(message(assistant(content))) is None
    assert command_in(message(system(content))) is None


@pytest.mark.note("Rumi Comandos/2")
@pytest.mark.parametrize(
    ("words", "key", "rest"),
    [
        ("city: Rosario", "city", "Rosario"),
        ("city:Rosario", "city", "Rosario"),
        ("mi ciudad : Rosario", "mi ciudad", "Rosario"),
        ("standup: at 10:30", "standup", "at 10:30"),
        ("a: b: c", "a", "b: c"),
        ("buy milk", "", "buy milk"),
        ("meet at 10:30", "", "meet at 10:30"),
        ("10:30 dentist", "", "10:30 dentist"),
        ("https://example.com/a", "", "https://example.com/a"),
        ("see https://example.com", "", "see https://example.com"),
        ("I want you to always say this: hello", "", "I want you to always say this: hello"),
        (f"{'k' * 65}: v", "", f"{'k' * 65}: v"),
        (": v", "", ": v"),
        ("city:", "", "city:"),
    ],
)
def test_a_key_is_a_few_words_before_a_colon(words: str, key: str, rest: str) -> None:
    assert keyed(words) == (key, rest)


S, U1, A1, U2, A2, U3 = (
    system("s"),
    user("one"),
    assistant("1"),
    user("two"),
    assistant("2"),
    user("three"),
)
CLEAR, MEMORY, OK = user("/clear"), user("/memory"), assistant("ok")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ((S, U1, A1, MEMORY, OK, U2), (S, U1, A1, U2)),
        ((MEMORY, OK, U1), (U1,)),
        ((S, MEMORY, OK, MEMORY, OK, U1), (S, U1)),
        ((S, U1, A1, CLEAR, OK, U2), (S, U2)),
        ((S, U1, A1, CLEAR, OK, U2, A2, MEMORY, OK, U3), (S, U2, A2, U3)),
        ((S, U1, A1, CLEAR, OK, U2, A2, CLEAR, OK, U3), (S, U3)),
        ((assistant("welcome"), U1, A1, CLEAR, OK, U2), (U2,)),  # the preamble is the system's
        ((S, U1, A1, CLEAR, OK, system("later"), U2), (S, system("later"), U2)),
        # A client may have dropped the answers.
        ((S, U1, A1, MEMORY, U2), (S, U1, A1, U2)),
        ((S, U1, A1, CLEAR, U2), (S, U2)),
        # Tools: a command between calls and results parts nothing, and results that come late are nobody's.
        ((U1, calling("c"), MEMORY, OK, result("c")), (U1, calling("c"), result("c"))),
        ((U1, calling("c"), result("c"), CLEAR, OK, U2), (U2,)),
        ((U1, calling("c"), CLEAR, OK, result("c"), A1, U2), (U2,)),
        # A model answered this with calls: no command was meant when it was sent.
        ((U1, A1, CLEAR, calling("c"), result("c"), A2, U2), (U1, A1, CLEAR, calling("c"), result("c"), A2, U2)),
    ],
)
def test_what_remains(said: tuple[Said, ...], kept: tuple[Said, ...]) -> None:
    request = chat(*said)
    read = reading(request.messages)
    assert read is not None
    assert read.command is None
    assert [request.messages[index].data for index in read.kept] == list(kept)
    assert read.is_answerable


@pytest.mark.parametrize(
    "said",
    [
        (S, U1, A1, CLEAR, OK),
        (S, U1, A1, MEMORY, OK),
        (U1, calling("c"), CLEAR, OK, result("c")),
    ],
)
def test_a_request_without_anything_to_answer_is_told_from_others(said: tuple[Said, ...]) -> None:
    read = reading(messages(*said))
    assert read is not None
    assert (read.command, read.is_answerable) == (None, False)


def test_a_conversation_without_commands_is_not_touched() -> None:
    assert reading(messages(S, U1, A1, user("/help"), A2, user("what does /clear do?"))) is None


def test_the_newest_command_is_to_be_answered_and_what_was_before_it_remains_until_then() -> None:
    read = reading(messages(S, U1, A1, MEMORY, OK, CLEAR))
    assert read is not None
    assert (read.command, read.kept, read.cleared) == (Command("clear"), (0, 1, 2), None)


# --- any conversation ------------------------------------------------------------------------------------------------

_texts = st.text("abc /", max_size=6).filter(lambda text: command_in(message(user(text))) is None)
_commands = st.sampled_from(["/clear", "/memory", "/remember a: b", "/forget a", " /CLEAR ", f"{OURS}/memory"])


@st.composite
def conversations(draw: st.DrawFn) -> list[Said]:
    """Turns with and without tools, and commands with and without their answers in between, calls and results too."""
    said: list[Said] = [system(draw(_texts))] if draw(st.booleans()) else []

    def interspersed() -> None:
        if draw(st.booleans()):
            said.append(user(draw(_commands)))
            if draw(st.booleans()):
                said.append(assistant(f"answer {len(said)} of the system"))

    for number in range(draw(st.integers(1, 5))):
        interspersed()
        said.append(user(draw(_texts)))
        if draw(st.booleans()):
            calls = [f"call-{number}-{each}" for each in range(draw(st.integers(1, 2)))]
            said.append(calling(*calls))
            for call in calls:
                interspersed()
                said.append(result(call))
        said.append(assistant(f"answer {number}"))
    interspersed()
    said.append(user(draw(_texts)))
    return said


def pairs(said: Sequence[Message]) -> tuple[list[str], list[str]]:
    """The ids of calls, and those that results answer, in order."""
    return [call.id for each in said for call in each.tool_calls], [e.tool_call_id for e in said if e.role == "tool"]


@given(conversations())
def test_no_command_remains_and_the_rest_is_in_order_with_its_calls_and_its_links(said: list[Said]) -> None:
    request = chat(*said)
    whole = identity(request)
    read = reading(request.messages)
    if read is None:
        assert all(command_in(each) is None for each in request.messages)
        return
    rest = [request.messages[index] for index in read.kept]
    assert list(read.kept) == sorted(set(read.kept))
    assert all(command_in(each) is None and "of the system" not in each.text for each in rest)
    assert rest[-1] is request.messages[-1]  # which is no command
    made, answered = pairs(rest)
    assert made == answered
    at = {link: index for index, link in enumerate(whole.chain)}
    reduced = without_commands(whole, read)
    assert [at[link] for link in reduced.chain] == list(read.kept)
    last = max((i for i, each in enumerate(said) if (c := command_in(message(each))) and c.name == "clear"), default=-1)
    assert all(index > last or request.messages[index].role == "system" for index in read.kept)


@given(conversations(), st.integers(0, 20))
def test_as_a_conversation_grows_what_remained_of_it_stays_unless_it_is_cleared(said: list[Said], cut: int) -> None:
    ends = [at for at, each in enumerate(said) if each["role"] == "user" and command_in(message(each)) is None]
    earlier = messages(*said[: ends[cut % len(ends)] + 1])
    later = messages(*said)
    before, after = (reading(each) for each in (earlier, later))
    kept_before = before.kept if before is not None else tuple(range(len(earlier)))
    kept_after = after.kept if after is not None else tuple(range(len(later)))
    cleared = after.cleared if after is not None and after.cleared is not None else -1
    if cleared < len(earlier):
        assert kept_after[: len(kept_before)] == kept_before


# --- the archive -----------------------------------------------------------------------------------------------------


def test_a_clear_is_archived_behind_what_it_clears_and_says_nothing() -> None:
    request = chat(S, U1, A1, CLEAR)
    whole, read = identity(request), reading(request.messages)
    assert read is not None
    answer = message(OK)
    (link,) = links_after(whole.chain[-1], (answer,))
    turn = clearing(request.messages, whole, read, answer, link, at=NOW)
    assert (turn.link, turn.parent, turn.number) == (link, whole.chain[2], 2)
    assert turn.utterances == ()
    assert is_clearing(turn)


def test_a_conversation_that_is_cleared_first_keeps_the_preamble_with_that() -> None:
    request = chat(S, CLEAR)
    whole, read = identity(request), reading(request.messages)
    assert read is not None
    turn = clearing(request.messages, whole, read, message(OK), b"link", at=NOW)
    assert (turn.parent, turn.number) == (b"", 1)
    assert b'"s"' in turn.messages


def test_the_first_turn_behind_a_clear_follows_it_in_the_archive() -> None:
    said = messages(S, U1, A1, CLEAR, OK, U2, A2)
    chain = chain_of("scope", said)
    turn = archived((said[0], *said[5:]), (chain[0], *chain[5:]), 0, 3, number=1, session="s", at=NOW, root=chain[4])
    assert (turn.parent, turn.link) == (chain[4], chain[6])
    assert turn.messages == b"[%b,%b]" % (said[5].raw, said[6].raw)


def test_a_path_is_cut_behind_the_last_clear_and_for_its_end_behind_the_one_before() -> None:
    def turn(*said: Said) -> ArchivedTurn:
        raw = messages(*said)
        return archived(raw, chain_of("scope", raw), 0, len(raw), number=1, session="s", at=NOW)

    one, two, three = turn(U1, A1), turn(U2, A2), turn(U3, A1)
    clear = replace(turn(CLEAR, OK), utterances=())
    assert since_cleared([one, two]) == [one, two]
    assert since_cleared([one, clear, two, clear, three]) == [three]
    assert since_cleared([one, clear]) == []
    assert before_end([one, clear, two, three, clear]) == [two, three]
    assert before_end([one, two]) == [one, two]
    assert before_end([clear, clear]) == []
