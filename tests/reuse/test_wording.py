"""Which questions consist of the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import analyse
from proxy.reuse.wording import rewording
from tests.languages import EN, ES


def differs(language: Language, asked: str, earlier: str) -> bool:
    questions = analyse(asked, language), analyse(earlier, language)
    both_ways = {bool(rewording(*questions)), bool(rewording(*questions[::-1]))}
    assert len(both_ways) == 1
    return both_ways.pop()


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "How do I clean a cast iron pan?", "how do i claen a cast iron pan"),
        (EN, "How do I clean a cast iron pan?", "how do i clean a cast-iron pan"),
        (EN, "Why doesn't oil mix with water?", "why doesnt oil mix with water"),
        (EN, "How does photosynthesis work?", "How does fotosynthesis work?"),
        (EN, "Which colours do cats see?", "Which colors do cats see?"),
        (EN, "How do I organise my books?", "How do I organize my books?"),
        (EN, "How do I sort a list in Java?", "In Java, how do I sort a list?"),
        (EN, "What is a torque wrench?", "Hi! Could you tell me what is a torque wrench please? Thanks"),
        (EN, "What does a notary do?", "Can you explain what does a notary do"),
        (EN, "How do two magnets attract?", "How do 2 magnets attract?"),
        (EN, "How do I update Firefox?", "How do I update Fire fox?"),
        (ES, "¿Cómo limpio una sartén de hierro?", "como limpio una sarten de hierro"),
        (ES, "¿Qué vitaminas tienen las espinacas?", "que vitaminas tienen las espinakas"),
        (ES, "¿Qué es una llave dinamométrica?", "Hola, ¿me podrías decir qué es una llave dinamométrica? Gracias"),
        (ES, "Antes de comprar un coche, ¿qué miro?", "¿Qué miro antes de comprar un coche?"),
    ],
)
def test_spelling_order_and_wrappers_are_no_other_words(language: Language, asked: str, earlier: str) -> None:
    assert not differs(language, asked, earlier)


@pytest.mark.parametrize(
    ("language", "asked", "earlier"),
    [
        (EN, "Is it better to fly?", "Is it worse to fly?"),
        (EN, "How do mobile phones work?", "How do cell phones work?"),  # known synonyms
        (EN, "How do I earn money?", "How do I make money?"),
        (EN, "Are all owls wise?", "Are some owls wise?"),
        (EN, "How do I clean a pan?", "How do I clean pans?"),
        (EN, "Who wins the cup?", "Who won the cup?"),
        (EN, "What are enzymes?", "What are enzymes for?"),
        (EN, "What is a good recipe for lasagna?", "What is a good vegan recipe for lasagna?"),
        (EN, "Can I pay online?", "Must I pay online?"),
        (EN, "How do I clean a desert rose?", "How do I clean a dessert rose?"),
        (EN, "What is the best way to clean a pan?", "How do I clean a pan?"),
        (EN, "How do I install numpys?", "How do I install numpy?"),
        (EN, "How do typed arrays work?", "How do untyped arrays work?"),
        (EN, "How do I filed a complaint?", "How do I filled a complaint?"),
        (EN, "Is mourning long?", "Is morning long?"),
        (ES, "¿Cómo aumento la memoria?", "¿Cómo reduzco la memoria?"),
        (ES, "¿Quién gana el torneo?", "¿Quién ganará el torneo?"),
        (ES, "¿Qué son las enzimas?", "¿Para qué son las enzimas?"),
        (ES, "¿Cómo renombro una columna?", "¿Cómo renombro columnas?"),
        (ES, "¿Cómo hacer dinero?", "¿Cómo ganar dinero?"),
    ],
)
def test_a_word_that_is_replaced_added_or_inflected_is_a_difference(
    language: Language, asked: str, earlier: str
) -> None:
    assert differs(language, asked, earlier)


@given(st.text(max_size=80), st.sampled_from([EN, ES]))
def test_no_text_differs_from_itself(text: str, language: Language) -> None:
    assert not differs(language, text, text)
