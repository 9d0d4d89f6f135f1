"""How a question is accounted for, and which of its phrases may change places."""

import pytest

from proxy.language.language import Language
from proxy.reuse.pairing import accounted
from proxy.reuse.question import analyse
from proxy.reuse.verdict import difference
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
    assert accounted(analyse(text, ES)).is_of_somebody is by_somebody


@pytest.mark.parametrize(
    ("language", "asked", "earlier", "same"),
    [
        (EN, "How do I permanently mute a chat?", "How do I mute a chat permanently?", True),
        (EN, "When was the Treaty of Ghent signed?", "The Treaty of Ghent was signed when?", True),
        (EN, "What time is it in Tokyo at noon in London?", "What time is it in London at noon in Tokyo?", False),
        (EN, "How do I in Excel freeze a row?", "How do I freeze a row in Excel?", True),
        (EN, "Why do not all birds fly?", "Why do all birds not fly?", False),
        (EN, "Does it take long to learn to cook in Rome?", "Does it take long to cook to learn in Rome?", False),
        (ES, "¿Los gatos por qué ronronean?", "¿Por qué los gatos ronronean?", True),
        (ES, "¿Cuándo fundó la UNAM?", "¿Cuándo se fundó la UNAM?", False),
        (ES, "¿Cuándo se poda un rosal?", "¿Cuándo podo un rosal?", True),
        (ES, "¿Pongo primero el aceite y después la sal?", "¿Pongo primero la sal y después el aceite?", False),
        (EN, "What is milk chocolate?", "What is chocolate milk?", False),
        (EN, "How do I merge dev into main?", "How do I merge main into dev?", False),
        (EN, "Who scored against Brazil for Germany?", "Who scored for Brazil against Germany?", False),
        (EN, "What is water made of?", "What is made of water?", False),
        (EN, "What is 20 percent of 85?", "20 is what percent of 85?", False),
        (EN, "Are cats or dogs cheaper?", "Are dogs or cats cheaper?", True),
        (EN, "Are cats, dogs or birds cheaper?", "Are birds, cats or dogs cheaper?", True),
        (EN, "In the winter which birds fly south?", "Which birds fly south in the winter?", True),
        (ES, "¿Por qué ronronean los gatos?", "¿Por qué los gatos ronronean?", True),
        (ES, "¿Cómo cambio de pesos a dólares?", "¿Cómo cambio a pesos de dólares?", False),
        (EN, "How long before eating should I run?", "How long should I run before eating?", False),
        (ES, "¿Cuánto antes de comer debo correr?", "¿Cuánto debo correr antes de comer?", False),
        (ES, "¿Conviene lijar y pintar?", "¿Conviene pintar y lijar?", False),
        (ES, "¿Como antes de correr o después de nadar?", "¿Como después de correr o antes de nadar?", False),
    ],
)
def test_phrases_may_move_and_the_words_in_them_may_not(
    language: Language, asked: str, earlier: str, *, same: bool
) -> None:
    questions = analyse(asked, language), analyse(earlier, language)
    assert [bool(difference(*questions)[0]), bool(difference(*questions[::-1])[0])] == [not same, not same]


@pytest.mark.parametrize(
    ("language", "asked", "earlier", "reason"),
    [
        (EN, "Who painted it?", "Who painted it?", ""),
        (EN, "What is C++?", "What is C#?", "particles"),
        (EN, "What does a for loop do?", "What does a while loop do?", "particles"),
        (ES, "¿A quién llamó Ana?", "¿Con quién llamó Ana?", "particles"),
        (ES, "¿Cómo come un gato?", "¿Cómo se come un gato?", "person"),
        (ES, "¿Cuándo fundó la UNAM?", "¿Cuándo se fundó la UNAM?", "person"),
        (EN, "How long before eating should I run?", "How long should I run before eating?", "order"),
        (EN, "What is water made of?", "What is made of water?", "order"),
        (EN, "Which bus takes 3 hours?", "Which bus takes 4 hours?", "numbers"),
        (EN, "Which bus is not late?", "Which bus is late?", "operators"),
        (EN, "Which bus is late?", "Which train is late?", "wording"),
        (ES, "¿Qué come un papá?", "¿Qué come un papa?", "wording"),
    ],
)
def test_the_reason_of_a_difference(language: Language, asked: str, earlier: str, reason: str) -> None:
    assert difference(analyse(asked, language), analyse(earlier, language))[0] == reason
