"""Whether an answer has held, as a table; and how often the comparison agrees with people's labels."""

import pytest

from proxy.quality.comparing import compared
from proxy.types.quality import Reason, Said
from tests.bench.quality import decided, pairs, scores

TEN = "Your appointment is on 14 March at 10:30."
CALL = (("look", '{"city": "Salta", "days": 3}'),)


@pytest.mark.parametrize(
    ("managed", "original", "reason"),
    [
        (TEN, TEN, "alike"),
        ("It is at 10:30 on the 14 of March.", TEN, "alike"),
        ("It is on 15 March at 10:30.", TEN, "numbers"),
        ("I don't have any record of an appointment.", TEN, "unknowing"),
        ("Could you tell me which appointment you mean?", TEN, "unknowing"),
        ("No tengo esa información.", "Es el 14 de marzo a las 10:30.", "unknowing"),
        ("¿A qué te referís con eso?", "El presupuesto es de 210 pesos.", "unknowing"),
        ("It depends on your needs.", "Use Postgres: your orders are relational.", "unknowing"),
        ("I'm sorry, I can't help with that.", "Sell a part of it.", "refused"),
        ("No puedo ayudarte con eso.", "Vendé una parte.", "refused"),
        ("Yes, you can mix them.", "No, never mix them.", "opposite"),
        ("Sí, podés mezclarlos.", "No los mezcles nunca.", "opposite"),
        ("El 14 de marzo a las 10:30 es tu turno con la médica.", TEN, "language"),
        ("Your appointment is on 14 Mar", "Your appointment is on 14 March at 10:30.", "cut_off"),
        ("", TEN, "empty"),
        ("Maria is coming.", "On Saturday Maria, Tom and Aisha are coming.", "names"),
        ("Dear [Name], happy birthday to you!", "Dear Carolina, happy birthday to you!", "names"),
        ("Son catorce cuotas de $32.400.", "Son 14 cuotas de 32.400 pesos.", "alike"),
        ("It costs 1,200.50 dollars.", "It costs $1200.5.", "numbers"),  # mixed marks are left alone
        ("Glad it worked! Write whenever you like.", "Great to hear! Let me know if anything comes up.", "small_talk"),
    ],
)
def test_an_answer_has_held_or_there_is_a_reason(managed: str, original: str, reason: Reason) -> None:
    comparison = compared(Said(managed), Said(original))
    assert (comparison.reason, comparison.held) == (reason, reason in ("alike", "small_talk"))


@pytest.mark.parametrize(
    ("managed", "original", "reason"),
    [
        (CALL, (("look", '{"days":3,"city":"Salta"}'),), "alike"),
        (CALL, (("look", '{"days":4,"city":"Salta"}'),), "arguments"),
        (CALL, (("find", '{"days":3,"city":"Salta"}'),), "tools"),
        (CALL, (), "tools"),
        ((), CALL, "tools"),
        ((*CALL, ("pay", "{}")), (("pay", "{}"), *CALL), "alike"),
        ((("look", "not json"),), (("look", "not json"),), "alike"),
    ],
)
def test_tool_calls_are_equal_by_name_and_arguments(
    managed: tuple[tuple[str, str], ...], original: tuple[tuple[str, str], ...], reason: Reason
) -> None:
    comparison = compared(Said("", managed), Said("Let me see.", original))
    assert (comparison.reason, comparison.held) == (reason, reason == "alike")


def test_an_answer_that_a_limit_cut_off_has_not_held() -> None:
    assert compared(Said("One, two", is_cut=True), Said("One, two, three.")).reason == "cut_off"
    assert compared(Said("One, two, three", is_cut=True), Said("One, two, three", is_cut=True)).held


def test_vectors_tell_another_meaning_where_words_do_not() -> None:
    managed, original = Said("The bridge is open again."), Said("The bank has lent the money.")
    assert compared(managed, original, 0.9).held
    assert compared(managed, original, 0.05).reason == "meaning"


def test_the_measures_say_what_was_found() -> None:
    measures = compared(Said("At 10:30."), Said(TEN), 0.75123).measures
    assert (measures.numbers, measures.names, measures.similarity) == (0.5, 0.0, 0.751)
    assert measures.length == pytest.approx(9 / len(TEN), abs=1e-3)
    assert measures.calls is None


def test_labels_that_were_written_before_are_met_in_both_halves() -> None:
    """Without vectors, which only add; `python -m tests.bench.quality` says how often with them."""
    every = pairs()
    assert len(every) == 60
    for half in (True, False):
        some = [pair for pair in every if pair.is_held_out is half]
        told = scores(some, decided(some, [None] * len(some)))
        assert told.precision >= 0.9
        assert told.recall >= 0.85
