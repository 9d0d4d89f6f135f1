import pytest

from proxy.context.anchored import anchored

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
    assert anchored(user, answer, before) == told


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
    assert anchored(user, answer, before) == ""


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
    assert anchored(user, "Bien.", "Vale.", heard) == told
