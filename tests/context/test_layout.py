"""What is sent, and where the blocks stand."""

from typing import Any

import pytest

from proxy.context.layout import Layout, kept, lay_out
from proxy.types import Message
from tests.builders import Said, assistant, calling, messages, result, system, user

S, GREETING = system("Be brief."), assistant("How can I help?")
TOLD: list[Said] = [
    S,
    user("one"),
    assistant("1"),
    user("two"),
    system("Be kind."),
    assistant("2"),
    user("three"),
    calling("c1"),
    result("c1"),
]


def contents(sent: tuple[Message, ...]) -> list[Any]:
    return [said.data["content"] for said in sent]


def test_with_nothing_to_say_and_nothing_left_out_it_is_what_the_client_sent() -> None:
    said = messages(*TOLD)
    assert lay_out(said, Layout(1, 1, 6)) == said


def test_the_head_stands_in_the_first_kept_message_and_what_is_recalled_in_the_newest() -> None:
    said = messages(*TOLD)
    sent = lay_out(said, Layout(1, 3, 6, head="<H>", volatile="<V>"))
    assert contents(sent) == [
        "Be brief.", "<H>\n\ntwo", "Be kind.", "2", "<V>\n\nthree", None, "done"
    ]  # fmt: skip
    assert [sent[index].raw for index in (0, 2, 3, 5, 6)] == [said[index].raw for index in (0, 4, 5, 7, 8)]


def test_both_stand_in_the_newest_if_nothing_else_is_kept() -> None:
    sent = lay_out(messages(*TOLD), Layout(1, 6, 6, head="<H>", volatile="<V>", instructions=(4,)))
    assert contents(sent) == ["Be brief.", "Be kind.", "<H>\n<V>\n\nthree", None, "done"]


@pytest.mark.parametrize(
    ("preamble", "expected"),
    [
        ([], ["Be kind.", "last"]),
        ([S], ["Be brief.", "Be kind.", "last"]),
        ([GREETING], ["Be kind.", "How can I help?", "last"]),  # which no system message may follow everywhere
        ([S, GREETING], ["Be brief.", "Be kind.", "How can I help?", "last"]),
        ([GREETING, S], ["How can I help?", "Be brief.", "Be kind.", "last"]),
    ],
)
def test_system_messages_of_what_is_left_out_join_those_at_the_beginning(
    preamble: list[Said], expected: list[str]
) -> None:
    said = messages(*preamble, user("one"), system("Be kind."), assistant("1"), user("last"))
    first = len(preamble)
    assert contents(lay_out(said, Layout(first, first + 3, first + 3, instructions=(first + 1,)))) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([S, user("hi")], [("system", "Be brief.\n\n<H>"), ("user", "hi")]),
        ([{"role": "developer", "content": "Go."}, user("hi")], [("developer", "Go.\n\n<H>"), ("user", "hi")]),
        ([user("hi")], [("system", "<H>"), ("user", "hi")]),
        ([GREETING, user("hi")], [("system", "<H>"), ("assistant", "How can I help?"), ("user", "hi")]),
        (
            [system([{"type": "text", "text": "Be brief."}]), user("hi")],
            [("system", [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "<H>"}]), ("user", "hi")],
        ),
    ],
)
def test_where_an_upstream_prefers_it_the_head_ends_the_system_message(
    said: list[Said], expected: list[tuple[str, Any]]
) -> None:
    at = len(said) - 1
    sent = lay_out(messages(*said), Layout(at, at, at, head="<H>", role="system"))
    assert [(each.role, each.data["content"]) for each in sent] == expected


def test_without_a_head_there_is_no_system_message_either() -> None:
    said = messages(user("hi"))
    assert lay_out(said, Layout(0, 0, 0, role="system")) == said


def test_what_was_shortened_takes_the_place_of_what_was_said() -> None:
    said = messages(*TOLD)
    shorter = messages(assistant("…"))[0]
    sent = lay_out(said, Layout(1, 3, 6, replaced={2: shorter, 5: shorter}))
    assert contents(sent) == ["Be brief.", "two", "Be kind.", "…", "three", None, "done"]
    assert kept(said, Layout(1, 3, 6)) == (0, 3, 4, 5, 6, 7, 8)


@pytest.mark.parametrize(("preamble", "start", "newest"), [(1, 0, 3), (1, 4, 3), (2, 1, 1)])
def test_a_layout_that_cannot_be_is_refused(preamble: int, start: int, newest: int) -> None:
    with pytest.raises(AssertionError):
        Layout(preamble, start, newest)
