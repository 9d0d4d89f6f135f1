import pytest

from proxy.reuse.lexicon import Language
from proxy.reuse.tense import Tense, tense_of, tense_of_verb


@pytest.mark.parametrize(
    ("language", "text", "tense"),
    [
        ("en", "what is a tithe", "present"),
        ("en", "what was a tithe", "past"),
        ("en", "did owls nest here", "past"),
        ("en", "had owls nested here", "past"),
        ("en", "owls have nested here", "perfect"),
        ("en", "what has been built here", "perfect"),
        ("en", "what will the moon do", "future"),
        ("en", "what is going to bloom", "future"),
        ("en", "who used to nest here", "used to"),
        ("en", "what is salt used to preserve", "present"),  # used for it, not formerly
        ("en", "what was salt used to preserve", "past"),
        ("en", "where do i sell a used lute", "present"),
        ("en", "is chess becoming popular", "becoming"),
        ("en", "who has a lute", "present"),
        ("en", "what was the best film of 2016", "present"),  # that is named: it still is
        ("en", "what is the funniest joke you have ever heard", "present"),
        ("en", "what was the film of 2016", "past"),
        ("en", "what was the best film", "past"),
        ("en", "what will be the best film of 2030", "future"),
        ("es", "cual fue la mejor pelicula de 2016", "present"),
        ("es", "cual fue la pelicula de 2016", "past"),
        ("es", "cual fue la mejor pelicula", "past"),
        ("es", "que es un diezmo", "present"),
        ("es", "que era un diezmo", "past"),
        ("es", "hubo lobos en la isla", "past"),
        ("es", "que sera de la isla", "future"),
        ("es", "va a nevar", "future"),
        ("es", "van a cerrar los puertos", "future"),
        ("es", "va a casa", "present"),  # a place, no verb
        ("es", "what was a tithe", "present"),  # another language's words
        ("en", "que era un diezmo", "present"),
    ],
)
def test_a_question_has_the_time_of_its_auxiliaries(language: Language, text: str, tense: Tense) -> None:
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
def test_a_spanish_verb_has_the_time_of_its_ending(written: str, tense: Tense) -> None:
    assert tense_of_verb(written) == tense
