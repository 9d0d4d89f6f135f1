import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import MAX_WORDS, analyse
from tests.examples import examples
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]


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
def test_courtesy_frames_and_chat_spelling_leave_the_same_text(language: Language, plain: str, dressed: str) -> None:
    assert analyse(plain, language).text == analyse(dressed, language).text


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        (EN, "Do you think Ada B. Lovelace will make a good U.S. President?", ["ada", "lovelace", "president"]),
        (EN, "I am pregnant. Can I eat brie?", ["pregnant", "eat", "brie"]),
        (EN, "Is the Nexus 6b out of stock?", ["6b"]),
        (ES, "Soy celíaco. ¿Puedo comer avena?", ["celiaco", "comer", "avena"]),
    ],
)
def test_what_the_answer_depends_on_is_kept(language: Language, text: str, kept: list[str]) -> None:
    assert set(kept) <= set(analyse(text, language).text.split())


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        (EN, "Hello! How do I prune a fig tree? Thanks a lot.", "How do I prune a fig tree?"),
        (EN, "I am pregnant. Can I eat brie?", "I am pregnant. Can I eat brie?"),
        (EN, "Thanks a lot!", "Thanks a lot!"),
        (EN, "Whaaaat is \u201centropy\u201d?", 'What is "entropy"?'),
        (ES, "¡Hola! ¿Cómo podo una higuera? Muchas gracias.", "Cómo podo una higuera?"),
        (ES, "Para mi abuela: ¿cómo se hace pan?", "Para mi abuela: cómo se hace pan?"),
    ],
)
def test_what_says_nothing_is_left_out_unless_nothing_else_is_said(language: Language, text: str, said: str) -> None:
    assert analyse(text, language).said == said


@pytest.mark.parametrize(
    ("language", "text", "folded"),
    [
        (EN, "Why can't it start; what's wrong?", "why can not it start , what is wrong"),
        (EN, "They've won, I'd say", "they have won , i would say"),
        (ES, "¿Qué más que él?", "que masque el"),
    ],
)
def test_folded_is_without_capitals_accents_and_contractions(language: Language, text: str, folded: str) -> None:
    assert analyse(text, language).folded == folded


@pytest.mark.parametrize(
    ("language", "text", "read"),
    [
        (EN, "Could you tell me the best way to prune a fig tree?", "how to prune a fig tree"),
        (EN, "Is it legal to own a fox?", "can legal own a fox"),
        (EN, "In which year did Rome fall?", "when did rome fall"),
        (ES, "¿En qué año cayó Roma?", "cuando cayo roma"),
        (ES, "¿Hay vida en Marte?", "hay vida en marte"),
    ],
)
def test_one_way_of_saying_it_stands_for_several(language: Language, text: str, read: str) -> None:
    assert analyse(text, language).text == read


@pytest.mark.parametrize("text", ["word " * (MAX_WORDS + 1), "x" * 100_000, "¿" * 100_000, "a.b " * 5_000])
def test_what_is_too_long_is_not_read(text: str) -> None:
    question = analyse(text, EN)
    assert question.is_long
    assert question.text == ""


@settings(max_examples=examples(150), deadline=None)
@given(
    st.text(max_size=300) | st.text(string.punctuation + string.digits + "  ¿¡'\u2019", max_size=300),
    st.sampled_from(_LANGUAGES),
)
def test_any_text_has_a_canonical_form_of_single_spaces(text: str, language: Language) -> None:
    question = analyse(text, language)
    assert question.text == " ".join(question.text.split())
    assert question.said or question.is_long or not text.strip()
