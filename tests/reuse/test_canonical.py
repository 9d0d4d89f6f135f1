import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.canonical import canonical
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]


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
    assert canonical(text, language).said == said


@pytest.mark.parametrize(
    ("language", "text", "folded"),
    [
        (EN, "Why can't it start; what's wrong?", "why can not it start , what is wrong"),
        (EN, "They've won, I'd say", "they have won , i would say"),
        (ES, "¿Qué más que él?", "que masque el"),
    ],
)
def test_folded_is_without_capitals_accents_and_contractions(language: Language, text: str, folded: str) -> None:
    assert canonical(text, language).folded == folded


@pytest.mark.parametrize(
    ("language", "text", "read", "asks"),
    [
        (EN, "Could you tell me the best way to prune a fig tree?", "how to prune a fig tree", "how"),
        (EN, "Is it legal to own a fox?", "can legal own a fox", "yesno"),
        (EN, "In which year did Rome fall?", "when did rome fall", "when"),
        (ES, "¿En qué año cayó Roma?", "cuando cayo roma", "when"),
        (ES, "¿Hay vida en Marte?", "hay vida en marte", "yesno"),
    ],
)
def test_one_way_of_saying_it_stands_for_several(language: Language, text: str, read: str, asks: str) -> None:
    form = canonical(text, language)
    assert (form.text, form.asks) == (read, asks)


@settings(max_examples=60)
@given(st.text(max_size=120), st.sampled_from(_LANGUAGES))
def test_any_text_has_a_canonical_form_of_single_spaces(text: str, language: Language) -> None:
    form = canonical(text, language)
    assert form.text == " ".join(form.text.split())
    assert form.said or not text.strip()
