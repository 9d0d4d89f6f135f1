"""Where a clause may begin, and what is told of one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.clauses import boundaries, features, may_begin, must_begin, sentences, tokens


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I live in Cork. It rains!", ["I live in Cork.", " It rains!"]),
        ("Vivo acá. ¿Llueve?", ["Vivo acá.", "¿Llueve?"]),
        ("One line\nanother", ["One line\n", "another"]),
        ("Dr. Poe and Mrs. Paz, vs. me etc. and so on", ["Dr. Poe and Mrs. Paz, vs. me etc. and so on"]),
        ("La Dra. Paz vive en Av. Mitre 3.5", ["La Dra. Paz vive en Av. Mitre 3.5"]),
        ("… !!", []),
        ("", []),
    ],
)
def test_sentences_end_at_their_marks_and_at_lines_and_not_at_titles(text: str, said: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I'm 41, ok?", ["i'm", "<n>", ",", "ok", "?"]),
        ("Está acá: 3.5kg", ["esta", "aca", ":", "<n>"]),
        ("", []),
    ],
)
def test_tokens_are_folded_and_numbers_are_all_alike(text: str, said: list[str]) -> None:
    assert [token.text for token in tokens(text)] == said


@pytest.mark.parametrize(
    ("text", "word", "may", "must"),
    [
        ("I live in Cork and I work a lot", "and", True, True),
        ("Vivo en Tandil y trabajo mucho", "y", True, True),
        ("I live in Cork, what's the weather", "what's", True, True),
        ("Vivo en Tandil, cuanto llueve", "cuanto", True, True),
        ("I like tea and coffee", "and", True, False),
        ("Me gusta el té y el café", "y", True, False),
        ("I like black tea", "tea", False, False),
        ("Me gusta el té negro", "negro", False, False),
    ],
)
def test_a_clause_begins_behind_a_mark_or_with_a_word_of_grammar(text: str, word: str, may: bool, must: bool) -> None:
    said = tokens(text)
    at = [token.text for token in said].index(word)
    assert (may_begin(said, at), must_begin(said, at)) == (may, must)


def test_features_tell_of_a_clause_and_of_its_neighbours() -> None:
    words, letters, told = features(["I live in Cork,", "what's the weather?"], 0, "en")
    assert {"w=live", "b=i live", "01=i live", "q=False", "at=first", "names=1"} <= set(words)
    assert "c=cork" in letters
    assert {"g=residence", "Pnone", "Nq=True"} <= set(told)


def test_the_same_text_has_other_features_in_another_place() -> None:
    alone, beside = features(["I live in Cork."], 0, "en"), features(["Hi.", "I live in Cork."], 1, "en")
    assert set(alone[0]) ^ set(beside[0]) == {"at=only", "at=last"}
    assert alone[1] == beside[1]


@given(st.text(max_size=200))
def test_sentences_and_tokens_are_pieces_in_their_order(text: str) -> None:
    ends = [0, *(end for _, end in sentences(text))]
    assert ends == sorted(ends)
    assert all(text[token.start : token.end].strip() for token in tokens(text))
    for start, end in sentences(text):
        said = tokens(text[start:end])
        for at in range(1, len(said)):
            assert boundaries(said, at)
            assert isinstance(may_begin(said, at), bool)
            assert isinstance(must_begin(said, at), bool)
