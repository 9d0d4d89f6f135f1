import pytest

from proxy.language.language import Language
from proxy.reuse.question import tense_of
from proxy.reuse.roles import tense_of_verb
from tests.languages import EN, ES


@pytest.mark.parametrize(
    ("language", "text", "tense"),
    [
        (EN, "what is a tithe", "present"),
        (EN, "what was a tithe", "past"),
        (EN, "did owls nest here", "past"),
        (EN, "had owls nested here", "past"),
        (EN, "owls have nested here", "perfect"),
        (EN, "what has been built here", "perfect"),
        (EN, "what will the moon do", "future"),
        (EN, "what is going to bloom", "future"),
        (EN, "who used to nest here", "used to"),
        (EN, "what is salt used to preserve", "present"),  # used for it, not formerly
        (EN, "what was salt used to preserve", "past"),
        (EN, "where do i sell a used lute", "present"),
        (EN, "is chess becoming popular", "becoming"),
        (EN, "who has a lute", "present"),
        (EN, "what was the best film of 2016", "present"),  # that is named: it still is
        (EN, "what is the funniest joke you have ever heard", "present"),
        (EN, "what was the film of 2016", "past"),
        (EN, "what was the best film", "past"),
        (EN, "what will be the best film of 2030", "future"),
        (ES, "cual fue la mejor pelicula de 2016", "present"),
        (ES, "cual fue la pelicula de 2016", "past"),
        (ES, "cual fue la mejor pelicula", "past"),
        (ES, "que es un diezmo", "present"),
        (ES, "que era un diezmo", "past"),
        (ES, "hubo lobos en la isla", "past"),
        (ES, "que sera de la isla", "future"),
        (ES, "va a nevar", "future"),
        (ES, "van a cerrar los puertos", "future"),
        (ES, "va a casa", "present"),  # a place, no verb
        (ES, "what was a tithe", "present"),  # another language's words
        (EN, "que era un diezmo", "present"),
    ],
)
def test_a_question_has_the_time_of_its_auxiliaries(language: Language, text: str, tense: str) -> None:
    assert tense_of(text, language) == tense


@pytest.mark.parametrize(
    ("written", "tense"),
    [
        ("florece", "present"),
        ("floreció", "past"),
        ("comieron", "past"),
        ("nevaron", "past"),
        ("nevaba", "past"),
        ("nevaban", "past"),
        ("vivía", "past"),
        ("vivían", "past"),
        ("nevará", "future"),
        ("vivirán", "future"),
        ("floreceré", "future"),
        ("viviremos", "future"),
        ("nevar", "present"),
        ("tranvía", "present"),  # nouns that end like verbs
        ("día", "present"),
        ("remos", "present"),
        ("bambú", "present"),
    ],
)
def test_a_spanish_verb_has_the_time_of_its_ending(written: str, tense: str) -> None:
    assert tense_of_verb(written, ES) == tense
