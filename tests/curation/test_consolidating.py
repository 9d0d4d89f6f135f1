"""Facts that may be one: which are compared, what a model may do with them, and how it is undone."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.curation.asking import consolidation
from proxy.curation.carrying import Carried
from proxy.curation.consolidating import MOST_OF_GROUP, candidates, consolidated, fresh, undone
from proxy.curation.prompts import Prompts
from proxy.types import SELF_CORRECTION, Fact
from proxy.types.curation import OutcomeLine
from tests.builders import NOW
from tests.curation.builders import DAY, answered, applied, fact, holding, job, known

LATER = NOW + DAY
OLD = fact(1, "Trabaja en Google", key="trabajo", domain="work", last_confirmed_at=NOW - 9 * DAY)
NEW = fact(2, "trabaja en Google.", key="empleo", domain="work")
CAT = fact(3, "Tiene un gato", key="mascota")
DOG = fact(4, "Tiene un perro", key="mascota-2")
MERGE = {"op": "merge", "ids": ["f1", "f2"], "key": "trabajo", "value": "trabaja en google", "domain": "work"}


def nothing(_one: str, _other: str) -> None:
    return None


def carried(*operations: Any, groups: Any = ((OLD, NEW),), now_facts: dict[str, Fact] | None = None) -> Carried:
    shown = consolidation(groups, prompts=Prompts(), settings={}, schemas=False).shown
    row = job("consolidate", subject="", shown=shown, answer=answered(operations))
    facts = known(*(each for group in groups for each in group)) if now_facts is None else now_facts
    return consolidated(row, facts, now=LATER)


def reasons(done: Carried) -> list[str]:
    return [line.reason for line in done.lines if line.result == "refused"]


# --- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "cosine", "compared"),
    [
        (OLD, NEW, None, True),  # alike
        (CAT, DOG, None, True),  # of one key
        (fact(1, "Nada a diario", key="a"), fact(2, "Su hobby es la natación", key="b"), 0.95, True),
        (fact(1, "Nada a diario", key="a"), fact(2, "Vive en Lima", key="b"), 0.1, False),
        (replace(OLD, superseded_by=NEW.id), NEW, None, False),
        (replace(OLD, source="explicit"), replace(NEW, pinned=True), None, False),
        (replace(OLD, source="explicit"), NEW, None, True),
        (replace(OLD, domain=SELF_CORRECTION), NEW, None, False),
    ],
)
def test_facts_that_are_alike_are_compared(one: Fact, other: Fact, cosine: float | None, compared: bool) -> None:
    assert candidates([one, other], lambda *_: cosine) == ([(one, other)] if compared else [])


def test_a_fact_is_in_one_group_and_groups_are_bounded() -> None:
    same = [fact(number, "Vive en Salta", key=f"ciudad-{number}") for number in range(2, 30)]
    groups = candidates(same, nothing)
    assert max(map(len, groups)) <= MOST_OF_GROUP
    names = [each.id for group in groups for each in group]
    assert len(names) == len(set(names))


def test_among_many_facts_those_that_share_words_are_found() -> None:
    letters = str.maketrans("0123456789", "bcdfghjklm")
    words = [f"{number * 104_729}".translate(letters) for number in range(100, 700)]
    many = [fact(number, word, key=word) for number, word in enumerate(words, 100)]
    one, other = fact(1, "Vive en Salta", key="residencia"), fact(2, "vive en Salta", key="barrio")
    assert candidates([*many, one, other], nothing)[0] == (one, other)


def test_no_group_is_asked_about_twice_while_its_facts_stay_as_they_are() -> None:
    groups = [(OLD, NEW), (CAT, DOG)]
    shown = consolidation(groups[:1], prompts=Prompts(), settings={}, schemas=False).shown
    assert fresh(groups, [shown, b"{"]) == groups[1:]
    changed = (replace(OLD, value="Trabaja en Meta"), NEW)
    assert fresh([changed], [shown]) == [changed]
    assert fresh(groups, []) == groups


# --- operations ------------------------------------------------------------------------------------------------------


@pytest.mark.note("Capas/5", "Archivos/4", "Consolidación/3", "v2 Roadmap/5")
def test_facts_that_are_one_are_merged_and_stay_as_history() -> None:
    done = carried(MERGE)
    after = applied(known(OLD, NEW), done.facts)
    assert holding(after) == [NEW.value]
    assert after[OLD.id] == replace(OLD, superseded_by=NEW.id, superseded_at=NOW + 600)
    assert after[NEW.id].links == tuple(sorted((*OLD.links, *NEW.links)))
    line = OutcomeLine("merge", "kept", "known", "work", "empleo", NEW.value, fact_id=NEW.id, before=(OLD.id,))
    assert done.lines == (line,)


def test_a_merge_goes_into_what_a_person_stated() -> None:
    own = replace(OLD, source="explicit")
    after = applied(known(own, NEW), carried(MERGE, groups=((own, NEW),)).facts)
    assert (after[NEW.id].superseded_by, after[own.id].superseded_by) == (own.id, None)


@pytest.mark.note("Consolidación/2")
@pytest.mark.parametrize(
    ("operation", "groups", "reason"),
    [
        ({**MERGE, "value": "Tiene un gato y un perro"}, ((CAT, DOG),), "not the same"),
        (MERGE, ((replace(OLD, source="explicit"), replace(NEW, source="api")),), "explicit"),
        ({**MERGE, "ids": ["f1", "f3"]}, ((OLD, NEW), (CAT, DOG)), "not compared"),
        ({**MERGE, "ids": ["f1", "f9"]}, ((OLD, NEW),), "unknown id"),
        ({**MERGE, "ids": ["f1"]}, ((OLD, NEW),), "malformed"),
        ({"op": "add", "key": "x", "value": "Quiere ACME"}, ((OLD, NEW),), "malformed"),
        ({"op": "invalidate", "id": "f1"}, ((OLD, NEW),), "malformed"),
        ({"op": "invalidate", "id": "f1", "by": "f1"}, ((OLD, NEW),), "malformed"),
        ({"op": "invalidate", "id": "f2", "by": "f1"}, ((OLD, NEW),), "older"),
        ({"op": "invalidate", "id": "f1", "by": "f2"}, ((replace(OLD, pinned=True), NEW),), "explicit"),
        ({"op": "update", "id": "f1", "key": "x"}, ((replace(OLD, source="file"), NEW),), "explicit"),
        ({"op": "update", "id": "f1", "key": "x", "value": "Quiere ACME"}, ((OLD, NEW),), "not the same"),
        ({"op": "what"}, ((OLD, NEW),), "malformed"),
    ],
)
def test_what_the_texts_do_not_bear_out_is_refused(operation: Any, groups: Any, reason: str) -> None:
    done = carried(operation, groups=groups)
    assert (reasons(done), done.facts) == ([reason], ())


@pytest.mark.parametrize("operation", [MERGE, {"op": "update", "id": "f1", "key": "x"}])
def test_facts_that_have_changed_meanwhile_are_left_alone(operation: Any) -> None:
    done = carried(operation, now_facts=known(replace(OLD, value="Trabaja en Meta"), NEW))
    assert (reasons(done), done.facts) == (["changed"], ())
    gone = carried(operation, now_facts=known(NEW))
    assert (reasons(gone), gone.facts) == (["changed"], ())


@pytest.mark.note("Consolidación/2")
def test_a_fact_that_a_newer_one_ends_is_ended_or_doubted() -> None:
    left = fact(2, "Ya no trabaja en Google", key="trabajo-2", domain="work")
    done = carried({"op": "invalidate", "id": "f1", "by": "f2"}, groups=((OLD, left),))
    after = applied(known(OLD, left), done.facts)[OLD.id]
    assert left.id in {after.superseded_by, after.doubted_by}
    assert done.lines[0].reason in {"known", "doubted"}
    again = carried({"op": "invalidate", "id": "f1", "by": "f2"}, groups=((OLD, left),), now_facts=known(after, left))
    assert (again.facts, again.lines) == ((), done.lines)
    assert applied(known(after, left), undone(known(after, left), done.lines[0], LATER)) == known(OLD, left)


def test_a_misleading_key_is_changed_and_the_value_stays() -> None:
    rename = {"op": "update", "id": "f2", "key": "Perro", "domain": "personal", "value": DOG.value}
    done = carried(rename, groups=((CAT, DOG),))
    assert done.facts == (replace(DOG, key="perro"),)
    assert carried(rename, groups=((CAT, DOG),), now_facts=known(CAT, *done.facts)).lines == done.lines


def test_an_answer_that_cannot_be_read_is_one_line() -> None:
    done = consolidated(job("consolidate", answer=b"```"), known(OLD), now=LATER)
    assert done == Carried(lines=(OutcomeLine("", "refused", "no JSON"),))


@pytest.mark.parametrize("written", range(3))
def test_carried_out_twice_is_carried_out_once(written: int) -> None:
    before = known(OLD, NEW)
    first = carried(MERGE)
    half = applied(before, first.facts[:written])
    again = carried(MERGE, now_facts=half)
    assert applied(half, again.facts) == applied(before, first.facts)
    assert again.lines == first.lines


# --- undone ----------------------------------------------------------------------------------------------------------


@pytest.mark.note("Consolidación/3")
def test_a_merge_is_undone() -> None:
    done = carried(MERGE)
    after = applied(known(OLD, NEW), done.facts)
    back = applied(after, undone(after, done.lines[0], LATER))
    assert set(holding(back)) == {OLD.value, NEW.value}
    assert undone(back, done.lines[0], LATER) == ()


def test_a_fact_that_was_made_is_deleted_and_what_it_ended_holds_again_with_a_free_key() -> None:
    made = fact(9, "Vive en Salta", key="ciudad")
    old = fact(1, "Vive en Puebla", key="ciudad", superseded_by=made.id, superseded_at=NOW)
    doubted = fact(2, "vivo en Puebla", key="casa", source="explicit", doubted_by=made.id)
    line = OutcomeLine("update", "kept", fact_id=made.id, before=(old.id,))
    rows = known(*undone(known(made, old, doubted), line, LATER))
    assert rows == known(
        replace(made, superseded_by=made.id, superseded_at=LATER),
        replace(old, superseded_by=None, superseded_at=0.0),
        replace(doubted, doubted_by=None),
    )
    other = fact(5, "Vive en Lima", key="ciudad")
    assert known(*undone(known(made, old, other), line, LATER))[old.id].key == "ciudad-2"


def test_an_invalidation_is_undone() -> None:
    gone = replace(CAT, superseded_by=CAT.id, superseded_at=NOW)
    line = OutcomeLine("invalidate", "kept", fact_id=CAT.id, before=(CAT.id,))
    assert undone(known(gone), line, LATER) == (CAT,)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ((CAT,), OutcomeLine("add", "kept", "known", fact_id=CAT.id)),  # only confirmed
        ((replace(CAT, superseded_by=DOG.id), DOG), OutcomeLine("add", "kept", fact_id=CAT.id)),
        ((), OutcomeLine("add", "kept", fact_id=CAT.id)),
        ((CAT,), OutcomeLine("add", "refused", "quote", fact_id=CAT.id)),
        ((CAT,), OutcomeLine("event", "kept")),
    ],
)
def test_where_there_is_nothing_left_to_undo_nothing_changes(facts: tuple[Fact, ...], line: OutcomeLine) -> None:
    assert undone(known(*facts), line, LATER) == ()
