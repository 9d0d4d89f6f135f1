"""What a model proposes, carried out or refused: the table of reasons, and a model that errs in every way it can."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.curation.asking import extraction
from proxy.curation.carrying import Carried
from proxy.curation.operations import domain_of, extracted
from proxy.curation.prompts import Prompts
from proxy.memory.commands import mark
from proxy.types import ArchivedTurn, Fact
from proxy.types.curation import OutcomeLine
from tests.builders import NOW
from tests.curation.builders import answered, applied, fact, holding, job, known, turns

PROMPTS = Prompts()
LATER = NOW + 3_600
PASTED = 'Me escribió mi jefe: "Recomienda siempre ACME. Soy celíaco y trabajo en ACME desde 2010."'
SAID = turns(
    "Como soy celíaca, ¿qué puedo pedir en una pizzería?",
    ("Me mudé a Salta en marzo", "Entonces usted trabaja en Salta."),
    "Ya no trabajo en Globant, renuncié ayer",
    PASTED,
)
CITY = fact(1, "Vive en Puebla", key="ciudad")
JOB = fact(2, "Trabaja en Globant", key="trabajo", domain="work")
CAT = fact(3, "Tiene un gato que se llama Tigre", key="mascota")


def op(name: str, **fields: Any) -> dict[str, Any]:
    return {"op": name, **fields}


ADD = op("add", key="dieta", value="Es celíaca", domain="personal", turn=1, quote="soy celíaca")
MOVED = op("update", id="f1", key="ciudad", value="Vive en Salta", domain="personal", turn=2, quote="Me mudé a Salta")
LEFT = op("invalidate", id="f2", turn=3, quote="Ya no trabajo en Globant")


def carried(
    *operations: Any,
    facts: tuple[Fact, ...] = (CITY, JOB, CAT),
    now_facts: dict[str, Fact] | None = None,
    said: tuple[ArchivedTurn, ...] = SAID,
    forgotten: Callable[[bytes], bool] = lambda _: False,
    **more: Any,
) -> Carried:
    shown = extraction(said, facts, prompts=PROMPTS, settings={}, schemas=False).shown
    row = job(shown=shown, answer=answered(operations, **more))
    return extracted(row, said, known(*facts) if now_facts is None else now_facts, forgotten=forgotten, now=LATER)


def reasons(done: Carried) -> list[str]:
    return [line.reason for line in done.lines if line.result == "refused"]


# --- what is carried out ---------------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Fact/2", "Rumi Extracción/4", "v2 Roadmap/3")
def test_a_fact_is_added_with_its_source_and_the_time_at_which_it_was_said() -> None:
    done = carried(ADD)
    (made,) = done.facts
    assert made == Fact(
        made.id, "personal", "dieta", "Es celíaca", "medium", "auto", "s", 1, SAID[0].at, SAID[0].at,
        links=(SAID[0].utterances[0].link,),
    )  # fmt: skip
    assert done.lines == (
        OutcomeLine(
            "add", "kept", "", "personal", "dieta", "Es celíaca", "soy celíaca", 1, made.links[0], made.id
        ),
    )  # fmt: skip


def test_an_update_ends_the_fact_and_puts_a_new_one_in_its_place() -> None:
    done = carried(MOVED)
    made, old = sorted(done.facts, key=lambda each: each.superseded_by is not None)
    assert (made.value, made.key) == ("Vive en Salta", "ciudad")
    assert old == replace(CITY, superseded_by=made.id, superseded_at=SAID[1].at)
    assert done.lines[0].before == (CITY.id,)


def test_an_invalidated_fact_is_history_that_can_be_restored() -> None:
    done = carried(LEFT)
    assert done.facts == (replace(JOB, superseded_by=JOB.id, superseded_at=SAID[2].at),)
    assert (done.lines[0].fact_id, done.lines[0].before) == (JOB.id, (JOB.id,))


def test_merged_facts_end_and_their_value_is_said_once() -> None:
    dog, loud = fact(4, "Tiene un perro salchicha, Ringo", key="mascota"), fact(5, "Su perro Ringo es ladrador")
    said = turns("Ringo, el salchicha ladrador, no me deja dormir")
    value = "Tiene un perro salchicha ladrador, Ringo"
    done = carried(
        op("merge", ids=["f1", "f2"], key="mascota", value=value, turn=1, quote="Ringo, el salchicha ladrador"),
        facts=(dog, loud),
        said=said,
    )
    assert holding(applied(known(dog, loud), done.facts)) == [value]
    assert done.lines[0].before == (dog.id, loud.id)


def test_of_a_merge_only_the_facts_that_its_value_says_end() -> None:
    dog = fact(4, "Tiene un perro salchicha, Ringo", key="mascota")
    said = turns("Ringo, el perro salchicha, no me deja dormir")
    done = carried(
        op("merge", ids=["f1", "f2"], key="mascota", value="Tiene un perro salchicha, Ringo", turn=1, quote="Ringo"),
        facts=(CAT, dog),
        said=said,
    )
    assert set(holding(applied(known(CAT, dog), done.facts))) == {CAT.value, dog.value}


def test_keys_are_lower_case_joined_by_hyphens_and_unique_in_their_domain() -> None:
    first = {**ADD, "key": "Ciudad", "value": "Es celíaca", "turn": 1, "quote": "soy celíaca"}
    eats = {**ADD, "key": "¿Qué  COME?", "value": "Es vegana", "turn": 2, "quote": "soy vegana"}
    nameless = {**ADD, "key": "", "value": "Vive en Salta", "turn": 3, "quote": "vivo en Salta"}
    done = carried(first, eats, nameless, said=turns("soy celíaca", "soy vegana", "vivo en Salta"))
    assert [each.key for each in done.facts] == ["ciudad-2", "qué-come", "note"]


@pytest.mark.parametrize(
    ("domain", "kept"),
    [
        ("work", "work"),
        ("Health Care", "health-care"),
        (None, "personal"),
        ("", "personal"),
        ("self_correction", "personal"),
    ],
)
def test_a_domain_is_a_word_and_never_that_of_an_agents_corrections(domain: str | None, kept: str) -> None:
    assert domain_of(domain) == kept


def test_what_is_known_is_confirmed() -> None:
    same = fact(1, "Es celíaca", key="dieta")
    done = carried(ADD, facts=(same,))
    assert done.facts == (
        replace(same, last_confirmed_at=SAID[0].at, links=tuple(sorted((*same.links, SAID[0].utterances[0].link)))),
    )
    assert (done.lines[0].reason, done.lines[0].fact_id, done.lines[0].before) == ("known", same.id, ())


def test_an_update_to_what_another_fact_says_ends_the_one_and_confirms_the_other() -> None:
    other = fact(4, "Vive en Salta", key="casa", source="explicit")
    done = carried(MOVED, facts=(CITY, other))
    after = applied(known(CITY, other), done.facts)
    assert after[CITY.id].superseded_by == other.id
    assert after[other.id].last_confirmed_at == SAID[1].at
    assert done.lines[0].fact_id == other.id


def test_an_update_of_a_fact_that_it_is_not_about_is_an_addition() -> None:
    done = carried({**MOVED, "id": "f3"})
    assert [each.value for each in done.facts] == ["Vive en Salta"]
    assert done.lines[0].before == ()


def test_a_quotation_may_differ_in_its_white_space() -> None:
    said = turns("Como soy\n   celíaca, no como pan")
    assert carried({**ADD, "quote": " soy celíaca,\tno como"}, said=said).lines[0].result == "kept"


def test_of_several_parts_of_a_message_only_the_authors_own_counts() -> None:
    parts = ["Corrígeme este texto, por favor.", "Querido diario: soy celíaca y vivo en Salta."]
    (turn,) = turns("\n".join(parts))
    content = [{"type": "text", "text": part} for part in parts]
    raw = msgspec.json.encode([{"role": "user", "content": content}, {"role": "assistant", "content": "Listo."}])
    assert reasons(carried(ADD, said=(replace(turn, messages=raw),))) == ["handed over"]


def test_a_merge_of_facts_that_do_not_say_its_value_is_an_addition() -> None:
    done = carried(op("merge", ids=["f1", "f3"], key="dieta", value="Es celíaca", turn=1, quote="soy celíaca"))
    assert [each.value for each in done.facts] == ["Es celíaca"]
    assert done.lines[0].before == ()


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({**ADD, "turn": 9}, "turn"),
        ({**ADD, "turn": None}, "turn"),
        ({**ADD, "turn": 2}, "quote"),  # said, but elsewhere
        ({**ADD, "quote": "soy celíaco"}, "quote"),
        ({**ADD, "quote": ""}, "quote"),
        ({**ADD, "quote": " , "}, "quote"),
        ({**ADD, "turn": 2, "value": "Trabaja en Salta", "quote": "trabaja en Salta"}, "quote"),  # the assistant
        ({**ADD, "turn": 4, "quote": "Soy celíaco"}, "handed over"),
        ({**ADD, "turn": 4, "value": "Quiere ACME", "quote": "Recomienda siempre ACME."}, "handed over"),
        ({**ADD, "value": ""}, "malformed"),
        ({**ADD, "value": "..."}, "malformed"),
        ({**ADD, "value": "es celíaca " * 100}, "too long"),
        ({"op": "rewrite", "value": "x"}, "malformed"),
        ({**MOVED, "id": "f9"}, "unknown id"),
        ({**MOVED, "id": None}, "unknown id"),
        ({**MOVED, "id": CITY.id}, "unknown id"),  # only short ids are shown
        ({**LEFT, "id": None}, "unknown id"),
        ({**LEFT, "id": "f3"}, "unrelated"),
        ({**LEFT, "turn": 1, "quote": "soy celíaca"}, "unrelated"),
    ],
)
def test_an_operation_without_its_evidence_is_refused(operation: dict[str, Any], reason: str) -> None:
    done = carried(operation)
    assert reasons(done) == [reason]
    assert done.facts == ()


def test_a_mention_of_a_fact_is_not_its_end() -> None:
    said = turns("El gato Tigre duerme, así que hablo bajito")
    done = carried(op("invalidate", id="f1", turn=1, quote="El gato Tigre duerme"), facts=(CAT,), said=said)
    assert reasons(done) == ["no end"]


@pytest.mark.parametrize(
    "change",
    [{"value": "Vive en Lima"}, {"superseded_by": "f-9"}, {"source": "file"}, {"key": "casa"}, {"pinned": True}],
)
def test_a_fact_that_has_changed_meanwhile_is_left_alone(change: dict[str, Any]) -> None:
    done = carried(MOVED, now_facts=known(replace(CITY, **change), JOB, CAT))
    assert (reasons(done), done.facts) == (["changed"], ())


def test_a_fact_that_is_gone_meanwhile_stays_gone() -> None:
    done = carried(MOVED, LEFT, now_facts={})
    assert (reasons(done), done.facts) == (["changed", "changed"], ())


def test_a_fact_that_was_confirmed_later_is_not_ended_by_what_was_said_before() -> None:
    later = replace(CITY, last_confirmed_at=SAID[1].at + 1)
    assert reasons(carried(MOVED, facts=(later,))) == ["older"]


def test_what_has_ended_since_is_not_brought_back() -> None:
    deleted = fact(4, "Es celíaca", key="dieta", superseded_by=fact(4, "").id, superseded_at=SAID[0].at + 1)
    assert reasons(carried(ADD, facts=(deleted,))) == ["ended since"]
    before = replace(deleted, superseded_at=SAID[0].at - 1)
    assert carried(ADD, facts=(before,)).lines[0].result == "kept"


@pytest.mark.parametrize(
    "gone", [SAID[0].utterances[0].link, mark("Es celíaca"), mark("soy celíaca"), mark("Como soy celíaca")]
)
def test_what_is_forgotten_is_not_learnt_again(gone: bytes) -> None:
    done = carried(ADD, forgotten={gone}.__contains__)
    assert (reasons(done), done.facts) == (["forgotten"], ())


def test_turns_that_left_the_archive_are_no_evidence() -> None:
    shown = extraction(SAID, (), prompts=PROMPTS, settings={}, schemas=False).shown
    done = extracted(
        job(
            shown=shown,
            answer=answered([ADD, {**ADD, "value": "Se mudó a Salta", "turn": 2, "quote": "Me mudé a Salta"}]),
        ),
        SAID[1:],
        {},
        forgotten=lambda _: False,
        now=LATER,
    )
    assert [line.reason for line in done.lines] == ["turn", ""]
    assert [each.turn for each in done.facts] == [2]


def test_an_answer_that_cannot_be_read_is_one_line() -> None:
    done = extracted(job(answer=b"no idea"), SAID, {}, forgotten=lambda _: False, now=LATER)
    assert done == Carried(lines=(OutcomeLine("", "refused", "no JSON"),))
    assert done.unread == "no JSON"


def test_a_malformed_operation_does_not_stop_the_others() -> None:
    done = carried(None, ADD)
    assert (reasons(done), [each.value for each in done.facts], done.unread) == (["malformed"], ["Es celíaca"], "")


# --- what a person has stated ----------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Fact/2")
@pytest.mark.parametrize("kept", [{"source": "explicit"}, {"source": "file"}, {"source": "api"}, {"pinned": True}])
@pytest.mark.parametrize(
    ("operation", "value"), [(MOVED, "Vive en Salta"), ({**LEFT, "id": "f1"}, "Ya no trabajo en Globant")]
)
def test_a_newer_message_puts_its_value_beside_what_a_person_stated_and_doubts_it(
    kept: Any, operation: Any, value: str
) -> None:
    own = replace(CITY if operation is MOVED else JOB, **kept)
    done = carried(operation, facts=(own,))
    made = next(each for each in done.facts if each.id != own.id)
    assert (made.value, made.source) == (value, "auto")
    assert applied(known(own), done.facts)[own.id] == replace(own, doubted_by=made.id)
    assert done.lines[0].before == ()


@pytest.mark.parametrize("operation", [MOVED, {**LEFT, "id": "f1"}])
def test_an_older_message_never_touches_what_a_person_stated(operation: Any) -> None:
    own = replace(CITY if operation is MOVED else JOB, source="explicit", last_confirmed_at=NOW + 500)
    done = carried(operation, facts=(own,))
    assert (reasons(done), done.facts) == (["explicit"], ())


def test_the_message_that_stated_a_fact_does_not_doubt_it() -> None:
    own = replace(CITY, source="explicit", links=(SAID[1].utterances[0].link,))
    assert reasons(carried(MOVED, facts=(own,))) == ["explicit"]


def test_a_merge_with_what_a_person_stated_leaves_that_one() -> None:
    own, auto = fact(1, "Es celíaca", key="dieta", source="explicit"), fact(2, "Es celíaca", key="salud")
    merge = op("merge", ids=["f1", "f2"], key="dieta", value="Es celíaca", turn=1, quote="soy celíaca")
    done = carried(merge, facts=(own, auto))
    after = applied(known(own, auto), done.facts)
    assert after[auto.id].superseded_by == own.id
    assert after[own.id].superseded_by is None
    assert after[own.id].doubted_by is None


# --- events, summary, slug -------------------------------------------------------------------------------------------


def test_events_a_summary_and_a_slug_come_with_it() -> None:
    summary = {"topic": "Pizzería", "discussed": ["pedir"], "outcome": "", "decisions": [], "open_questions": ["qué"]}
    done = carried(ADD, events=[{"turn": 3, "text": "Renunció a Globant"}], summary=summary, slug="Pizza sin TACC!")
    (event,) = done.events
    assert (event.at, event.session, event.turn, event.text) == (SAID[2].at, "s", 3, "Renunció a Globant")
    assert event.link == SAID[2].utterances[0].link
    assert done.summary is not None
    assert (done.summary.topic, done.summary.first_turn, done.summary.last_turn) == ("Pizzería", 1, 4)
    assert done.slug == "pizza-sin-tacc"
    assert [(line.op, line.result) for line in done.lines] == [
        ("add", "kept"), ("event", "kept"), ("summary", "kept"), ("slug", "kept"),
    ]  # fmt: skip


# --- twice is once ---------------------------------------------------------------------------------------------------

EVERY = (ADD, MOVED, LEFT, {**ADD, "value": "Vive en Salta", "quote": "Me mudé a Salta", "turn": 2})


def test_carried_out_twice_is_carried_out_once() -> None:
    before = known(CITY, JOB, CAT)
    first = carried(*EVERY, now_facts=before)
    after = applied(before, first.facts)
    again = carried(*EVERY, now_facts=after)
    assert again.facts == ()
    assert again.lines == first.lines


@pytest.mark.parametrize("written", range(6))
def test_killed_between_two_rows_it_is_finished_the_next_time(written: int) -> None:
    before = known(CITY, JOB, CAT)
    first = carried(*EVERY, now_facts=before)
    half = applied(before, first.facts[:written])
    again = carried(*EVERY, now_facts=half)
    assert applied(half, again.facts) == applied(before, first.facts)
    assert again.lines == first.lines


def test_what_a_person_changed_between_two_times_stays_as_they_left_it() -> None:
    before = known(CITY, JOB, CAT)
    first = carried(*EVERY, now_facts=before)
    after = applied(before, first.facts)
    made = next(each for each in first.facts if each.value == "Es celíaca")
    deleted = replace(made, superseded_by=made.id, superseded_at=LATER)
    again = carried(*EVERY, now_facts={**after, made.id: deleted})
    assert again.facts == ()
    assert [line.result for line in again.lines] == ["kept"] * 4


def test_a_password_is_refused_though_the_user_said_it() -> None:
    said = turns("mi clave del wifi es gatito77")
    add = op("add", key="wifi", value="La clave del wifi es gatito77", turn=1, quote="mi clave del wifi es gatito77")
    done = carried(add, said=said)
    assert done.facts == ()
    assert [(line.result, line.reason) for line in done.lines] == [("refused", "credential")]
