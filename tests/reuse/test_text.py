import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.text import phrases, plain, sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", " . "),
        ("...", " . "),
        ("Well... yes", " . well . yes . "),
        ("Hola", " . hola . "),
        ("¿Qué MAÑANA?", " . ? que manana ? . "),
        ("man\u0303ana", " . manana . "),
        ("a.b datetime.now() 9.500", " . a.b datetime.now( , 9.500 . "),
        ("(now) now()", " . ( now , now( , . "),
        ("One. Two.", " . one . two . "),
        ("It\u2019s", " . it's . "),
        ("**hoy**", " . hoy . "),
        ('What does "today" mean?', " . what does quoted mean ? . "),
        ("¿Qué significa «hoy»?", " . ? que significa quoted ? . "),
        ("don't say 'now', won't you", " . don't say quoted , won't you . "),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text(max_size=200))
def test_plain_text_has_single_spaces_and_stands_between_marks(text: str) -> None:
    result = plain(text)
    assert "  " not in result
    assert result.startswith(" . ")
    assert result.endswith(" . ")


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


def test_a_sentence_is_what_stands_between_marks() -> None:
    text = plain("Hola. ¿Qué es hoy? Chau.")
    assert sentence(text, text.index(" hoy")) == " que es hoy "
    assert sentence(text, text.index(" hola")) == " hola "
    assert sentence(text, text.index(" chau")) == " chau "
