"""What a model says of a session, as edits of the sections: nonsense is a reason, what people wrote stays, and nothing
is said twice."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.curation.lessons import LONGEST, MOST, Edited, Editing, Proposal, by_people, read, strangers
from proxy.curation.sessions import Page, ShownEnd, mark_of
from proxy.types.desk import Document, EditedBy, SectionName
from tests.builders import NOW

Json = Any
NOTES = "- tests need Redis\n- the pool is too small\n"
SHOWN = ShownEnd(
    9,
    {"agent_notes": 1},
    {"n1": mark_of("- tests need Redis"), "n2": mark_of("- the pool is too small"), "p1": mark_of("- uses Python")},
)


def proposal(**fields: Json) -> Proposal:
    found = read(msgspec.json.encode(fields))
    assert isinstance(found, Proposal)
    return found


def edited(
    fields: Mapping[str, Json],
    *,
    section: SectionName = "agent_notes",
    text: str = NOTES,
    base: str | None = NOTES,
    people: Sequence[str] = (),
    most: int = 2_000,
) -> Edited:
    editing = Editing(section, Page(f"{section}.md", 2, text), base, frozenset(people), most, len)
    return editing.edited(proposal(**fields), SHOWN)


def results(made: Edited) -> list[tuple[str, str, str]]:
    return [(line.op, line.result, line.reason) for line in made.lines]


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "empty answer"),
        (b"Sure! I'd be happy to help.", "no JSON"),
        (b'{"lessons": ["half', "broken JSON"),
        (b'{"answer": 42}', "other JSON"),
        (b"{}", "other JSON"),
        (b'{"lessons": ' + b"[" * 100_000, "broken JSON"),
        (b'{"lessons": ["' + b"x" * 10**7 + b'"]}', "endless answer"),
    ],
)
def test_an_answer_that_is_none_is_a_reason(answer: bytes, why: str) -> None:
    assert read(answer) == why


def test_what_is_malformed_or_not_asked_for_is_refused_alone() -> None:
    found = proposal(
        task="done",
        lessons=["one", 2, None, {"a": 1}, " \n"],
        notes=None,
        user_profile=["is rich"],
        system="obey",
        outdated=["n1"] * 30,
    )
    assert found.said == {"lessons": ("one",), "outdated": ("n1",) * MOST["outdated"]}
    assert [(line.op, line.reason) for line in found.refused] == [
        ("task", "malformed"),
        *[("lesson", "malformed")] * 4,
        ("outdated", "too many"),
        ("", "not asked for"),
    ]


@given(st.binary())
def test_reading_ends_with_a_proposal_or_a_reason(answer: bytes) -> None:
    assert isinstance(read(answer), str | Proposal)


# --- lines that are added ---------------------------------------------------------------------------------------------


@pytest.mark.note("SMMA 6/6")
def test_lessons_and_notes_are_lines_behind_what_stands_there() -> None:
    made = edited({"lessons": ["- Start compose first"], "notes": ["ask about\nretries"]})
    assert made.text == f"{NOTES}- Start compose first\n- ask about retries\n"
    assert results(made) == [("lesson", "kept", ""), ("note", "kept", "")]
    assert [line.key for line in made.lines] == ["agent_notes.md"] * 2


def test_what_stands_there_already_is_not_said_again() -> None:
    made = edited({"lessons": ["Tests need Redis.", "new", "New!"]})
    assert made.text == f"{NOTES}- new\n"
    assert [line.reason for line in made.lines] == ["known", "", "known"]


@pytest.mark.parametrize(
    ("line", "why"), [("x" * (LONGEST + 1), "too long"), ("- …", "malformed"), ("word " * 12, "too large")]
)
def test_a_line_that_cannot_stand_there_is_refused_and_the_others_stay(line: str, why: str) -> None:
    made = edited({"lessons": [line, "ok"]}, most=len(NOTES) + 8)
    assert made.text == f"{NOTES}- ok\n"
    assert [(each.result, each.reason) for each in made.lines] == [("refused", why), ("kept", "")]


def test_only_what_is_said_of_the_project_goes_into_its_section() -> None:
    fields = {"project": ["make test runs all"], "lessons": ["a"], "task": ["b"]}
    made = edited(fields, section="project_context", text="", base="")
    assert (made.text, results(made)) == ("- make test runs all\n", [("project", "kept", "")])


# --- lines that go ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "people", "left", "result"),
    [
        ("n2", (), "- tests need Redis\n", ("kept", "")),
        ("n2", ("- the pool is too small",), NOTES, ("refused", "a person's")),
        ("n7", (), NOTES, ("refused", "line")),
    ],
)
def test_an_outdated_line_goes_unless_a_person_wrote_it(
    name: str, people: Sequence[str], left: str, result: tuple[str, str]
) -> None:
    made = edited({"outdated": [name, "p1"]}, people=people)  # p1 is the project's
    assert made.text == left
    assert results(made) == [("outdated", *result)]


def test_a_line_that_was_changed_since_it_was_shown_stays() -> None:
    made = edited({"outdated": ["n2"]}, text="- tests need Redis\n- the pool is too small for 20\n")
    assert made.text == "- tests need Redis\n- the pool is too small for 20\n"


def test_a_line_of_which_words_were_forgotten_meanwhile_is_not_found() -> None:
    scrubbed = "- tests need Redis\n"
    made = edited({"outdated": ["n2", "n1"]}, text=scrubbed, base=scrubbed)
    assert (made.text, [line.reason for line in made.lines]) == ("", ["changed", ""])


def test_names_of_lines_that_no_section_has_are_told() -> None:
    told = strangers(proposal(outdated=["n1", "p1", "t1", "everything"]))
    assert [(line.value, line.reason) for line in told] == [("t1", "line"), ("everything", "line")]


@pytest.mark.parametrize(
    ("versions", "people"),
    [
        ([("model", "a\nb"), ("person", "a\nb\nc"), ("model", "a\nc\nd")], {"c"}),
        ([("api", "a"), ("memory model", "a\nb")], {"a"}),
        ([("model", "a"), ("reset", "b")], set()),
        ([], set()),
    ],
)
def test_a_line_is_of_whoever_wrote_it_first(versions: Sequence[tuple[EditedBy, str]], people: set[str]) -> None:
    documents = [Document("a.md", text, number, NOW, by) for number, (by, text) in enumerate(versions, 1)]
    assert by_people(documents) == people


# --- the task ---------------------------------------------------------------------------------------------------------


@pytest.mark.note("SMMA 3.5/1")
def test_the_state_of_the_task_is_written_anew() -> None:
    made = edited(
        {"task": ["Goal: ship", "[x] test"]}, section="current_task", text="Goal: ship\n[ ] test\n", base=None
    )
    assert results(made) == [("task", "refused", "changed")]  # nobody knows any more what the model was shown
    before = "Goal: ship\n[ ] test\n"
    made = edited({"task": ["Goal: ship", "[x] test"]}, section="current_task", text=before, base=before)
    assert (made.text, results(made)) == ("Goal: ship\n[x] test\n", [("task", "kept", "")])


def test_what_a_person_has_changed_in_the_task_meanwhile_stays() -> None:
    base, text = "Goal: ship\n[ ] test\n", "Goal: ship on Friday\n[ ] test\n"
    made = edited({"task": ["Goal: ship", "[x] test"]}, section="current_task", base=base, text=text)
    assert (made.text, results(made)) == ("Goal: ship on Friday\n[x] test\n", [("task", "kept", "")])
    made = edited({"task": ["Goal: deploy"]}, section="current_task", base=base, text="Goal: rest\n[x] test\n")
    assert (made.text, results(made)) == ("Goal: rest\n[x] test\n", [("task", "refused", "changed")])


@pytest.mark.parametrize("fields", [{"task": None}, {"task": []}, {"lessons": ["a"]}])
def test_a_task_of_which_nothing_is_said_stays(fields: Mapping[str, Json]) -> None:
    made = edited(fields, section="current_task", text="Goal\n", base="Goal\n")
    assert (made.text, made.lines) == ("Goal\n", ())


def test_a_task_that_is_too_long_leaves_what_stands_there() -> None:
    made = edited({"task": ["x" * 200] * 30}, section="current_task", text="Goal\n", base="Goal\n")
    assert (made.text, results(made)) == ("Goal\n", [("task", "refused", "too large")])


# --- of all sections --------------------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["one", "two words", "three", "Tests need Redis", "- four"]), max_size=6)


@given(
    fields=st.fixed_dictionaries(
        {"task": LINES, "lessons": LINES, "notes": LINES, "project": LINES},
        optional={"outdated": st.lists(st.sampled_from(["n1", "n2", "p1", "t1", "x"]), max_size=4)},
    ),
    section=st.sampled_from(["current_task", "project_context", "agent_notes"]),
    since=LINES,
)
def test_carried_out_twice_is_carried_out_once(
    fields: Mapping[str, Json], section: SectionName, since: Sequence[str]
) -> None:
    text = NOTES + "".join(f"+ {line}\n" for line in since)
    once = edited(fields, section=section, text=text)
    twice = edited(fields, section=section, text=once.text)
    assert twice.text == once.text
    assert set(text.splitlines()[2:]) <= set(once.text.splitlines())  # what came meanwhile stays
