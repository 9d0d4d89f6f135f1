"""The three-way merge of MEMORY.md: the person's changes go to memory, memory's to the file, and nothing is lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files.document import domain_of, one_line, parse, rendered
from proxy.files.known import Said
from proxy.files.merging import Deletions, Merged, foreign, merge
from proxy.files.names import codes
from proxy.types import Fact

SCOPE = "0123456789abcdef" * 2 + "/ana"
NOW = 1_000.0


def fact(number: int, value: str, domain: str = "work", **other: Any) -> Fact:
    made = Fact(f"f-{number * 0x9E3779B97F4A7C15 % 2**64:016x}", domain, f"k{number}", value, "high", "explicit", "s",
                1, float(number), float(number), links=(b"l",))  # fmt: skip
    return replace(made, **other)


def said(text: str, heading: str) -> Said:
    return Said(heading or "personal", one_line(text)[:8].lower())


def merged(
    base: str | None,
    file: str,
    facts: Sequence[Fact],
    deletions: Deletions = "ask",
    forgotten: Sequence[str] = (),
    now: float = NOW,
) -> Merged:
    return merge(
        None if base is None else parse(base),
        parse(file),
        facts,
        scope=SCOPE,
        now=now,
        read=said,
        forgotten=forgotten,
        deletions=deletions,
    )


def text(made: Merged) -> str:
    return rendered(made.document)


def after(facts: Sequence[Fact], made: Merged) -> list[Fact]:
    return list(({each.id: each for each in facts} | {each.id: each for each in made.rows}).values())


def holding(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    return sorted((each.domain, each.value) for each in facts if each.superseded_by is None)


ONE, TWO, THREE, FOUR = (fact(n, v) for n, v in enumerate(["I work at Initech", "I sit in Lima", "third", "fourth"], 1))
FACTS = [ONE, TWO, THREE, FOUR]
CODE = codes([each.id for each in FACTS])
BASE = text(merged(None, "", FACTS))


def test_a_person_without_a_file_gets_one() -> None:
    assert (
        "# Memory\n\nChange a line to correct it, add one to have it remembered, delete one that no longer holds.\n\n"
        f"## work\n\n- I work at Initech <!-- o:{CODE[ONE.id]} -->\n- I sit in Lima <!-- o:{CODE[TWO.id]} -->\n"
        f"- third <!-- o:{CODE[THREE.id]} -->\n- fourth <!-- o:{CODE[FOUR.id]} -->\n"
    ) == BASE
    assert merged(BASE, BASE, FACTS).rows == ()


@pytest.mark.note("Extender/3")
def test_a_new_line_is_a_new_fact_under_its_heading() -> None:
    made = merged(BASE, BASE + "\n## garden\n- I grow roses\n", FACTS)
    assert [(row.domain, row.value, row.source, row.links) for row in made.rows] == [
        ("garden", "I grow roses", "file", ())
    ]
    assert f"- I grow roses <!-- o:{codes([made.rows[0].id])[made.rows[0].id]} -->" in text(made)


def test_a_new_line_takes_the_place_of_what_a_model_had_found_in_other_words() -> None:
    auto = replace(ONE, value="Works at Initech", source="auto")
    base = text(merged(None, "", [auto, TWO]))
    made = merged(base, base + "\n## Work\n\n- I work at Initech\n", [auto, TWO])
    facts = after([auto, TWO], made)
    assert holding(facts) == [("work", "I sit in Lima"), ("work", "I work at Initech")]
    assert "Works at Initech" not in text(made)
    assert any(each.id == auto.id and each.superseded_by for each in facts)


def test_a_changed_line_replaces_its_fact() -> None:
    made = merged(BASE, BASE.replace("Initech", "Hooli"), FACTS)
    new, old = made.rows
    assert (new.value, new.key, new.superseded_by, old.id, old.superseded_by) == (
        "I work at Hooli", ONE.key, None, ONE.id, new.id
    )  # fmt: skip
    assert CODE[ONE.id] not in text(made)


def test_a_line_that_is_gone_deletes_its_fact_softly() -> None:
    made = merged(BASE, without(BASE, ONE), FACTS)
    assert [(row.id, row.superseded_by) for row in made.rows] == [(ONE.id, ONE.id)]


def test_a_line_under_another_heading_moves_its_fact() -> None:
    line = next(each for each in BASE.splitlines() if "Lima" in each)
    made = merged(BASE, without(BASE, TWO) + f"## personal\n{line}\n", FACTS)
    assert [(row.id, row.domain, row.superseded_by) for row in made.rows] == [(TWO.id, "personal", None)]


def without(file: str, *gone: Fact) -> str:
    return "".join(f"{line}\n" for line in file.splitlines() if not any(CODE[each.id] in line for each in gone))


@pytest.mark.note("Sync/2")
@pytest.mark.parametrize(
    ("gone", "deletions", "waits"),
    [((ONE,), "ask", False), ((ONE, TWO), "ask", True), ((ONE, TWO), "carry out", False), (FACTS, "ask", True)],
)
def test_many_deletions_wait_for_a_confirmation(gone: Sequence[Fact], deletions: Deletions, waits: bool) -> None:
    file = without(BASE, *gone)
    made = merged(BASE, file, FACTS, deletions)
    assert (made.waiting is not None, len(made.rows)) == (waits, 0 if waits else len(gone))
    assert all(CODE[each.id] not in text(made) for each in gone)  # they are not written again meanwhile
    back = merged(BASE, file, FACTS, "undo")
    assert (back.rows, all(CODE[each.id] in text(back) for each in FACTS)) == ((), True)


def test_an_empty_file_was_cut_off_and_not_edited() -> None:
    base = text(merged(None, "", [ONE]))
    assert merged(base, "", [ONE]).waiting is not None
    assert merged(base, "# Memory\n", [ONE]).waiting is None


def test_what_memory_has_changed_since_is_not_deleted() -> None:
    newer = fact(9, "I work at Hooli", key=ONE.key)
    facts = [replace(ONE, superseded_by=newer.id), newer, TWO, THREE, FOUR]
    made = merged(BASE, without(BASE, ONE), facts)
    assert (made.rows, "I work at Hooli" in text(made)) == ((), True)


def test_where_both_changed_the_persons_words_hold_and_the_others_are_history() -> None:
    newer = fact(9, "I work at Hooli", key=ONE.key)
    facts = [replace(ONE, superseded_by=newer.id), newer, TWO, THREE, FOUR]
    made = merged(BASE, BASE.replace("Initech", "Pied Piper"), facts)
    assert [(row.value, row.superseded_by is None) for row in made.rows] == [
        ("I work at Pied Piper", True), ("I work at Hooli", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        (lambda text: text.replace(f" <!-- o:{CODE[ONE.id]} -->", ""), 0),  # an editor that strips comments
        (lambda text: text + f"- I sit in Lima <!-- o:{CODE[TWO.id]} -->\n", 0),  # twice the same
        (lambda text: text + f"- I sit in Cusco <!-- o:{CODE[TWO.id]} -->\n", 1),  # copied and changed: a new one
        (lambda text: text + "- from elsewhere <!-- o:zzzz -->\n", 1),
        (lambda text: text + "- let go <!-- o:zzzz -->\n", 0),
        (lambda text: text + "- let go\n", 1),  # somebody writes it again
    ],
)
def test_codes_may_be_lost_copied_or_foreign(change: Callable[[str], str], rows: int) -> None:
    made = merged(BASE, change(BASE), FACTS, forgotten=["let go"])
    assert len(made.rows) == rows
    assert not any(row.superseded_by for row in made.rows)
    again = merged(text(made), text(made), after(FACTS, made))
    assert (again.rows, text(again)) == ((), text(made))


def test_a_deleted_line_that_is_put_back_holds_again() -> None:
    gone = [replace(ONE, superseded_by=ONE.id, superseded_at=9.0), TWO, THREE, FOUR]
    base = text(merged(BASE, BASE, gone))
    assert CODE[ONE.id] not in base
    made = merged(base, BASE, gone)
    assert [(row.id, row.superseded_by) for row in made.rows] == [(ONE.id, None)]
    assert merged(None, BASE, gone).rows == ()  # but nobody knows how old a text without a number is


@pytest.mark.note("Sync/4", "Gotchas/2")
def test_a_self_correction_is_in_no_file_and_none_is_made_of_a_line() -> None:
    own = fact(9, "I answer too long", domain="self_correction")
    made = merged(BASE, BASE + "## self_correction\n- be nice\n", [*FACTS, own])
    assert (made.rows, "too long" in text(made), "be nice" in text(made)) == ((), False, True)


def test_lines_whose_codes_nobody_knows_are_named() -> None:
    assert foreign(parse(BASE + "- x <!-- o:zzzz -->\n- y\n"), FACTS) == ["x"]


def test_a_database_that_knows_nothing_of_a_file_learns_it() -> None:
    made = merged(BASE, BASE, [])
    assert (len(made.rows), made.has_forgotten) == (4, False)


def test_a_line_that_lost_its_words_goes_also_where_an_old_text_is_saved_again() -> None:
    scrubbed = BASE.replace("third", "forgotten")
    for file in (BASE, scrubbed):
        made = merged(scrubbed, file, [ONE, TWO, FOUR])
        assert (made.rows, made.has_forgotten, CODE[THREE.id] in text(made)) == ((), True, False)


def test_an_old_text_whose_base_is_unknown_does_not_undo_what_memory_has_now() -> None:
    newer = fact(9, "I work at Hooli", key=ONE.key)
    facts = [replace(ONE, superseded_by=newer.id), newer, TWO, THREE, FOUR]
    made = merged(None, BASE, facts)
    assert (made.rows, "Hooli" in text(made), "Initech" in text(made)) == ((), True, False)


WORDS = st.sampled_from(["a", "b", "c d", "e <!-- o:7k2x -->", "f\ng", "h", "ñ"])
DOMAIN = st.sampled_from(["work", "personal", "My  Garden", "self_correction"])


@st.composite
def later(draw: st.DrawFn, facts: Sequence[Fact]) -> list[Fact]:
    """What becomes of them in a while: some deleted, replaced, moved or forgotten; and new ones."""
    new = [fact(n, f"{draw(WORDS)} {n}", draw(DOMAIN)) for n in range(len(facts) + 1, draw(st.integers(1, 8)) + 3)]
    left = [*new]
    for each in facts:
        match draw(st.sampled_from(["holds", "holds", "deleted", "replaced", "moved", "forgotten"])):
            case "deleted":
                left.append(replace(each, superseded_by=each.id, superseded_at=50.0))
            case "replaced" if new and each.superseded_by is None:
                left.append(replace(each, superseded_by=draw(st.sampled_from(new)).id, superseded_at=50.0))
            case "moved":
                left.append(replace(each, domain=draw(DOMAIN)))
            case "forgotten":
                pass
            case _:
                left.append(each)
    return left


@st.composite
def edited(draw: st.DrawFn, file: str) -> str:  # noqa: C901 (a case a way of editing)
    lines = file.splitlines()
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(lines)))
        match draw(st.sampled_from(["add", "delete", "change", "move", "copy", "head", "note", "uncode"])):
            case "add":
                lines.insert(at, f"- new {draw(WORDS)}".replace("\n", " "))
            case "head":
                lines.insert(at, f"## {draw(DOMAIN)}")
            case "note":
                lines.insert(at, draw(st.sampled_from(["", "mine", "  more", "# Title", "```", "- "])))
            case _ if at == len(lines):
                pass
            case "delete":
                del lines[at]
            case "change":
                lines[at] = lines[at].replace(" ", " very ", 2)
            case "move":
                lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
            case "copy":
                lines.insert(draw(st.integers(0, len(lines))), lines[at])
            case "uncode":
                lines[at] = lines[at].split(" <!--")[0]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@pytest.mark.note("Sync/1")
@given(st.data())
def test_no_words_are_lost_and_one_more_merge_changes_nothing(data: st.DataObject) -> None:
    then = data.draw(later(()))
    facts = data.draw(later(then))
    base = text(merged(None, "", then))
    file = data.draw(edited(base))
    made = merged(data.draw(st.sampled_from([base, None])), file, facts, data.draw(st.sampled_from(["ask", "undo"])))
    left = after(facts, made)
    written = text(made)
    in_memory = {one_line(each.value) for each in left}
    for line in parse(file).bullets:
        assert line.text in in_memory, "a line that somebody wrote is known"
    notes = [each.raw for each in parse(file).lines if each.raw.strip() and each not in parse(file).bullets]
    assert all(raw in written for raw in notes)
    shown = {(each.domain, each.text) for each in parse(written).bullets}
    for each in left:
        if each.superseded_by is None and not made.waiting and domain_of(each.domain) != "self_correction":
            assert any(one_line(each.value) == text for _, text in shown)
    again = merged(written if not made.waiting else base, written, left, now=NOW + 1)
    assert (again.rows, text(again)) == ((), written), "a fixed point"


def test_a_line_that_is_added_takes_no_indented_note_for_its_own_words() -> None:
    file = f"# Memory\n\n## {ONE.domain}\n  mine\n"
    made = merged(None, file, [ONE])
    assert [line.text for line in parse(text(made)).bullets] == [ONE.value]
    assert "\n  mine\n" in text(made)
    assert text(merged(text(made), text(made), [ONE], now=NOW + 1)) == text(made)
