import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.reuse.lexicon import Language, lexicon
from proxy.reuse.spelling import mended

_LANGUAGES: list[Language] = ["en", "es"]


@pytest.mark.parametrize(
    ("language", "written", "meant"),
    [
        ("en", "waht is a moat", "what is a moat"),
        ("en", "wich moat is deeper", "which moat is deeper"),
        ("en", "hw do yu prune", "how do you prune"),
        ("en", "becuase of the frost", "because of the frost"),  # swapped
        ("en", "withuot frost", "without frost"),
        ("en", "beforre the frost", "before the frost"),  # doubled
        ("en", "befor the frost", "before the frost"),  # missing
        ("en", "withoyt frost", "without frost"),  # wrong
        ("es", "ke ase un fiscal", "que hace un fiscal"),
        ("es", "komo ago pan", "como hago pan"),
        ("es", "xq flota el corcho", "por que flota el corcho"),
        ("es", "cuadno florece", "cuando florece"),
        ("es", "antess de podar", "antes de podar"),
        ("es", "tieen corcho", "tiene corcho"),  # swapped, rather than one missing of "tienen"
        ("es", "depues de podar", "despues de podar"),
        ("es", "mientrad poda", "mientras poda"),
    ],
)
def test_a_mistyped_grammar_word_is_mended(language: Language, written: str, meant: str) -> None:
    assert mended(written, language) == meant


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "then thin farm form"),  # words in their own right, whatever they are near to
        ("en", "why is ethan here"),  # one letter more than "than"
        ("en", "baetween oaks"),
        ("en", "ow oaks"),  # too short to tell
        ("en", "befor3 c3po"),
        ("en", "cefore ithout"),  # the first letter is seldom wrong
        ("en", "chissel lettuse"),  # content is not mended here
        ("es", "pero perro asta hasta"),
        ("es", "cuano florece"),  # "cuanto" or "cuando"
        ("es", "sincel lechuca"),
    ],
)
def test_what_is_no_mistyped_grammar_word_is_left_alone(language: Language, text: str) -> None:
    assert mended(text, language) == text


@pytest.mark.parametrize("language", _LANGUAGES)
def test_grammar_words_are_not_mended_into_each_other(language: Language) -> None:
    tables = lexicon(language)
    chat = tables.chat.keys() - tables.chat.values()
    grammar = (tables.function | tables.asking | tables.operators.keys()) - chat
    assert {word: mended(word, language) for word in grammar} == {word: word for word in grammar}


letters = st.text("abcdehiknoqrstuwy", min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_LANGUAGES), st.lists(letters, max_size=5).map(" ".join))
def test_what_is_mended_stays_as_it_is(language: Language, text: str) -> None:
    once = mended(text, language)
    assert mended(once, language) == once
