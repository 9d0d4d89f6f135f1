"""A quotation in its sentence, and the clause of it that a value is about."""

from tests.memory.quotations import quoted


def test_a_quotation_stands_in_its_sentence_alone() -> None:
    said = quoted("Hi. Well, *I keep bees* in Mayo. Any tips?", "Keeps bees").said
    assert (said.before, said.quote, said.behind) == ("Well, ", "I keep bees", " in Mayo. ")


def test_the_clause_that_has_most_in_common_with_the_value_counts() -> None:
    assert quoted("we met years ago, I keep bees, so what", "Keeps bees").passage == "I keep bees"


def test_what_stands_behind_a_mark_is_another_clause() -> None:
    assert quoted("*I keep bees* in Mayo, if it is dry", "Keeps bees").goes_on == " in mayo"
    assert quoted("*I keep bees*, if it is dry", "Keeps bees").goes_on == ""


def test_a_value_tells_whether_it_is_an_order_a_plan_or_an_end() -> None:
    kinds = [
        (read.instructs, read.is_planned, read.has_ended)
        for value in ("Wants no emojis", "Is moving to Rome", "No longer smokes", "Keeps bees")
        for read in [quoted("I am", value)]
    ]
    assert kinds == [(True, True, True), (False, True, False), (False, False, True), (False, False, False)]


def test_the_author_is_told_by_the_first_person() -> None:
    assert quoted("compré un auto", "Tiene un auto").is_authors
    assert not quoted("compre un auto", "Tiene un auto").is_authors
