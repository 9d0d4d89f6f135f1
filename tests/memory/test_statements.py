"""What a statement is filed under. Whole statements: test_extract.py."""

import pytest

from proxy.memory.analysis import analyse
from proxy.memory.joining import LONGEST, Run
from proxy.memory.passages import read
from proxy.memory.statements import key, statement, topical


@pytest.mark.parametrize(
    ("value", "about"),
    [
        ("My boat is called Red Kite", ["boat", "called", "red", "kite"]),
        ("El bote cuesta 900 euros", ["bote", "cuesta", "euros"]),
        ("it is 42", []),
    ],
)
def test_a_value_is_about_its_words_that_are_neither_numbers_nor_of_grammar(value: str, about: list[str]) -> None:
    assert topical(value) == about


@pytest.mark.parametrize(
    ("value", "slot", "about", "standing", "expected"),
    [
        ("I live in Cork", "residence", "residence", False, "residence"),
        ("vivo en Tandil", "residence", "residence", False, "residence"),
        ("my son is allergic to nuts", "allergy-", "allergy", False, "son-allergy-allergic-nuts"),
        ("soy alérgico al maní", "allergy-", "allergy", False, "allergy-alergico-mani"),
        ("the shed costs $900", "", "money", False, "money-shed-costs"),
        ("always answer in English", "", "instruction", True, "rule-language"),
        ("never use emojis", "", "instruction", True, "rule-emoji"),
    ],
)
def test_a_key_is_holder_attribute_and_subject(
    value: str, slot: str, about: str, standing: bool, expected: str
) -> None:
    assert key(analyse(value), slot, about, value, standing=standing) == expected


@pytest.mark.parametrize(
    ("said", "domain", "stance", "pinned"),
    [
        ("I work at a bank in Leeds.", "work", "states", False),
        ("We decided to use MariaDB 11.", "decisions", "states", False),
        ("Always answer in English.", "preferences", "states", True),
        ("Ya no soy vegana.", "personal", "ends", False),
        ("We're still going with MariaDB 11.", "decisions", "keeps", False),
    ],
)
def test_a_statement_has_a_domain_and_says_whether_it_ends_another(
    said: str, domain: str, stance: str, pinned: bool
) -> None:
    made = statement(Run(tuple(read(said))))
    assert (made.domain, made.stance, made.pinned) == (domain, stance, pinned)


def test_a_value_is_no_longer_than_two_joined_clauses_may_be() -> None:
    (clause,) = read(f"My shed is {'very ' * LONGEST}red")
    assert len(statement(Run((clause,))).value) == 2 * LONGEST
