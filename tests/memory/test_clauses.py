"""Where a clause may begin, what is told of one, and what the models over them have learnt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.clauses import (
    ATTRIBUTES,
    FILE,
    KINDS,
    boundaries,
    features,
    guess,
    may_begin,
    must_begin,
    needs,
    sentences,
    split,
    tokens,
)
from proxy.memory.clauses import about as topics_of
from proxy.types.memory import Language


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


@pytest.mark.parametrize(
    ("fact", "talk", "spoken"),
    [
        ("I live in Cork.", "It rains in Cork.", "en"),
        ("I'm allergic to nuts.", "I'm tired of this.", "en"),
        ("My daughter is six.", "My train is late today.", "en"),
        ("Vivo en Tandil.", "Qué calor que hace.", "es"),
        ("Soy alérgica al maní.", "Estoy cansada de esto.", "es"),
        ("Mi hija tiene seis años.", "Mi tren viene tarde hoy.", "es"),
    ],
)
def test_what_lasts_is_likelier_a_fact_than_talk(fact: str, talk: str, spoken: Language) -> None:
    assert guess([fact], 0, spoken).fact > 0.5 > guess([talk], 0, spoken).fact


@pytest.mark.parametrize(
    ("said", "about", "spoken"),
    [
        ("I'm allergic to nuts.", "allergy", "en"),
        ("I work as a nurse.", "work", "en"),
        ("I have two cats.", "pet", "en"),
        ("Vivo en Tandil.", "residence", "es"),
        ("Tengo una perra, Lola.", "pet", "es"),
        ("Respondeme siempre en castellano.", "instruction", "es"),
    ],
)
def test_what_a_fact_is_about(said: str, about: str, spoken: Language) -> None:
    found = topics_of(said, spoken)
    assert guess([said], 0, spoken).about == found[0][0] == about
    assert found == sorted(found, key=lambda each: -each[1])


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("I live in Cork and I work at a bank.", ["I live in Cork", "and I work at a bank."]),
        ("Vivo en Tandil y trabajo en un banco.", ["Vivo en Tandil", "y trabajo en un banco."]),
        ("I like black tea a lot.", ["I like black tea a lot."]),
        ("Me gusta mucho el té negro.", ["Me gusta mucho el té negro."]),
        ("I live in Cork. It rains.", ["I live in Cork.", "It rains."]),
    ],
)
def test_clauses_say_one_thing_each(text: str, clauses: list[str]) -> None:
    assert [clause.text for clause in split(text)] == clauses


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I live in Cork, what's the weather like?", [False, True]),
        ("Vivo en Tandil, ¿qué clima tiene?", [False, True]),
        ("Do I live in Cork?", [True]),
        ("I live in Cork.", [False]),
    ],
)
def test_of_a_question_the_clause_that_asks_is_asked(text: str, asked: list[bool]) -> None:
    assert [clause.asked for clause in split(text)] == asked


@pytest.mark.parametrize(
    ("question", "kind", "spoken"),
    [
        ("what should I cook for dinner tonight?", "diet", "en"),
        ("what could we give our kid for her birthday?", "child", "en"),
        ("is there a good bakery near me?", "residence", "en"),
        ("¿qué puedo cocinar esta noche?", "diet", "es"),
        ("¿hay una buena panadería cerca?", "residence", "es"),
    ],
)
def test_a_personal_question_needs_facts_of_a_kind(question: str, kind: str, spoken: Language) -> None:
    found = needs(question, spoken)
    assert found.any > 0.6
    assert kind in sorted(found.kinds, key=lambda each: -found.kinds[each])[:3]


@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("who painted the Night Watch?", "en"),
        ("what is the derivative of x squared?", "en"),
        ("¿quién pintó Las Meninas?", "es"),
        ("¿cuál es la derivada de x al cuadrado?", "es"),
    ],
)
def test_an_ordinary_question_needs_none(question: str, spoken: Language) -> None:
    assert needs(question, spoken).any < 0.62


def test_the_weights_are_a_file_that_is_a_part_of_the_package() -> None:
    assert FILE.is_file()


@given(st.text(max_size=120), st.sampled_from(["en", "es"]))
def test_every_guess_is_a_probability_and_the_same_twice(text: str, spoken: Language) -> None:
    found, needed = guess([text], 0, spoken), needs(text, spoken)
    assert 0 <= found.fact <= 1
    assert found.about in ATTRIBUTES
    assert 0 <= needed.any <= 1
    assert list(needed.kinds) == KINDS
    assert sum(needed.kinds.values()) == pytest.approx(1, abs=1e-4)
    assert (found, needed) == (guess([text], 0, spoken), needs(text, spoken))


@given(st.text(max_size=200))
def test_clauses_are_pieces_of_the_text_in_their_order(text: str) -> None:
    found = split(text)
    assert all(text[clause.start :].lstrip().startswith(clause.text) for clause in found)
    assert [(clause.sentence, clause.start) for clause in found] == sorted(
        (each.sentence, each.start) for each in found
    )
