import pytest

from proxy.memory.passages import read, read_ordered


def test_a_passage_that_only_asks_has_no_clauses() -> None:
    assert read("Does the gate open at 7? Why not at 8?") == []


def test_each_clause_is_read_beside_the_others_of_its_sentence() -> None:
    first, second, third = read("I live in Cork and I bake bread. Vivo sola.")
    assert [each.is_first for each in (first, second, third)] == [True, False, True]
    assert {each.spoken for each in (first, second, third)} == {first.spoken}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I live in Leeds and I bake bread", [True, True]),
        ("I live in Leeds, so suggest a name for my bakery", [True, False]),
        ("blah blub", [True]),  # whatever the models say of it
    ],
)
def test_what_is_ordered_is_kept_up_to_where_something_else_is_asked(said: str, kept: list[bool]) -> None:
    found = read_ordered(said, is_rule=False)
    assert [each.kept for each in found] == kept
    assert all(each.explicit and not each.standing for each in found)
    assert "instruction" not in {each.guess.about for each in found}


def test_a_rule_is_an_instruction_for_every_answer() -> None:
    (rule,) = read_ordered("answer in English", is_rule=True)
    assert (rule.kept, rule.standing, rule.guess.about) == (True, True, "instruction")
