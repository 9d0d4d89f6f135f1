"""Facts as a job changes them, and how they are told to be the same."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.curation.carrying import Carried, Changes, Source, base_key, code_of, cut, is_a_persons, key_of, mentions
from proxy.memory.facts import LINKS
from proxy.types import SELF_CORRECTION, Fact, Statement
from proxy.types.curation import OutcomeLine
from tests.builders import NOW
from tests.curation.builders import fact, job, known, link

SAID = Statement("personal", "ciudad", "Vive en Salta", "medium")
SOURCE = Source(NOW, "s", 2, (link("u2"),))


def changes(*facts: Fact, operations: int = 2) -> Changes:
    return Changes(job(), known(*facts), operations, {})


def test_ids_depend_on_the_job_its_answer_and_the_place() -> None:
    made, again = (changes().make(1, SAID, SOURCE) for _ in range(2))
    assert made == again
    assert made.id != changes().make(0, SAID, SOURCE).id
    assert made.id != Changes(job(number=8), {}, 2, {}).make(1, SAID, SOURCE).id
    assert code_of(job(), "fact", 1) != code_of(job(), "event", 1)
    assert code_of(job(), "fact", 1) != code_of(replace(job(), answer=b"another one"), "fact", 1)


def test_a_fact_of_a_person_is_found_before_one_of_a_model() -> None:
    auto, own = fact(1, "Vive en Salta"), fact(2, "vive en salta", source="explicit", last_confirmed_at=0.0)
    assert changes(auto, own).same("Vive en Salta") == own
    assert changes(auto, own).same("Vive en Salta", apart={own.id}) == auto
    assert changes(auto, own).same("Vive en Lima") is None


@pytest.mark.parametrize("difference", [{"superseded_by": "f-9"}, {"domain": SELF_CORRECTION}])
def test_facts_that_ended_and_an_agents_corrections_state_nothing(difference: dict[str, Any]) -> None:
    assert changes(replace(fact(1, "Vive en Salta"), **difference)).same("Vive en Salta") is None


def test_among_many_facts_the_same_one_is_found_by_its_words() -> None:
    many = [fact(number, f"Dato número {number}") for number in range(2, 300)]
    assert changes(*many, fact(1, "Vive en Salta")).same("Vive en Salta") == fact(1, "Vive en Salta")


def test_a_confirmation_never_makes_a_fact_older_nor_its_sources_endless() -> None:
    late = fact(1, "Vive en Salta", last_confirmed_at=NOW + 9)
    assert changes(late).confirm(late, SOURCE).last_confirmed_at == NOW + 9
    full = replace(late, links=tuple(link(f"l{number}") for number in range(LINKS)))
    assert changes(full).confirm(full, SOURCE).links == full.links


def test_a_doubt_stays_with_the_fact_that_raised_it() -> None:
    doubted = fact(1, "Vive en Salta", doubted_by="f-1")
    held = changes(doubted)
    held.doubt(doubted, "f-2")
    assert held.rows() == ()


def test_only_what_has_changed_is_written() -> None:
    one, other = fact(1, "Vive en Salta"), fact(2, "Tiene un perro")
    held = changes(one, other)
    held.supersede(one, one.id, NOW)
    assert held.rows() == (replace(one, superseded_by=one.id, superseded_at=NOW),)


@pytest.mark.parametrize(
    ("text", "value", "is_about"),
    [
        ("Mi Canela murió en mayo", "Tiene una perra que se llama Canela", True),
        ("cortamos con Agus", "Está de novio con Agustina", True),
        ("ya no entrenamos juntos", "Entrena los sábados con su primo", True),
        ("soy celíaca", "Vive en Salta", False),
        ("", "Vive en Salta", False),
        ("el sol", "El caso", False),
    ],
)
def test_a_text_is_about_a_fact_by_its_words_and_names(text: str, value: str, is_about: bool) -> None:
    assert mentions(text, fact(1, value, key="k")) is is_about


@pytest.mark.parametrize(
    ("text", "key"),
    [("Ciudad", "ciudad"), (" ¿Dónde  vive? ", "dónde-vive"), ("stack_tecnológico", "stack-tecnológico"), ("", "")],
)
def test_keys_are_words_joined_by_hyphens(text: str, key: str) -> None:
    assert key_of(text) == key


@pytest.mark.parametrize(
    ("key", "base"), [("ciudad-2", "ciudad"), ("ciudad", "ciudad"), ("plan-b", "plan-b"), ("2", "2")]
)
def test_a_number_tells_keys_apart_and_is_no_part_of_their_name(key: str, base: str) -> None:
    assert base_key(key) == base


@pytest.mark.parametrize(
    ("differing", "persons"),
    [({}, False), ({"pinned": True}, True), ({"source": "file"}, True), ({"source": "api"}, True)],
)
def test_what_a_person_stated_or_kept_is_theirs(differing: dict[str, Any], persons: bool) -> None:
    assert is_a_persons(fact(1, "x", **differing)) is persons


def test_only_an_answer_that_cannot_be_read_is_unread() -> None:
    assert Carried(lines=(OutcomeLine("", "refused", "malformed"),)).unread == ""
    assert Carried(lines=(OutcomeLine("", "refused", "other JSON"),)).unread == "other JSON"
    assert (cut("abc", 3), cut("abcd", 3)) == ("abc", "ab…")
