import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.cuts import (
    Kind,
    clauses_before,
    clauses_of,
    clean,
    concreteness,
    is_casual,
    is_closed,
    is_earnest,
    is_generic,
    is_passing,
    is_platitude,
    is_slight,
    names_thing,
    parts,
    sentences,
    shortened,
    speaks_to_you,
)
from proxy.language.words import plain
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("clause", "cleaned"),
    [
        ("Listo, decidí usar Redis 7.", "decidí usar Redis 7"),
        ("Otra cosa: me aprobaron más plata, por favor", "me aprobaron más plata"),
        ("Acordate de que las tablas van en singular", "las tablas van en singular"),
        ("By the way, the cello goes by ship, right?", "the cello goes by ship"),
        ("Switching topics: what about the visa fees?", "what about the visa fees"),
        ("6:13 pm on 10 April, 2023: Hey Maria, my car broke down", "my car broke down"),
        ("I'm stuck with the parser, can you help me with that?", "I'm stuck with the parser"),
        ("```rm -rf```", ""),
        (
            "I ask if two events exclude each other, so P(A ∩ B) = 0",
            "I ask if two events exclude each other",
        ),
        ("I'm trying to use the median length formula m_a = 3", "I'm trying to use the median length formula"),
        ("Make `parse_all()` of the reader faster", "Make parse_all of the reader faster"),
        ("Tuve una fascitis en el pie, recordalo para no mandarme barbaridades", "Tuve una fascitis en el pie"),
        ("ok gracias", ""),
    ],
)
def test_a_clause_loses_what_it_opens_and_ends_with_by_habit(clause: str, cleaned: str) -> None:
    assert clean(clause) == cleaned


def test_a_clause_is_cut_at_a_joint_or_not_at_all() -> None:
    clause = "the long runs move to Friday evening, because the course on Saturdays has just begun again"
    assert shortened(clause, 8) == "the long runs move to Friday evening"
    assert shortened("one two three four five six seven", 5) == ""
    assert shortened(clause, 40) == clause


def test_the_parts_of_a_long_sentence_begin_where_a_clause_does() -> None:
    text = "I looked at prices, insurance, long contracts, and I've decided on Oslo, from May 3"
    found = list(parts(text, 8))
    assert "I've decided on Oslo, from May 3" in found
    assert not any(part.startswith(("insurance", "long contracts")) for part in found)


def test_what_leads_to_something_left_out_is_not_closed() -> None:
    assert not is_closed("the coach sent an audio that says")
    assert not is_closed("we use (mostly Go")
    assert is_closed('she wrote "never again" on it')


def test_numbers_and_names_are_concrete_and_a_first_word_is_no_name() -> None:
    assert concreteness("Vamos con Redis 7") == 3
    assert concreteness("Vamos bien") == 0


def test_a_question_in_the_middle_begins_a_sentence_and_an_initial_ends_none() -> None:
    assert sentences("Una cosa ¿cuánto sale? Diez.\nBien") == ["Una cosa", "¿cuánto sale?", "Diez.", "Bien"]
    assert sentences("We fly from John A. Osborne. Good.") == ["We fly from John A. Osborne.", "Good."]


@given(st.text(max_size=200), st.integers(1, 30))
def test_no_part_is_longer_than_it_may_be(text: str, longest: int) -> None:
    assert all(len(part.split()) <= longest for part in parts(" ".join(text.split()), longest) if part)


def test_a_list_of_hundreds_of_joints_has_few_parts() -> None:
    assert len(list(parts(", ".join(["the ones"] * 400), 26))) < 400


@pytest.mark.parametrize(
    ("text", "beginnings"),
    [
        ("We need flour, sugar, eggs and butter", []),
        ("Llevamos harina, azúcar, huevos y manteca", []),
        ("we chose bread, and the jam", []),
        ("The dog sleeps in the garage and he barks at night", ["The dog sleeps in the garage"]),
        ("La réplica está en Oregón y no responde a nadie", ["La réplica está en Oregón"]),
        ("the owner changed: Soledad confirms the orders", []),
    ],
)
def test_a_piece_ends_before_a_clause_but_never_inside_a_list(text: str, beginnings: list[str]) -> None:
    assert list(clauses_of(text, soft=False)) == beginnings


