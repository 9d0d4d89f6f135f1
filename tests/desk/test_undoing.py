"""Tests of undoing a session's edits."""

import pytest

from proxy.desk.undoing import standing, undo
from proxy.types.desk import Called, DeskEvent, Edit, Payload, Reset


def edit(before: str, after: str, name: str = "agent_notes.md") -> Edit:
    return Edit("edit_section", name, before, after, version=1)


def test_a_document_gets_the_text_that_it_had_before_the_session() -> None:
    edits = [edit("a\nb\n", "a\nc\n"), edit("a\n", "a\nb\n")]
    assert undo(edits, {"agent_notes.md": "a\nc\n"}).documents == {"agent_notes.md": "a\n"}


@pytest.mark.note("SMMA 8/2")
def test_what_a_person_wrote_since_stays() -> None:
    undone = undo([edit("a\n", "a\nb\n")], {"agent_notes.md": "mine\na\nb\n"})
    assert undone.documents == {"agent_notes.md": "mine\na\n"}


def test_a_document_of_the_session_alone_is_removed_and_a_removed_one_stays_so() -> None:
    assert undo([edit("", "a")], {"agent_notes.md": "a"}).documents == {"agent_notes.md": ""}
    assert undo([edit("", "a")], {}).documents == {}


def test_a_document_that_the_session_removed_comes_back() -> None:
    removed = [edit("a\nb\n", ""), edit("a\n", "a\nb\n")]
    assert undo(removed, {}).documents == {"agent_notes.md": "a\n"}
    assert undo(removed, {"agent_notes.md": "mine\n"}).documents["agent_notes.md"].splitlines() == ["mine", "a"]


def test_facts_go_and_come_back() -> None:
    edits = [Edit("forget", "city", "Rosario", "", fact="f-1"), Edit("remember", "food", "", "pizza", fact="f-2")]
    assert undo(edits, {}).facts == (("f-1", True), ("f-2", False))


def test_edits_that_wait_or_are_undone_already_do_not_stand() -> None:
    waiting = Edit("remember", "city", "", "Oslo", "waiting")
    call = Called("remember", "{}", "ok", 1)
    payloads: list[Payload] = [edit("", "a"), Reset(("agent_notes.md",)), edit("", "b"), call, waiting]
    events = [DeskEvent(0.0, "", payload) for payload in payloads]
    assert standing(events) == [edit("", "b")]


def test_what_a_person_has_written_in_their_file_is_not_undone() -> None:
    own = Edit("", "agent_notes.md", "a", "b", version=2, by="person")
    assert standing([DeskEvent(0.0, "", edit("", "a")), DeskEvent(1.0, "", own)]) == [edit("", "a")]
