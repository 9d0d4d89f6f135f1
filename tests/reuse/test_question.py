import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.reuse.lexicon import Language
from proxy.reuse.question import MAX_WORDS, analyse

_LANGUAGES: list[Language] = ["en", "es"]


def lemmas(text: str, language: Language) -> list[str]:
    return [token.lemma for token in analyse(text, language).content]


@pytest.mark.parametrize(
    ("language", "plain", "dressed"),
    [
        ("en", "How do I prune a fig tree?", "Hello! How do I prune a fig tree? Thanks a lot."),
        ("en", "How do I prune a fig tree?", "Could you please tell me how to prune a fig tree?"),
        ("en", "How do I prune a fig tree?", "waht is the best way to prune a fig tree"),
        ("es", "¿Cómo podo una higuera?", "¡Hola! ¿Cómo podo una higuera? Muchas gracias."),
        ("es", "¿Cómo podo una higuera?", "¿Me podrías explicar cómo podo una higuera?"),
        ("es", "¿Qué es una higuera?", "¿Qué significa una higuera?"),
        ("es", "¿Qué es una higuera?", "ke es una higuera"),
    ],
)
def test_courtesy_frames_and_chat_spelling_leave_the_same_content(language: Language, plain: str, dressed: str) -> None:
    assert lemmas(plain, language) == lemmas(dressed, language)
    assert analyse(plain, language).asks == analyse(dressed, language).asks


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        ("en", "Do you think Ada B. Lovelace will make a good U.S. President?", {"ada", "lovelace", "president"}),
        ("en", "I am pregnant. Can I eat brie?", {"pregnant", "eat", "brie"}),
        ("es", "Soy celíaco. ¿Puedo comer avena?", {"celiaco", "comer", "avena"}),
    ],
)
def test_what_the_answer_depends_on_is_kept(language: Language, text: str, kept: set[str]) -> None:
    assert kept <= set(lemmas(text, language))


@pytest.mark.parametrize(
    ("language", "text", "asks"),
    [
        ("en", "How many strings has a lute?", "how_many"),
        ("en", "How long does plaster take to dry?", "how_long"),
        ("en", "What is the difference between a lute and a guitar?", "difference"),
        ("en", "How come the sea is salty?", "why"),
        ("en", "In winter, what do hedgehogs eat?", "what"),
        ("en", "What should I check when buying a lute?", "what"),
        ("en", "Is the sea salty?", "yesno"),
        ("es", "¿Cuántas cuerdas tiene un laúd?", "how_many"),
        ("es", "¿Cuánto tarda en secar el yeso?", "how_long"),
        ("es", "¿A qué se debe que el mar sea salado?", "why"),
        ("es", "¿Qué reviso cuando compro un laúd?", "what"),
        ("es", "¿Es salado el mar?", "yesno"),
    ],
)
def test_a_question_asks_for_one_kind_of_answer(language: Language, text: str, asks: str) -> None:
    assert analyse(text, language).asks == asks


@pytest.mark.parametrize(
    ("language", "text", "numbers"),
    [
        ("en", "Is 1,500 more than twenty five?", ("1500", "25")),
        ("en", "What is 20 percent of 85?", ("20", "85")),
        ("en", "20 is what percent of 85?", ("20", "?", "85")),
        ("en", "How far is 5km?", ("5",)),
        ("en", "Is the Nexus 6b out of stock?", ()),
        ("es", "¿Cuánto es 1.500 más veinte?", ("1500", "20")),
        ("es", "¿Cuánto son 3,5 litros?", ("3.5",)),
    ],
)
def test_numbers_are_read_in_their_order(language: Language, text: str, numbers: tuple[str, ...]) -> None:
    assert analyse(text, language).numbers == numbers


def test_a_model_name_with_a_letter_is_one_word() -> None:
    assert "6b" in lemmas("Is the Nexus 6b out of stock?", "en")


@pytest.mark.parametrize(
    ("language", "text", "tense"),
    [
        ("en", "Who did paint it?", "past"),
        ("en", "Will it rain frogs?", "future"),
        ("en", "Is a spoon used to stir?", "present"),
        ("en", "Did she used to sing?", "used to"),
        ("es", "¿Quién fue Averroes?", "past"),
        ("es", "¿Va a durar la tela?", "future"),
        ("es", "¿Qué es la tela?", "present"),
    ],
)
def test_auxiliaries_tell_the_tense(language: Language, text: str, tense: str) -> None:
    assert analyse(text, language).tense == tense


@pytest.mark.parametrize("text", ["word " * (MAX_WORDS + 1), "x" * 100_000, "¿" * 100_000, "a.b " * 5_000])
def test_what_is_too_long_is_not_read(text: str) -> None:
    question = analyse(text, "en")
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
