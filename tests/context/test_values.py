"""Numbers and dates, as people write them in Spanish and English."""

import re
from datetime import date, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.values import NUMBER, dates, number
from proxy.memory.signals import folded

MONDAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("el 14 de febrero", "es", ["2027-02-14"]),
        ("el primero de marzo de 2028", "es", ["2028-03-01"]),
        ("El 3 de diciembre y el 5 de enero", "es", ["2026-12-03", "2027-01-05"]),
        ("February 14th", "en", ["2027-02-14"]),
        ("Dec 24, 2027", "en", ["2027-12-24"]),
        ("the 2nd of January", "en", ["2027-01-02"]),
        ("2026-12-24", "es", ["2026-12-24"]),
        ("el 24/12/2026", "es", ["2026-12-24"]),
        ("12/24/2026", "en", ["2026-12-24"]),
        ("24/12/26", "en", ["2026-12-24"]),
        ("el 3/4", "es", ["2027-04-03"]),
        ("on 3/4", "en", ["2027-03-04"]),
        ("hoy", "es", ["2026-11-23"]),
        ("esta noche", "es", ["2026-11-23"]),
        ("mañana por la mañana", "es", ["2026-11-24"]),
        ("pasado mañana", "es", ["2026-11-25"]),
        ("tomorrow", "en", ["2026-11-24"]),
        ("the day after tomorrow", "en", ["2026-11-25"]),
        ("el lunes", "es", ["2026-11-30"]),  # said on a Monday: the next one
        ("el próximo viernes", "es", ["2026-11-27"]),
        ("this Saturday", "en", ["2026-11-28"]),
        ("dentro de dos semanas", "es", ["2026-12-07"]),
        ("in ten days", "en", ["2026-12-03"]),
        ("el 24, por favor", "es", ["2026-11-24"]),
        ("the 20th at noon", "en", ["2026-12-20"]),
        ("el 29 de febrero", "es", ["2028-02-29"]),
        # None of these is a day.
        ("por la mañana", "es", []),
        ("hoy en día", "es", []),
        ("los viernes", "es", []),
        ("every Friday", "en", []),
        ("last Friday", "en", []),
        ("el viernes pasado", "es", []),
        ("el 31 de febrero", "es", []),
        ("1/2 kilo", "es", []),
        ("open 24/7", "en", []),
        ("the 5th floor", "en", []),
        ("en enero", "es", []),
        ("13/13/2026", "es", []),
        ("in 90000 weeks", "en", []),
    ],
)
def test_a_date_is_told_by_the_day_it_was_said(text: str, language: Literal["es", "en"], expected: list[str]) -> None:
    assert [found.value for found in dates(folded(text), MONDAY, language)] == expected


@given(st.integers(0, 400), st.sampled_from(["es", "en"]))
def test_a_day_without_its_year_is_the_next_one(ahead: int, language: Literal["es", "en"]) -> None:
    today = MONDAY + timedelta(ahead)
    (found,) = dates("el 24 de diciembre" if language == "es" else "on december 24", today, language)
    day = date.fromisoformat(str(found.value))
    assert (day.month, day.day) == (12, 24)
    assert timedelta(0) <= day - today <= timedelta(366)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("4", 4),
        ("1.500", 1_500),
        ("2,000,000", 2_000_000),
        ("3,5", 3.5),
        ("veintidos", 22),
        ("treinta y cinco", 35),
        ("twenty-two", 22),
        ("forty", 40),
    ],
)
def test_a_number_is_read_in_figures_and_in_words(said: str, expected: float) -> None:
    found = re.fullmatch(NUMBER, said)
    assert found is not None
    assert number(found.group()) == expected


@pytest.mark.parametrize("said", ["9:30", "v2", "50%", "3€", "192.168.0.1", "4th"])
def test_figures_of_times_shares_and_names_are_no_numbers(said: str) -> None:
    assert re.search(NUMBER, said) is None


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    for found in dates(folded(text), MONDAY, "es"):
        assert 0 <= found.start < found.end <= len(text)
        date.fromisoformat(str(found.value))
