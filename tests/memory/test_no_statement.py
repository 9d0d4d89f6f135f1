import pytest

from proxy.language.words import plain
from proxy.memory.clauses import split
from proxy.memory.no_statement import asks, asks_for, introduces, may_state, points_back, proposes
from proxy.memory.signals import SIGNALS, folded
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("text", "is_first", "in_question", "asked"),
    [
        ("Where do I work", True, False, True),
        ("and what time does my aunt get up", False, False, True),
        ("which car do I own", False, False, True),
        ("who is my boss", True, False, True),
        ("who is my boss", False, False, False),  # "Ana, who is my boss"
        ("which do I own", False, False, True),
        ("Where I live is Cork", True, False, False),
        ("Who works with me is Ana", True, True, False),
        ("What I drive is a Fiat", True, True, False),
        ("en qué trabajo", True, True, True),
        ("qué manejo", False, True, True),
        ("qué manejo", False, False, False),
        ("que auto tengo", True, True, True),
        ("que auto tengo", False, True, False),  # "la cochera, que es chica"
        ("donde trabajo hay dos gatos", True, True, False),
    ],
)
def test_a_question_is_known_by_its_beginning(text: str, is_first: bool, in_question: bool, asked: bool) -> None:
    assert asks(text, is_first=is_first, in_question=in_question) is asked


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("Mi hermano dice", True),
        ("My brother says:", True),
        ("My brother writes:", True),
        ("Mi jefa me escribe", False),
        ("audio de mi tía", True),
        ("voice note from my aunt Rosa:", True),
        ("My brother writes", False),
        ("My brother says that I live in Cork", False),
        ("audio de mi tía sobre el asado del domingo", False),
    ],
)
def test_an_introduction_says_only_who_says_what_follows(text: str, only: bool) -> None:
    assert introduces(text) is only


@pytest.mark.parametrize(
    ("text", "is_first", "may"),
    [
        ("Does the gate open at 7?", True, False),
        ("Does the gate open at 7?", False, True),  # a clause that is tucked into a question
        ("Hello.", True, False),
        ("I rest.", True, True),
    ],
)
def test_a_clause_that_asks_or_is_a_single_word_cannot_state(text: str, is_first: bool, may: bool) -> None:
    assert may_state(split(text)[0], is_first=is_first) is may


@pytest.mark.parametrize(
    ("text", "spoken", "back"),
    [
        ("Keep that in mind", "en", True),
        ("Anotalo", "es", True),
        ("Remember that the gate opens at 7", "en", False),
        ("Don't forget I'm coeliac", "en", False),
    ],
)
def test_an_order_to_remember_may_point_at_the_text_before_it(text: str, spoken: Language, back: bool) -> None:
    assert points_back(plain(text), SIGNALS[spoken]) is back


@pytest.mark.parametrize(
    ("text", "asked", "proposed"),
    [
        ("Remind me when the war ended", True, False),
        ("Recordame cu\u00e1ndo termin\u00f3 la guerra", True, False),
        ("Remind me that the gate opens at 7", False, False),
        ("let's meet at nine", False, True),
        ("the gate opens at nine", False, False),
    ],
)
def test_an_order_may_be_a_question_and_a_clause_a_proposal(text: str, asked: bool, proposed: bool) -> None:
    assert (asks_for(folded(text)), proposes(folded(text))) == (asked, proposed)
