import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.about import about, named, resolved_question
from proxy.types.memory import Language

_SHELTER = "You have so much patience at the homeless shelter. How did you do it?"
_SHELTER_AGAIN = "The homeless shelter changed my life."


@pytest.mark.parametrize(
    ("messages", "around", "known", "topic"),
    [
        ((_SHELTER, _SHELTER_AGAIN), (), "", "homeless shelter"),
        ((_SHELTER, "Thanks!"), ("I work in a homeless shelter.", "Wow!"), "", "homeless shelter"),
        ((_SHELTER, _SHELTER_AGAIN), (), "I cook at the homeless shelter", ""),
        ((_SHELTER, "Thanks!"), (), "", ""),
        (("¿Me organizás los turnos rotatorios?", "Con turnos rotatorios, por bloques."), (), "", "turnos rotatorios"),
        (("It was a great time, Maria!", "A great time, Maria!", "Thanks, Maria!"), (), "", ""),
        (("See the current implementation.", "The current implementation is fine."), (), "", ""),
        (("It costs 10 cm more.", "So 10 cm more."), (), "", ""),
        ((), (), "", ""),
    ],
    ids=[
        "both say it",
        "said before",
        "known",
        "said once",
        "Spanish",
        "names and praise",
        "says little",
        "amount",
        "-",
    ],
)
def test_what_is_named_again_is_what_turns_are_about(
    messages: tuple[str, ...], around: tuple[str, ...], known: str, topic: str
) -> None:
    assert about(messages, around, known) == topic


@pytest.mark.parametrize(
    ("language", "piece", "known", "thing"),
    [
        ("es", "ahora el presupuesto de infra es de 260 dólares", "", "presupuesto de infra"),
        ("es", "ahora el presupuesto de infra es de 260 dólares", "el presupuesto", ""),
        ("en", "we keep the read replica for reports", "", "read replica"),
        ("en", "see you in 7 days", "", ""),
    ],
)
def test_a_piece_that_has_no_room_leaves_the_thing_that_it_names(
    language: Language, piece: str, known: str, thing: str
) -> None:
    assert named(piece, language, known) == thing


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=40))
def test_a_topic_stands_in_the_messages_word_by_word(messages: list[str], known: str) -> None:
    for thing in filter(None, about(messages, (), known).split(", ")):
        assert any(thing in message for message in messages)


_SKILLET = "I bought a cast iron skillet yesterday."
_OIL = "Oil a cast iron skillet once a month."


@pytest.mark.parametrize(
    ("before", "user", "answer", "told"),
    [
        (_SKILLET, "How often should I oil that?", _OIL, "cast iron skillet: How often should I oil that?"),
        (
            "Se me rompió la cadena de la bici.",
            "¿Y eso cómo se engrasa en invierno?",
            "La cadena de la bici, cada 200 km.",
            "cadena de la bici: eso cómo se engrasa en invierno?",
        ),
    ],
)
def test_a_question_stands_behind_the_only_thing_that_was_named_before_it(
    before: str, user: str, answer: str, told: str
) -> None:
    assert resolved_question(user, answer, before) == told


@pytest.mark.parametrize(
    ("before", "user", "answer"),
    [
        ("", "How often should I oil that?", _OIL),
        ("I bought a cast iron skillet and a copper kettle.", "How often should I oil that?", _OIL),
        (
            "Compré una olla de cobre y una sartén de hierro.",
            "¿Cada cuánto engraso eso?",
            "La sartén de hierro, nunca.",
        ),
        (_SKILLET, "How often should I oil that?", "Once a month is enough."),
        (_SKILLET, "My sister came over. How often should I oil that?", _OIL),
        (_SKILLET, "How often should I oil a skillet?", _OIL),
        (f"{_SKILLET} {'More of it. ' * 50}", "How often should I oil that?", _OIL),
    ],
    ids=["none", "two", "two in Spanish", "not answered", "not alone", "does not point", "a long message"],
)
def test_a_question_whose_referent_is_not_sure_is_not_told(before: str, user: str, answer: str) -> None:
    assert resolved_question(user, answer, before) == ""


@pytest.mark.parametrize(
    ("user", "heard", "told"),
    [
        (
            "How do we size those nodes?",
            "Take three nodes.",
            "How do we size those nodes?",
        ),
        ("¿Cómo limpio esa sartén?", "La sartén va con sal.", "Cómo limpio esa sartén?"),
        ("How do we size those nodes?", "Take three of them.", ""),
        ("Why do they cost more than those nodes?", "Take three nodes.", ""),
    ],
)
def test_a_noun_that_was_said_right_before_is_known(user: str, heard: str, told: str) -> None:
    assert resolved_question(user, "Bien.", "Vale.", heard) == told
