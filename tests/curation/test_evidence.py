"""The quotation that an operation rests on, and what it states."""

from dataclasses import replace

import pytest

from proxy.curation.carrying import Source
from proxy.curation.evidence import Evidence, RefusedError, evidence, stated, tells_end
from tests.curation.builders import fact, turn

SAID = turn(3, "Hola.\n\nComo soy  celíaca, cocino sin harina.")


def found(quote: str) -> Evidence:
    return evidence({1: SAID}, 1, quote, lambda _: False)


def test_a_quotation_is_found_whatever_its_white_space_and_tells_who_said_it_when() -> None:
    link = SAID.utterances[0].link
    assert found(" soy\ncelíaca,") == Evidence(
        Source(SAID.at, "s", 3, (link,)), link, "soy celíaca,", SAID.utterances[0].text
    )


@pytest.mark.parametrize("messages", [b"", b"{", b"[1]", b'[{"role": "user"}]'])
def test_bytes_that_cannot_be_read_leave_the_text(messages: bytes) -> None:
    said = replace(SAID, messages=messages)
    assert evidence({1: said}, 1, "soy celíaca", lambda _: False).quote == "soy celíaca"


@pytest.mark.parametrize(
    ("number", "quote", "reason"),
    [(2, "soy", "turn"), (None, "soy", "turn"), (1, "soy vegana", "quote"), (1, None, "quote")],
)
def test_what_is_not_there_is_refused(number: int | None, quote: str | None, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        evidence({1: SAID}, number, quote, lambda _: False)


@pytest.mark.parametrize(
    ("quote", "value", "told"),
    [
        ("Mi Canela murió en mayo", "Tiene una perra que se llama Canela", ""),
        ("I pulled out of Chicago for good", "Is training for the Chicago Marathon", ""),
        ("me encanta el queso", "Tiene una perra que se llama Canela", "unrelated"),
        ("le compré un juguete a Canela", "Tiene una perra que se llama Canela", "no end"),
    ],
)
def test_an_end_is_told_by_a_change_of_what_the_fact_is_about(quote: str, value: str, told: str) -> None:
    assert tells_end(quote, fact(1, value, key="k")) == told


def test_of_a_value_the_beginning_is_kept_that_the_quotation_states() -> None:
    def states(_quote: str, value: str, _message: str) -> str:
        return "" if value in {"Es celíaca y cocina sin harina", "Es celíaca"} else "details"

    said = found("soy celíaca")
    assert stated("Es celíaca", said, states) == "Es celíaca"
    assert stated("Es celíaca y cocina sin harina; tiene 3 gatos", said, states) == "Es celíaca y cocina sin harina"
    assert stated("Es celíaca (desde 2020), vive con Ana", said, states) == "Es celíaca"
    with pytest.raises(RefusedError, match="details"):
        stated("Vive con tres gatos, en Salta", said, states)


def test_a_value_that_is_denied_is_not_shortened() -> None:
    with pytest.raises(RefusedError, match="polarity"):
        stated("Es celíaca; come pan", found("soy celíaca"), lambda *said: "polarity" if ";" in said[1] else "")