@pytest.mark.parametrize(
    ("text", "beginnings"),
    [
        ("I started a blog to share my recipes online", ["I started a blog"]),
        ("I want to share my recipes online", []),
        ("they moved the archive to digital storage", []),
        ("La réplica está en Oregón", []),  # a verb is no end
        ("compré harina para la torta", ["compré harina"]),
    ],
)
def test_a_soft_end_leaves_a_purpose_out_and_no_verb_without_its_complement(text: str, beginnings: list[str]) -> None:
    assert list(clauses_of(text, soft=True)) == beginnings


@pytest.mark.parametrize(
    ("text", "stop", "left"),
    [
        ("we move to Oregon in May, and it is cheap", "it", "we move to Oregon in May"),
        ("we sell apples, pears and plums in May", "May", ""),  # no end inside a list
        ("we move to Oregon", "Oregon", ""),
    ],
)
def test_the_clauses_before_a_place_are_whole(text: str, stop: str, left: str) -> None:
    assert clauses_before(text, text.index(stop)) == left


@pytest.mark.parametrize(
    ("language", "sentence", "casual"),
    [
        ("en", "Thanks a lot!", True),
        ("en", "What word target makes sense for two days?", False),
        ("es", "Tuve una fascitis en el pie, recordalo.", False),
        ("es", "jajaja las pastas de mi abuela", True),
        ("en", "Thanks for the 14 kilos.", False),
    ],
)
def test_thanks_and_jokes_are_casual_unless_they_ask_or_count(language: Language, sentence: str, casual: bool) -> None:
    assert is_casual(plain(sentence), language, sentence) is casual


@pytest.mark.parametrize(
    ("message", "earnest"),
    [
        ("How did you manage at the shelter?", True),
        ("¿Y si hago doble turno? es joda", False),
        ("You said that I use index cards, did I?", False),
        ("Thanks, that helps.", False),
    ],
)
def test_who_asks_in_earnest_is_told_from_who_jokes(message: str, earnest: bool) -> None:
    assert is_earnest(message) is earnest


@pytest.mark.parametrize(
    ("said", "passing"), [("I'm tired today and the office is cold", True), ("The office is in Leeds", False)]
)
def test_what_holds_today_only_is_passing(said: str, passing: bool) -> None:
    assert is_passing(plain(said), "en") is passing


@pytest.mark.parametrize(
    ("text", "platitude"),
    [
        ("Support from loved ones is vital", True),
        ("My cat has a broken leg", False),
        ("Life in Lisbon is great", False),  # it names something
    ],
)
def test_praise_that_names_little_is_a_platitude(text: str, platitude: bool) -> None:
    assert is_platitude(text, "en") is platitude


@pytest.mark.parametrize(
    ("text", "names"), [("What was your favourite part", False), ("What was your favourite bridge", True)]
)
def test_what_pleases_is_no_thing(text: str, names: bool) -> None:
    assert names_thing(text, "en") is names


@pytest.mark.parametrize(
    ("text", "generic"),
    [("review my code and suggest improvements", True), ("size the new nodes of the cluster", False)],
)
def test_what_could_be_asked_of_anything_is_generic(text: str, generic: bool) -> None:
    assert is_generic(text, "en") is generic


@pytest.mark.parametrize(
    ("kind", "text", "slight"),
    [
        ("request", "What got you into pottery", True),
        ("request", "How do I glaze a bowl of clay", False),
        ("statement", "The vibes were amazing", True),
        ("statement", "I glazed a bowl", False),
        ("request", "how many days a week", True),
    ],
)
def test_a_piece_is_slight_that_leaves_open_what_its_turn_is_about(kind: Kind, text: str, slight: bool) -> None:
    assert is_slight(text, kind, "en") is slight


def test_words_to_whoever_hears_them_are_told_apart() -> None:
    assert speaks_to_you("Your words mean a lot")
    assert not speaks_to_you("The words mean a lot")
