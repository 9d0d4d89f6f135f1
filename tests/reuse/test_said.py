"""How a question is accounted for."""

import pytest

from proxy.language.language import Language
from proxy.reuse.question import analyse
from proxy.reuse.said import accounted, is_done_by_somebody
from tests.languages import EN, ES


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        (EN, "Please, what's the meaning of entropy?", "what is entropy"),
        (EN, "How much are 5kg and 1,000,000 grams?", "how much are 5 kg and 1000000 grams"),
        (EN, "How much is a Pixel 6a?", "how much is a pixel 6a"),
        (EN, "Kazakhstan's capital", "the capital of kazakhstan"),
        (ES, "Hola, soy Julián, ¿cómo salgo de vim?", "como salgo de vim"),
        (ES, "Soy celíaco, ¿qué puedo comer?", "soy celiaco , que puedo comer"),
        (ES, "¿Cómo voy al centro?", "como voy a el centro"),
    ],
)
def test_the_words_that_are_accounted_for(language: Language, text: str, words: str) -> None:
    assert " ".join(accounted(analyse(text, language)).words) == words


@pytest.mark.parametrize(
    ("text", "by_somebody"), [("¿Cómo come un gato?", True), ("¿Cómo se come un gato?", False), ("¿Qué come?", False)]
)
def test_how_it_is_done_is_not_how_somebody_does_it(text: str, *, by_somebody: bool) -> None:
    assert is_done_by_somebody(accounted(analyse(text, ES))) is by_somebody
