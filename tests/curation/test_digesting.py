"""Digests: their names, what they cover, and their text with a model or without."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.curation.digesting import LONGEST, MOST_LINES, after, digested, plain, spanned, subject_of
from proxy.types.curation import DigestSpan

SPANS: tuple[DigestSpan, ...] = ("hour", "day", "week")


def at(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> float:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("span", "when", "subject", "begin", "end"),
    [
        ("hour", at(2026, 11, 23, 14, 59, 59), "hour 2026-11-23T14", at(2026, 11, 23, 14), at(2026, 11, 23, 15)),
        ("hour", at(2026, 12, 31, 23), "hour 2026-12-31T23", at(2026, 12, 31, 23), at(2027, 1, 1)),
        ("day", at(2026, 11, 23), "day 2026-11-23", at(2026, 11, 23), at(2026, 11, 24)),
        ("week", at(2026, 11, 29, 23, 59), "week 2026-11-23", at(2026, 11, 23), at(2026, 11, 30)),
        ("week", at(2027, 1, 1), "week 2026-12-28", at(2026, 12, 28), at(2027, 1, 4)),
    ],
)
def test_a_digest_is_named_by_its_span_and_beginning(
    span: DigestSpan, when: float, subject: str, begin: float, end: float
) -> None:
    assert subject_of(span, when) == subject
    assert spanned(subject) == (span, begin, end)


@given(st.sampled_from(SPANS), st.floats(0, 4e9))
def test_the_span_that_covers_a_time_has_it(span: DigestSpan, when: float) -> None:
    named, begin, end = spanned(subject_of(span, when))
    assert named == span
    assert begin <= when < end
    assert subject_of(span, begin) == subject_of(span, when)


@pytest.mark.parametrize("subject", ["", "day", "day 23", "year 2026", "week 2026-11-24", "hour 2026-11-23", "s"])
def test_other_subjects_are_no_digest(subject: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        spanned(subject)


@pytest.mark.note("v2 Roadmap/4")
def test_hours_make_days_and_days_make_weeks() -> None:
    assert [after(span) for span in SPANS] == ["day", "week", None]


def test_few_texts_are_joined() -> None:
    assert plain(["Vendió el auto", "¿Y ahora?", "Vendió  el auto", " ", "Eligió vuelo."]) == (
        "Vendió el auto. ¿Y ahora? Eligió vuelo."
    )
    assert plain([]) == ""


def test_of_many_texts_those_that_tell_most_are_kept_in_their_order_and_the_rest_counted() -> None:
    texts = ["Habló de pan", "Habló del pan", *(f"Hizo cosa{n} con gente{n}" for n in range(MOST_LINES))]
    assert plain(texts) == ". ".join([texts[0], *texts[2:-1]]) + ". (+2)"


@given(st.lists(st.text(max_size=300), max_size=40))
def test_a_digest_without_a_model_is_bounded(texts: list[str]) -> None:
    assert len(plain(texts)) <= LONGEST


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('```json\n{"digest": "Vendió el auto. Eligió el vuelo."}\n```', "Vendió el auto. Eligió el vuelo."),
        ('{"digest": "Uno. Dos. Tres. Cuatro."}', "Uno. Dos. Tres."),
        ("Vendió el auto.", None),
        ('{"digest": ""}', None),
        ('{"summary": "x"}', None),
        ("", None),
        ("\ud800", None),
        ('{"digest": "' + "x" * 5_000 + '"}', "x" * (LONGEST - 1) + "…"),
    ],
)
def test_a_models_digest_is_at_most_three_sentences(answer: str, text: str | None) -> None:
    assert digested(answer) == text
