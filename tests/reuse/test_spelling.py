import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import mended
from tests.examples import examples
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]


@pytest.mark.parametrize(
    ("language", "written", "meant"),
    [
        (EN, "waht is a moat", "what is a moat"),
        (EN, "wich moat is deeper", "which moat is deeper"),
        (EN, "hw do yu prune", "how do you prune"),
        (EN, "becuase of the frost", "because of the frost"),  # swapped
        (EN, "withuot frost", "without frost"),
        (EN, "beforre the frost", "before the frost"),  # doubled
        (EN, "befor the frost", "before the frost"),  # missing
        (EN, "withoyt frost", "without frost"),  # wrong
        (ES, "ke ase un fiscal", "que hace un fiscal"),
        (ES, "komo ago pan", "como hago pan"),
        (ES, "xq flota el corcho", "por que flota el corcho"),
        (ES, "cuadno florece", "cuando florece"),
        (ES, "antess de podar", "antes de podar"),
        (ES, "tieen corcho", "tiene corcho"),  # swapped, rather than one missing of "tienen"
        (ES, "depues de podar", "despues de podar"),
        (ES, "mientrad poda", "mientras poda"),
    ],
)
def test_a_mistyped_grammar_word_is_mended(language: Language, written: str, meant: str) -> None:
    assert mended(written, language) == meant


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (EN, "then thin farm form"),  # words in their own right, whatever they are near to
        (EN, "why is ethan here"),  # one letter more than "than"
        (EN, "baetween oaks"),
        (EN, "ow oaks"),  # too short to tell
        (EN, "befor3 c3po"),
        (EN, "cefore ithout"),  # the first letter is seldom wrong
        (EN, "chissel lettuse"),  # content is not mended here
        (ES, "pero perro asta hasta"),
        (ES, "cuano florece"),  # "cuanto" or "cuando"
        (ES, "sincel lechuca"),
    ],
)
def test_what_is_no_mistyped_grammar_word_is_left_alone(language: Language, text: str) -> None:
    assert mended(text, language) == text


@pytest.mark.parametrize("language", _LANGUAGES)
def test_grammar_words_are_not_mended_into_each_other(language: Language) -> None:
    tables = language.lexicon
    chat = tables.chat.keys() - tables.chat.values()
    grammar = (tables.function | tables.asking | tables.operators) - chat
    assert {word: mended(word, language) for word in grammar} == {word: word for word in grammar}


letters = st.text("abcdehiknoqrstuwy", min_size=1, max_size=9)


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(_LANGUAGES), st.lists(letters, max_size=5).map(" ".join))
def test_what_is_mended_stays_as_it_is(language: Language, text: str) -> None:
    once = mended(text, language)
    assert mended(once, language) == once
