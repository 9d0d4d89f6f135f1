"""The values that one clause says for one field, in the order of their places."""

import pytest

from proxy.config.session_state import StateField
from proxy.context.field_values import Clause, FieldReading, found_in, name_at
from proxy.context.values import Value
from proxy.memory.signals import folded
from proxy.types import Language

AT = 1_795_478_400.0  # 2026-11-24, a Tuesday
CITY = StateField(type="text", signals=("a", "hotel"))
PEOPLE = StateField(type="number")
DAY = StateField(type="date")
STYLE = StateField(type="enum", values=("familiar", "romántico"))


@pytest.mark.parametrize(
    ("field", "said", "language", "found"),
    [
        (CITY, "vamos a San Sebastián y a Lugo", "es", ["San Sebastián", "Lugo"]),
        (CITY, "vamos a descansar", "es", []),  # behind a preposition only a name counts
        (CITY, "el hotel barato", "es", ["barato"]),
        (PEOPLE, "somos cuatro personas", "es", [4]),
        (PEOPLE, "for 3 nights", "en", []),  # nights are not people
        (PEOPLE, "four or five people", "en", []),  # nobody knows which
        (DAY, "on the 3rd of December", "en", ["2026-12-03"]),
        (STYLE, "una noche romántica", "es", ["romántico"]),
        (STYLE, "familiar o romántico", "es", []),
        (STYLE, "con mi familia", "es", []),
    ],
)
def test_values_are_found_where_they_are_said(
    field: StateField, said: str, language: Language, found: list[Value]
) -> None:
    reading = FieldReading(Clause(said, folded(said)), "field", field, AT, language)
    assert [each.value for each in found_in(reading)] == found


@pytest.mark.parametrize(
    ("text", "needs_capital", "name"),
    [
        ("la Coruña", True, "Coruña"),
        ("Río de Janeiro", True, "Río de Janeiro"),
        ("Enero", True, None),
        ("casa", True, None),
        ("casa", False, "casa"),
        ("", False, None),
    ],
)
def test_a_name_begins_where_it_is_looked_for(text: str, *, needs_capital: bool, name: str | None) -> None:
    found = name_at(text, 0, needs_capital=needs_capital)
    assert (None if found is None else found.value) == name
