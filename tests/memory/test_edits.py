"""What a person changes by hand, what is brought in from elsewhere, and what is shown."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.edits import Draft, Edit, Edited, History, add, confirm, delete, edit, history, restore
from proxy.memory.interchange import dumped, loaded, merge
from proxy.types import SELF_CORRECTION, Fact
from tests.builders import NOW, TENANT

SCOPE = f"{TENANT}/ana"


def fact(number: int = 1, **differing: Any) -> Fact:
    made = Fact(f"f-{number:016x}", "personal", "ciudad", "vivo en Rosario", "medium", "explicit", "s", 3, NOW, NOW)
    return replace(made, **differing)


def applied(facts: list[Fact], rows: tuple[Fact, ...]) -> list[Fact]:
    return list({each.id: each for each in [*facts, *rows]}.values())


# --- adding and changing ---------------------------------------------------------------------------------------------


def test_what_is_added_is_explicit_of_no_turn_and_new() -> None:
    made = add([], Draft(" Personal ", "Mi  Ciudad", " vivo en Salta\n", "low", pinned=True), scope=SCOPE, now=NOW)
    assert made.rows == (made.fact,)
    assert made.fact == Fact(
        made.fact.id, "personal", "mi-ciudad", "vivo en Salta", "low", "explicit", "", 0, NOW, NOW, pinned=True
    )


def test_another_value_of_the_key_takes_the_place_of_the_old_one() -> None:
    old, other = fact(), fact(2, key="perro", value="tengo un perro")
    elsewhere = fact(3, domain="work")
    made = add([old, other, elsewhere], Draft("personal", "ciudad", "vivo en Salta"), scope=SCOPE, now=NOW + 5)
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


@pytest.mark.note("Rumi Fact/3")
def test_the_same_value_again_confirms_it() -> None:
    old = fact()
    made = add([old], Draft("personal", "ciudad", old.value, "high", pinned=True), scope=SCOPE, now=NOW + 5)
    assert made.rows == (replace(old, confidence="high", pinned=True, last_confirmed_at=NOW + 5),)


def test_a_fact_under_another_key_that_says_the_same_is_confirmed() -> None:
    old = fact(value="vivo en Rosario")
    made = add([old], Draft("personal", "residencia", "Reside en Rosario", "high"), scope=SCOPE, now=NOW + 5)
    assert made.fact == replace(old, confidence="high", last_confirmed_at=NOW + 5)
    assert made.rows == (made.fact,)


def test_a_models_fact_that_says_the_same_gives_way_to_what_is_said_now() -> None:
    old = replace(fact(value="Reside en Rosario"), source="auto")
    made = add([old], Draft("personal", "casa", "vivo en Rosario"), scope=SCOPE, now=NOW + 5)
    assert (made.fact.value, made.fact.key) == ("vivo en Rosario", old.key)
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


@pytest.mark.parametrize("value", ["Rosario", "nació en Rosario", "mi hermana vive en Rosario"])
def test_what_only_resembles_a_fact_under_another_key_is_added(value: str) -> None:
    made = add([fact(value="vivo en Rosario")], Draft("personal", "otra", value), scope=SCOPE, now=NOW + 5)
    assert (made.fact.key, made.fact.value) == ("otra", value)


def test_an_edited_text_is_taken_as_it_is_written() -> None:
    old = fact(value="vivo en Rosario")
    made = edit([old], old, Edit(value="Reside en Rosario"), scope=SCOPE, now=NOW + 5)
    assert made.fact.value == "Reside en Rosario"


def test_the_same_fact_of_two_people_has_two_ids() -> None:
    draft = Draft("personal", "ciudad", "vivo en Salta")
    assert add([], draft, scope=SCOPE, now=NOW).fact.id != add([], draft, scope=f"{TENANT}/beto", now=NOW).fact.id


@pytest.mark.parametrize(
    ("wanted", "differing"),
    [
        (Edit(confidence="high"), {"confidence": "high"}),
        (Edit(pinned=True), {"pinned": True}),
        (Edit(domain="Hogar"), {"domain": "hogar"}),
        (Edit(key="Mi casa"), {"key": "mi-casa"}),
        (Edit(value=" vivo en Rosario ", confidence="low"), {"confidence": "low"}),
        (Edit(confirm=True), {"last_confirmed_at": NOW + 5}),
        (Edit(confirm=True, pinned=True), {"last_confirmed_at": NOW + 5, "pinned": True}),
    ],
)
def test_whatever_leaves_the_value_alone_changes_the_fact_itself(wanted: Edit, differing: dict[str, Any]) -> None:
    old = fact()
    made = edit([old], old, wanted, scope=SCOPE, now=NOW + 5)
    assert made.fact == replace(old, **differing)
    assert made.rows == (made.fact,)


@pytest.mark.parametrize("wanted", [Edit(), Edit(value="vivo en Rosario"), Edit(confidence="medium", pinned=False)])
def test_a_change_to_what_it_is_already_is_none(wanted: Edit) -> None:
    assert edit([fact()], fact(), wanted, scope=SCOPE, now=NOW + 5).rows == ()


def test_an_edited_value_is_a_new_fact_in_place_of_the_old_one() -> None:
    old = fact(pinned=True, links=(b"l",))
    made = edit([old], old, Edit(value="vivo en Salta"), scope=SCOPE, now=NOW + 5)
    assert (made.fact.value, made.fact.key, made.fact.pinned) == ("vivo en Salta", old.key, True)
    assert (made.fact.turn, made.fact.session, made.fact.links) == (0, "", ())
    assert made.rows == (made.fact, replace(old, superseded_by=made.fact.id, superseded_at=NOW + 5))


def test_a_fact_that_is_given_another_key_leaves_one_value_of_each() -> None:
    old, rival = fact(), fact(2, key="casa", value="vivo en Salta")
    for wanted in (Edit(key="casa"), Edit(key="casa", value="vivo en Jujuy"), Edit(key="casa", value=rival.value)):
        made = edit([old, rival], old, wanted, scope=SCOPE, now=NOW + 5)
        current = [each for each in applied([old, rival], made.rows) if each.superseded_by is None]
        assert current == [made.fact]


def test_a_value_that_is_changed_back_is_a_third_fact() -> None:
    first = add([], Draft("personal", "ciudad", "Rosario"), scope=SCOPE, now=NOW)
    second = edit([first.fact], first.fact, Edit(value="Salta"), scope=SCOPE, now=NOW)
    known = applied([first.fact], second.rows)
    third = edit(known, second.fact, Edit(value="Rosario"), scope=SCOPE, now=NOW)
    assert len({first.fact.id, second.fact.id, third.fact.id}) == 3
    known = applied(known, third.rows)
    past = history(known, third.fact)
    assert ([each.value for each in past.before], past.after) == (["Rosario", "Salta"], ())
    past = history(known, next(each for each in known if each.id == first.fact.id))
    assert (past.before, [each.value for each in past.after]) == ((), ["Salta", "Rosario"])


def test_confirming_never_makes_a_fact_older() -> None:
    assert confirm(fact(), NOW + 5).last_confirmed_at == NOW + 5
    assert confirm(fact(), NOW - 5) == fact()


def test_a_history_that_was_forgotten_in_part_or_runs_in_a_circle_ends() -> None:
    orphan = fact(1, superseded_by=fact(9).id)
    assert history([orphan], orphan).after == ()
    one, two = fact(1, superseded_by=fact(2).id), fact(2, superseded_by=fact(1).id)
    past = history([one, two], one)
    assert (past.before, past.after) == ((two,), ())


@pytest.mark.note("Rumi Fact/2")
def test_the_source_is_that_of_the_value() -> None:
    made = add([], Draft("personal", "ciudad", "vivo en Salta"), scope=SCOPE, now=NOW, source="file")
    assert made.fact.source == "file"
    same = edit([made.fact], made.fact, Edit(key="casa", pinned=True), scope=SCOPE, now=NOW, source="api")
    assert same.fact.source == "file"
    other = edit([made.fact], made.fact, Edit(value="vivo en Jujuy"), scope=SCOPE, now=NOW, source="api")
    assert other.fact.source == "api"


def test_a_domain_may_have_an_underscore() -> None:
    made = add([], Draft("Self_Correction", "tests", "run them first"), scope=SCOPE, now=NOW)
    assert made.fact.domain == SELF_CORRECTION


# --- deleting and restoring -------------------------------------------------------------------------------------------


def test_a_deleted_fact_is_history_and_nothing_took_its_place() -> None:
    old = fact(doubted_by=fact(3).id)
    gone = delete(old, NOW + 5)
    assert gone == replace(old, superseded_by=old.id, superseded_at=NOW + 5, doubted_by=None)
    assert (gone.is_deleted, old.is_deleted) == (True, False)
    before = fact(2, superseded_by=gone.id)
    assert history([before, gone], gone) == History((before,), ())
    assert history([before, gone], before) == History((), (gone,))
    assert delete(before, NOW + 5) == before
    assert delete(gone, NOW + 9) == gone


def test_a_deleted_fact_holds_again_and_takes_the_place_of_what_holds_since() -> None:
    gone, since = delete(fact(), NOW + 1), fact(2, value="vivo en Salta")
    other = fact(3, key="perro")
    made = restore([gone, since, other], gone, NOW + 5)
    assert made.fact == fact(last_confirmed_at=NOW + 5)
    assert made.rows == (made.fact, replace(since, superseded_by=gone.id, superseded_at=NOW + 5))
    assert restore([made.fact], made.fact, NOW + 9) == Edited(made.fact, ())


def test_a_superseded_fact_holds_again_and_its_history_has_no_circle() -> None:
    one, two = fact(1, superseded_by=fact(2).id), fact(2, superseded_by=fact(3).id)
    known = [one, two, fact(3)]
    known = applied(known, restore(known, one, NOW + 5).rows)
    (holds,) = [each for each in known if each.superseded_by is None]
    assert holds.id == one.id
    past = history(known, holds)
    assert ({each.id for each in past.before}, past.after) == ({fact(2).id, fact(3).id}, ())


numbers, times = st.integers(1, 6), st.integers(0, 5).map(float)
ends: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.builds(
    lambda by, at: {"superseded_by": fact(by).id, "superseded_at": at}, numbers, times
)
facts_of_few_keys = st.builds(
    lambda number, key, at, end: fact(number, key=key, last_confirmed_at=at, **end),
    numbers,
    st.sampled_from("ab"),
    times,
    ends,
)
facts_of_one_person = st.lists(facts_of_few_keys, min_size=1, max_size=8, unique_by=lambda each: each.id)


@given(facts_of_one_person, st.data())
def test_what_is_deleted_and_restored_is_what_it_was_but_for_its_confirmation(
    facts: list[Fact], data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(facts))
    gone = delete(old, NOW)
    assert gone.superseded_by is not None
    known = applied(facts, (gone,))
    made = restore(known, gone, NOW + 1)
    assert made.fact == replace(old, superseded_by=None, superseded_at=0.0, last_confirmed_at=NOW + 1)
    known = applied(known, made.rows)
    holding = [each for each in known if each.superseded_by is None and each.key == old.key]
    assert holding == [made.fact]
    past = history(known, made.fact)
    assert made.fact not in (*past.before, *past.after)
    assert merge(known, loaded(dumped(known))) == ()


def test_what_is_confirmed_by_hand_is_in_doubt_no_longer() -> None:
    assert confirm(fact(doubted_by="f-2"), NOW).doubted_by is None
