from collections.abc import Iterator

import pytest

from proxy.language.language import Language, Lexicon, language_of
from proxy.language.tables import groups, pairs, rewrites, shorthand
from proxy.language.words import fold
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]
each_language = pytest.mark.parametrize("language", _LANGUAGES)


def vocabulary(tables: Lexicon) -> Iterator[str]:
    for listed in (tables.function, tables.operators, tables.filler, tables.markers, tables.joins, tables.asking):
        yield from listed
    for named in (tables.numbers, tables.units):
        yield from (*named.keys(), *named.values())
    for written, meant in tables.chat.items():
        yield from (written, *meant.split())


@each_language
def test_every_word_is_folded(language: Language) -> None:
    unfolded = [word for word in vocabulary(language.lexicon) if word != fold(word)]
    assert unfolded == []


@each_language
def test_tables_are_made_once(language: Language) -> None:
    assert language_of(language.code) is language
    assert language.frames() is language.frames()


def test_each_language_has_tables_of_its_own() -> None:
    assert "dogs" not in EN.lexicon.function
    assert "with" in EN.lexicon.function - ES.lexicon.function
    assert "con" in ES.lexicon.function - EN.lexicon.function


@each_language
def test_an_operator_is_no_word_that_asks_nor_a_number(language: Language) -> None:
    tables = language.lexicon
    assert not tables.operators & (tables.asking | tables.numbers.keys())


@each_language
def test_the_first_of_a_line_stands_for_itself(language: Language) -> None:
    tables = language.lexicon
    for table in (tables.numbers, tables.units):
        assert {word: table.get(word) for word in table.values()} == {word: word for word in table.values()}


@each_language
def test_a_question_word_is_a_function_word(language: Language) -> None:
    assert language.lexicon.asking <= language.lexicon.function


@pytest.mark.parametrize(
    ("table", "word", "means"),
    [
        ("ditch moat trench\nlute", "trench", "ditch"),
        ("ditch moat trench\nlute", "ditch", "ditch"),
        ("ditch moat trench\nlute", "lute", "lute"),
    ],
)
def test_a_group_is_known_by_the_first_of_its_line(table: str, word: str, means: str) -> None:
    assert groups(table)[word] == means


def test_a_short_form_stands_for_words_or_for_none() -> None:
    assert shorthand("\noed = oxford english dictionary | pls plz = \nhw=homework\n") == {
        "oed": ("oxford", "english", "dictionary"),
        "pls": (),
        "plz": (),
        "hw": ("homework",),
    }


def test_rewrites_keep_the_order_of_their_lines() -> None:
    (first, becomes), (second, vanishes) = rewrites("\nmoats? => ditch\n ditch =>\n")
    assert first.sub(becomes, "the moats") == "the ditch"
    assert second.sub(vanishes, "the ditch") == "the "


def test_what_is_not_heard_is_written_for_nothing() -> None:
    assert pairs("ph=f gh=") == (("ph", "f"), ("gh", ""))
