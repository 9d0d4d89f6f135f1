import pytest

from proxy.language.tables import function_words, named, parse, table, tables, union


def test_a_section_has_its_lines_without_comments_and_blank_ones() -> None:
    found = parse("# what it is for\n[greetings]\nhello | hi\n\n# and in the evening\ngood evening\n[farewells]\nbye\n")

    assert found == {"greetings": "hello | hi\ngood evening", "farewells": "bye"}


def test_an_indented_line_goes_on_with_the_entry_before_it() -> None:
    assert parse("[long]\none two\n  three\nfour")["long"] == "one two three\nfour"


@pytest.mark.parametrize("wrong", ["[a]\nx\n[a]\ny", "hello\n[a]\nx"])
def test_what_is_written_wrongly_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="section"):
        parse(wrong)


def test_a_section_may_be_empty() -> None:
    assert parse("[nothing]\n") == {"nothing": ""}


def test_a_group_that_is_broken_behind_a_bar_goes_on_without_a_space() -> None:
    assert parse("[long]\n(one|\n  two) three | four |\n  five")["long"] == "(one|two) three | four | five"


def test_a_union_has_the_entries_of_every_language() -> None:
    both = union("standing")["articles"].split()

    assert {"the", "las"} <= set(both)
    assert len(both) == sum(len(tables(code, "standing")["articles"].split()) for code in ("en", "es"))


def test_words_have_the_name_of_their_line() -> None:
    assert named("son: son hijo\ndaughter: hija") == {"son": "son", "hijo": "son", "hija": "daughter"}


def test_a_use_takes_words_from_the_function_words_of_a_language_that_has_that_use() -> None:
    common = frozenset(table("en", "function", "words").split())

    assert function_words("en", "detection") == common - {"even", "onto"}
    assert function_words("en", "comparison") & {"actually", "before"} == {"actually"}
    assert function_words("pt", "comparison") == function_words("fr", "detection") == frozenset()
