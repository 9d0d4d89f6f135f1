import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import MAX_WORDS, analyse
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]


def lemmas(text: str, language: Language) -> list[str]:
    return [token.lemma for token in analyse(text, language).content]


@pytest.mark.parametrize(
    ("language", "plain", "dressed"),
    [
        (EN, "How do I prune a fig tree?", "Hello! How do I prune a fig tree? Thanks a lot."),
        (EN, "How do I prune a fig tree?", "Could you please tell me how to prune a fig tree?"),
        (EN, "How do I prune a fig tree?", "waht is the best way to prune a fig tree"),
        (ES, "¿Cómo podo una higuera?", "¡Hola! ¿Cómo podo una higuera? Muchas gracias."),
        (ES, "¿Cómo podo una higuera?", "¿Me podrías explicar cómo podo una higuera?"),
        (ES, "¿Qué es una higuera?", "¿Qué significa una higuera?"),
        (ES, "¿Qué es una higuera?", "ke es una higuera"),
    ],
)
def test_courtesy_frames_and_chat_spelling_leave_the_same_content(language: Language, plain: str, dressed: str) -> None:
    assert lemmas(plain, language) == lemmas(dressed, language)
    assert analyse(plain, language).asks == analyse(dressed, language).asks


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        (EN, "Do you think Ada B. Lovelace will make a good U.S. President?", {"ada", "lovelace", "president"}),
        (EN, "I am pregnant. Can I eat brie?", {"pregnant", "eat", "brie"}),
        (ES, "Soy celíaco. ¿Puedo comer avena?", {"celiaco", "comer", "avena"}),
    ],
)
def test_what_the_answer_depends_on_is_kept(language: Language, text: str, kept: set[str]) -> None:
    assert kept <= set(lemmas(text, language))


@pytest.mark.parametrize(
    ("language", "text", "asks"),
    [
        (EN, "How many strings has a lute?", "how_many"),
        (EN, "How long does plaster take to dry?", "how_long"),
        (EN, "What is the difference between a lute and a guitar?", "difference"),
        (EN, "How come the sea is salty?", "why"),
        (EN, "In winter, what do hedgehogs eat?", "what"),
        (EN, "What should I check when buying a lute?", "what"),
        (EN, "Is the sea salty?", "yesno"),
        (ES, "¿Cuántas cuerdas tiene un laúd?", "how_many"),
        (ES, "¿Cuánto tarda en secar el yeso?", "how_long"),
        (ES, "¿A qué se debe que el mar sea salado?", "why"),
        (ES, "¿Qué reviso cuando compro un laúd?", "what"),
        (ES, "¿Es salado el mar?", "yesno"),
    ],
)
def test_a_question_asks_for_one_kind_of_answer(language: Language, text: str, asks: str) -> None:
    assert analyse(text, language).asks == asks


@pytest.mark.parametrize(
    ("language", "text", "numbers"),
    [
        (EN, "Is 1,500 more than twenty five?", ("1500", "25")),
        (EN, "What is 20 percent of 85?", ("20", "85")),
        (EN, "20 is what percent of 85?", ("20", "?", "85")),
        (EN, "How far is 5km?", ("5",)),
        (EN, "Is the Nexus 6b out of stock?", ()),
        (ES, "¿Cuánto es 1.500 más veinte?", ("1500", "20")),
        (ES, "¿Cuánto son 3,5 litros?", ("3.5",)),
    ],
)
def test_numbers_are_read_in_their_order(language: Language, text: str, numbers: tuple[str, ...]) -> None:
    assert analyse(text, language).numbers == numbers


def test_a_model_name_with_a_letter_is_one_word() -> None:
    assert "6b" in lemmas("Is the Nexus 6b out of stock?", EN)


@pytest.mark.parametrize(
    ("language", "text", "tense"),
    [
        (EN, "Who did paint it?", "past"),
        (EN, "Will it rain frogs?", "future"),
        (EN, "Is a spoon used to stir?", "present"),
        (EN, "Did she used to sing?", "used to"),
        (ES, "¿Quién fue Averroes?", "past"),
        (ES, "¿Va a durar la tela?", "future"),
        (ES, "¿Qué es la tela?", "present"),
    ],
)
def test_auxiliaries_tell_the_tense(language: Language, text: str, tense: str) -> None:
    assert analyse(text, language).tense == tense


@pytest.mark.parametrize("text", ["word " * (MAX_WORDS + 1), "x" * 100_000, "¿" * 100_000, "a.b " * 5_000])
def test_what_is_too_long_is_not_read(text: str) -> None:
    question = analyse(text, EN)
    assert question.is_long
    assert question.tokens == ()


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=300) | st.text(string.punctuation + string.digits + "  ¿¡'\u2019", max_size=300),
    st.sampled_from(_LANGUAGES),
)
def test_any_text_can_be_read(text: str, language: Language) -> None:
    question = analyse(text, language)
    assert [token.position for token in question.tokens] == list(range(len(question.tokens)))
