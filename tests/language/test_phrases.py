import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.phrases import expression, phrases
from proxy.language.text import plain

ENTRIES = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12)


@given(ENTRIES, st.lists(st.text("abc", min_size=1, max_size=5), max_size=6))
def test_merged_entries_find_what_a_plain_search_finds(entries: list[str], message: list[str]) -> None:
    text = plain(" ".join(message))
    assert bool(phrases(" | ".join(entries)).search(text)) == bool(set(entries) & set(message))


@pytest.mark.parametrize(
    ("table", "found", "not_found"),
    [
        ("hoy | ayer", ["hoy", "ayer"], ["hoyo", "antehoy"]),
        ("(el|la) (proxim|ultim)[oa]", ["el proximo", "la ultima"], ["proximo", "el"]),
        ("(a|b(c|d)) e", ["a e", "bc e", "bd e"], ["b e", "c e"]),
        ("textos? | texto largo", ["texto", "textos", "texto largo"], ["text"]),
        ("ab?c | abd", ["ac", "abc", "abd"], ["ab"]),
        ("now(?! that )", ["now", "now what"], ["now that"]),
        ("(b )?a(c)?", ["a", "ac", "b a"], ["b", "bc"]),
        ("a\nb | c", ["a", "b", "c"], ["d"]),
    ],
)
def test_entries_are_expressions_for_whole_words(table: str, found: list[str], not_found: list[str]) -> None:
    pattern = phrases(table)
    assert all(pattern.search(plain(text)) for text in found)
    assert not any(pattern.search(plain(text)) for text in not_found)


def test_an_opening_is_found_only_where_a_sentence_begins() -> None:
    pattern = phrases("hay", opening=True)
    assert pattern.search(plain("Hola, ¿hay clases?"))
    assert not pattern.search(plain("¿Qué hay?"))


def test_names_in_an_expression_stand_for_the_entries_of_their_tables() -> None:
    pattern = expression({"animals": "cats? | {birds}", "birds": "hen | duck"}, r"\b{animals}\b.{1,3}!")

    assert [bool(pattern.search(text)) for text in ("a cat ?!", "hen !", "henna !", "a pig !")] == [
        True,
        True,
        False,
        False,
    ]
