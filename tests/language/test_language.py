from collections.abc import Iterator

import pytest

from proxy.language.language import Language, Lexicon, language_of
from proxy.language.tables import groups, kinds, pairs, rewrites, shorthand, suffixes
from proxy.language.text import fold
from proxy.reuse.question import analyse
from tests.languages import EN, ES

_LANGUAGES: list[Language] = [EN, ES]
each_language = pytest.mark.parametrize("language", _LANGUAGES)


def vocabulary(tables: Lexicon) -> Iterator[str]:
    for listed in (tables.function, tables.filler, tables.optional, tables.praise, tables.asking):
        yield from listed
    yield from tables.markers | tables.conditions
    for named in (tables.operators, tables.numbers, tables.synonyms, tables.pronouns, tables.joins, tables.units):
        yield from (*named.keys(), *named.values())
    for written, meant in tables.chat.items():
        yield from (written, *meant.split())
    for short, long in tables.short.items():
        yield from (short, *long)


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
def test_an_operator_is_never_a_word_that_may_be_missing_or_means_something_else(language: Language) -> None:
    tables = language.lexicon
    for others in (tables.optional, tables.praise, tables.asking, tables.synonyms, tables.numbers, tables.pronouns):
        assert not tables.operators.keys() & set(others)


@each_language
def test_an_operator_is_read_as_one_though_it_is_listed_as_a_function_word_too(language: Language) -> None:
    tables = language.lexicon
    for word in tables.operators.keys() & tables.function:
        assert tables.operators[word] in analyse(f"granite {word} basalt", language).operators


@each_language
def test_the_first_of_a_line_stands_for_itself(language: Language) -> None:
    tables = language.lexicon
    for table in (tables.operators, tables.numbers, tables.synonyms, tables.units, tables.pronouns):
        assert {word: table.get(word) for word in table.values()} == {word: word for word in table.values()}


@each_language
def test_a_condition_is_a_marker_and_a_question_word_a_function_word(language: Language) -> None:
    tables = language.lexicon
    assert tables.conditions <= tables.markers
    assert tables.asking <= tables.function


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        (EN, "how many strings has a lute", "how_many"),
        (EN, "how much flour", "how_much"),
        (EN, "how deep is a moat", "how_adj"),
        (EN, "how do moats fill", "how"),
        (EN, "difference between a moat and a ditch", "difference"),
        (EN, "what is a moat and where", "what"),
        (EN, "the showers", ""),
        (ES, "cuanto tarda un roble", "how_long"),
        (ES, "cuantas cuerdas tiene un laud", "how_many"),
        (ES, "cuanta harina", "how_much"),
        (ES, "por que flota el corcho", "why"),
        (ES, "con quien canta", "who"),
        (ES, "de donde viene el corcho y que es", "where"),
        (ES, "los quesos", ""),
    ],
)
def test_the_first_kind_found_is_what_a_question_asks_for(language: Language, text: str, kind: str) -> None:
    assert next((rule.form for rule in language.lexicon.kinds if rule.found_in(text)), "") == kind


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


def test_a_kind_is_found_in_whole_words_only() -> None:
    ((pattern, name),) = kinds("who: who(?:m)?")
    assert name == "who"
    assert pattern.search("to whom")
    assert not pattern.search("whose")
    assert not pattern.search("the who-is-who")


@pytest.mark.parametrize(("word", "left"), [("boxes", "box"), ("lutes", "lut"), ("sons", "son"), ("escape", "escape")])
def test_the_longest_ending_is_taken_off_and_only_at_the_end(word: str, left: str) -> None:
    assert suffixes("s es").sub("", word) == left


def test_what_is_not_heard_is_written_for_nothing() -> None:
    assert pairs("ph=f gh=") == (("ph", "f"), ("gh", ""))
