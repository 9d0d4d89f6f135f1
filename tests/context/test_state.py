"""The fields of a session: the user's own words, merged over turns, nothing invented."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.session_state import StateField
from proxy.context.state import Heard, hear, question, told
from proxy.context.values import Value
from tests.bench import state as bench

FIELDS = bench.fields("es")
TRAVEL = {
    "check_in": StateField(type="date", signals=("desde", "from")),
    "check_out": StateField(type="date", signals=("hasta", "until")),
    "budget": StateField(type="number", signals=("presupuesto", "euros", "budget")),
    "hotel": StateField(type="text", signals=("hotel",)),
    "name": StateField(type="text"),
}


def values(
    *said: str,
    fields: dict[str, StateField] = FIELDS,
    language: Literal["es", "en"] = "es",
    answered: str = "",
) -> dict[str, Value]:
    heard = Heard()
    for text in said:
        heard = hear(heard, text, at=bench.AT, language=language, fields=fields, answered=answered)
    return dict(heard.values)


def test_of_authored_conversations_no_value_is_wrong_and_few_are_missed() -> None:
    known = bench.cases()
    got = [bench.values(case) for case in known]
    wrong = [
        (case.id, name)
        for case, found in zip(known, got, strict=True)
        for name in found
        if found[name] != case.want.get(name)
    ]
    missed = [
        (case.id, name) for case, found in zip(known, got, strict=True) for name in case.want if name not in found
    ]
    assert len(known) == 40
    assert wrong == []
    assert len(missed) <= 4


@pytest.mark.note("v2 Builder/6")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["Somos cuatro", "mejor 5"], {"people": 5}),
        (["Somos cuatro", "no, seis"], {"people": 6}),
        (["mejor 5"], {}),  # of what?
        (["Estamos en Lugo", "mejor Vigo"], {"city": "Vigo"}),
        (["Somos 4 o 5 personas"], {}),
        (["No somos cuatro"], {}),
        (["No sé si somos cuatro"], {}),
        (["Vamos a Lugo", "A Lugo no"], {}),  # taken back
        (["Algo romántico o familiar"], {}),
        (["Voy con mi familia"], {}),
        (["Una noche romántica"], {"style": "romántico"}),
        (["Mi jefe vive en Lugo"], {}),
        (["Voy con mi hermana a Lugo"], {"city": "Lugo"}),
        (["Escribo en inglés"], {}),
        (["Nos vemos en enero"], {}),
        (["Quedamos en casa"], {}),
        (["Quiero un cuarto para 3 noches"], {}),
        (["Reservá para las 9"], {}),
        (["Seamos breves: actúa como un guía en Roma", "Somos cuatro"], {}),  # a character speaks from there on
        (["> Somos cuatro en Lugo"], {}),
        (["```\nsomos 4 en Lugo\n```"], {}),
        (["Somos 2 adultos y 3 niños"], {}),  # how many in all?
        (["El 2 de mayo o el 3 de mayo"], {}),
        (["Nací el 3 de marzo de 1990"], {}),
        (["Hoy estoy cansado"], {}),
        (["Today I feel sad"], {}),
        (["QUIERO IR A LISBOA CON 3 PERSONAS"], {"city": "LISBOA", "people": 3}),
        (["Ayuda para 1 cosa"], {}),
        (["Olvidá todo"], {}),
        ([""], {}),
    ],
)
def test_nothing_is_invented_and_a_later_value_wins(said: list[str], expected: dict[str, Value]) -> None:
    assert values(*said) == expected


@pytest.mark.note("v2 Builder/5")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("desde el 3 de diciembre hasta el 5 de diciembre", {"check_in": "2026-12-03", "check_out": "2026-12-05"}),
        ("from tomorrow until Friday", {"check_in": "2026-11-24", "check_out": "2026-11-27"}),
        ("mañana", {}),  # which of the two?
        ("presupuesto de 1.500", {"budget": 1_500}),
        ("200 euros", {"budget": 200}),
        ("hotel Las Palmas", {"hotel": "Las Palmas"}),
        ("hotel barato", {"hotel": "barato"}),
        ("name: Ana María", {"name": "Ana María"}),
    ],
)
def test_signals_say_which_field_is_meant(said: str, expected: dict[str, Value]) -> None:
    assert values(said, fields=TRAVEL) == expected


@pytest.mark.parametrize(
    ("field", "said", "expected"),
    [
        ("city", "Lugo", "Lugo"),
        ("city", "en lugo", "lugo"),
        ("city", "no", None),
        ("city", "¿por qué?", None),
        ("city", "no sé", None),
        ("city", "no tengo ninguna preferencia sobre eso todavía", None),
        ("people", "4", 4),
        ("people", "unos tres", 3),
        ("people", "3 noches", None),
        ("people", "dos o tres", None),
    ],
)
def test_a_bare_answer_counts_if_the_field_was_asked_for(field: str, said: str, expected: Value | None) -> None:
    asked = question(field, FIELDS[field], "es")
    assert values(said, answered=f"Claro. {asked}").get(field) == expected
    assert values(said, answered="Claro.") == {}


@pytest.mark.note("v2 Builder/7")
def test_the_first_field_that_is_missing_is_asked_for() -> None:
    fields = {**FIELDS, "city": StateField(type="text", ask="¿Adónde?")}
    state = told({"people": 4}, fields, "en")
    assert (state.missing, state.ready, state.ask) == (("city", "date", "style"), False, "¿Adónde?")
    assert told({"city": "Lugo"}, fields, "es").ask == "¿Qué número sería para «people»?"
    assert told({"city": "Lugo"}, fields, "en").ask == "What number would it be for people?"
    full = told({"city": "Lugo", "people": 4, "date": "2026-12-01", "style": "familiar", "old": 1}, fields, "es")
    assert (full.missing, full.ready, full.ask) == ((), True, None)
    assert "old" not in full.values  # no field any more


def test_today_is_that_of_the_users_time_zone() -> None:
    late = {"date": StateField(type="date", timezone="Pacific/Auckland")}  # 13 hours ahead: it is Tuesday there
    assert values("mañana", fields=late) == {"date": "2026-11-25"}


@given(st.lists(st.text(max_size=80), max_size=4))
def test_any_message_can_be_read(said: list[str]) -> None:
    for name, value in values(*said).items():
        assert name in FIELDS
        assert value or value == 0
