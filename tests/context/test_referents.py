import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.referents import names, points_outside, things
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("language", "clause"),
    [
        ("en", "Keep that one in mind"),
        ("en", "How do we size those nodes without guessing"),
        ("en", "I'll draft it this afternoon"),
        ("en", "They recommend the blue one"),
        ("en", "Does she need a translated prescription"),
        ("en", "Can you review this code"),
        ("en", "review it and suggest improvements"),
        ("en", "is there a way to further improve this"),
        ("en", "What made you decide to get involved with that"),
        ("en", "I was about to wrap that kettle"),
        ("en", "How much do we have to spend on this"),
        ("en", "We talked about this and moved on"),
        ("en", "Do I need one"),
        ("es", "¿Qué hago allá?"),
        ("es", "¿Qué vino y queso compro para eso?"),
        ("es", "lo de Ana y lo del banco"),
        ("es", "¿Eso funciona con turnos?"),
        ("es", "¿Quién metió ese cambio y por qué?"),
        ("es", "¿Cómo los controlo?"),
        ("es", "quiero hacerlo mañana"),
        ("es", "Él trabaja en el hospital"),
        ("es", "yo comiéndome uno cada noche"),
        ("es", "Tengo unas con 900 km encima"),
        ("en", "That'd be great, Maria"),
        ("en", "The second one made me laugh"),
        ("es", "¿No debería bajar por la segunda?"),
    ],
)
def test_a_pronoun_or_demonstrative_with_nothing_named_before_it_points_outside(
    language: Language, clause: str
) -> None:
    assert points_outside(clause, language)


@pytest.mark.parametrize(
    ("language", "clause"),
    [
        ("en", "I prefer Argo CD over Flux, I've used it before"),
        ("en", "My wife Simone is diabetic, so she needs insulin"),
        ("en", "It's important to keep the logs for a year"),
        ("en", "The first sprint ends this week"),
        ("en", "I think that the budget is too small"),
        ("en", "We talked it over and the rent ceiling goes up"),
        ("en", "Is there a trick to learning Portuguese?"),
        ("en", 'I want to fix this "not found" error'),
        ("en", "draft that mail to the bank"),
        ("en", "I made this painting to show my path as a painter"),
        ("es", 'El jefe pegó esto en Slack: "odio los ORM"'),
        ("es", "escribime esa carta para el banco"),
        ("es", "Viví en Oslo y trabajé allí"),
        ("es", "¿Y los vencimientos cómo los controlo?"),
        ("es", "Lo de los miércoles está bien"),
        ("es", "viajamos esta semana a Lisboa"),
        ("es", "Una clienta me dejó este comentario: “odio la miel”"),
        ("es", "los turnos de noche son largos"),
    ],
)
def test_what_names_its_referent_or_has_none_does_not(language: Language, clause: str) -> None:
    assert not points_outside(clause, language)


def test_words_of_grammar_and_contractions_name_nothing() -> None:
    assert names("I don't want to do it, we'll see") == ("see",)
    assert names("The deadline is March 14") == ("deadli", "march", "14")


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("es", "¿Cómo respondo bien?", 0),
        ("es", "¿Cómo hago los backups?", 1),
        ("en", "the thing about the rent", 1),
    ],
)
def test_neither_verbs_nor_what_stands_for_anything_are_things(language: Language, text: str, count: int) -> None:
    assert len(things(text, language)) == count


@given(st.text(max_size=120), st.sampled_from(["en", "es"]))
def test_any_text_can_be_read(text: str, language: Language) -> None:
    assert points_outside(text, language) in (True, False)
    assert all(name == name.lower() for name in names(text) if name.isascii())
