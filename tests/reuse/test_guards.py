import pytest

from proxy.language.language import Language
from proxy.reuse.align import align
from proxy.reuse.guards import DOUBTS, QUESTION_GUARDS
from proxy.reuse.question import analyse
from proxy.reuse.roles import ALIGNED_GUARDS
from tests.languages import EN, ES

# guard, language, one question, another that it must tell apart, and a rewording that it must let pass
ROWS: list[tuple[str, Language, str, str, str]] = [
    ("numbers", EN, "Is 3 a prime?", "Is 5 a prime?", "Is three a prime?"),
    ("numbers", ES, "¿Es primo el 3?", "¿Es primo el 5?", "¿Es primo el tres?"),
    ("numbers", EN, "What is 20 percent of 85?", "20 is what percent of 85?", "20 percent of 85"),
    ("numbers", EN, "Are 21 and 23 primes?", "Are 21 and 29 primes?", "Are 23 and 21 primes?"),
    ("numbers", EN, "How do I subtract 5 from 9?", "How do I subtract 9 from 5?", "How is 5 subtracted from 9?"),
    ("numbers", ES, "¿Sirven la 12 y la 15?", "¿Va de la 15 a la 12?", "¿Sirven la 12 y la 15 todavía?"),
    ("negation", EN, "Why is it hot?", "Why is it not hot?", "Why's it hot?"),
    ("negation", ES, "¿Por qué arranca?", "¿Por qué no arranca?", "¿Por qué motivo arranca?"),
    ("operators", EN, "Do I eat before a race?", "Do I eat after a race?", "Do I eat prior to a race?"),
    ("operators", ES, "¿Como antes de correr?", "¿Como después de correr?", "¿Como algo antes de correr?"),
    ("operators", EN, "Which has more salt?", "Which has less salt?", "Which one has more salt?"),
    ("operators", ES, "¿Cuál tiene más sal?", "¿Cuál tiene menos sal?", "¿Cuál es el que tiene más sal?"),
    ("kind", EN, "How do eels breed?", "Where do eels breed?", "How exactly do eels breed?"),
    ("kind", ES, "¿Cómo crían las anguilas?", "¿Dónde crían las anguilas?", "¿De qué manera crían las anguilas?"),
    ("kind", EN, "What is it like to be a nurse?", "What does a nurse do?", "How does it feel to be a nurse?"),
    ("kind", ES, "¿Qué se siente ser ciego?", "¿Qué es ser ciego?", "¿Cómo se siente ser ciego?"),
    ("opposites", EN, "Do I earn money?", "Do I lose money?", "Do I make money?"),
    ("opposites", EN, "Do I push the lever?", "Do I pull the lever?", "Should I push the lever?"),
    ("opposites", ES, "¿Empiezo por abrir la llave?", "¿Empiezo por cerrar la llave?", "¿Abro la llave?"),
    ("tense", EN, "What is the tax?", "What was the tax?", "What's the tax?"),
    ("tense", ES, "¿Qué es el diezmo?", "¿Qué era el diezmo?", "¿Qué significa el diezmo?"),
    ("person", EN, "Where does he live?", "Where does she live?", "Where does he live now?"),
    ("person", ES, "¿Qué me conviene?", "¿Qué le conviene?", "¿Qué me conviene a mí?"),
    ("quoted", EN, 'Who wrote "Emma"?', 'Who wrote "Ulysses"?', 'Who is the author of "Emma"?'),
    ("quoted", ES, '¿Quién escribió "Ema"?', '¿Quién escribió "Ulises"?', "¿Quién escribió «Ema»?"),
    (
        "joins",
        EN,
        "What is the difference between jam and jelly?",
        "What is the difference between jam, jelly and curd?",
        "How do jam and jelly differ?",
    ),
    (
        "joins",
        ES,
        "¿Qué diferencia hay entre acta y minuta?",
        "¿Qué diferencia hay entre acta, minuta y nota?",
        "¿En qué se diferencia un acta de una minuta?",
    ),
    ("joins", EN, "Is it salt and sugar?", "Is it salt or sugar?", "Is it salt & sugar?"),
    ("joins", ES, "¿Lleva sal y azúcar?", "¿Lleva sal o azúcar?", "¿Lleva sal, azúcar y agua?"),
    ("particles", EN, "What's my IP?", "What's your IP?", "What is my IP?"),
    ("particles", ES, "¿Quién venció a Roma?", "¿A quién venció Roma?", "¿Quién le ganó a Roma?"),
    ("directions", EN, "Do I walk to Rome?", "Do I walk from Rome?", "Should I walk to Rome?"),
    ("directions", ES, "¿Va desde Roma?", "¿Va hasta Roma?", "¿Sale desde Roma?"),
    ("order", EN, "Is renting cheaper than buying?", "Is buying cheaper than renting?", "Is renting cheaper?"),
    ("order", ES, "¿Cuántos pesos son un dólar?", "¿Cuántos dólares son un peso?", "¿Cuántos pesos es un dólar?"),
    ("verb_forms", ES, "¿Cuándo florece el ceibo?", "¿Cuándo floreció el ceibo?", "¿Cuándo florecen los ceibos?"),
    ("verb_forms", ES, "¿Cómo ahorro?", "¿Cómo ahorra?", "¿Cómo se ahorra?"),
    ("voice", EN, "Did the owl eat the mouse?", "Was the owl eaten by the mouse?", "Did an owl eat a mouse?"),
    ("order", EN, "Does the owl eat the mouse?", "Does the mouse eat the owl?", "Is the owl eating the mouse?"),
    ("order", ES, "¿El búho es hijo del ratón?", "¿El ratón es hijo del búho?", "¿Es el búho hijo del ratón?"),
    ("emphasis", EN, "How do I get rich?", "How do I get more rich?", "How can one get rich?"),
    ("emphasis", ES, "¿Cómo duermo?", "¿Cómo duermo más?", "¿Cómo puedo dormir?"),
    ("near_tense", EN, "What happens to me?", "What will happen to me?", "What happens to us?"),
    ("near_tense", ES, "¿Qué es de mí?", "¿Qué será de mí?", "¿Qué es de nosotros?"),
    ("they", EN, "Do owls sleep?", "Do owls sleep if they hunt?", "Do the owls sleep?"),
]


def seen(guard: str, language: Language, one: str, other: str) -> str:
    asked, earlier = analyse(one, language), analyse(other, language)
    if guard in ALIGNED_GUARDS:
        return ALIGNED_GUARDS[guard](align(asked, earlier))
    return {**QUESTION_GUARDS, **DOUBTS}[guard](asked, earlier)


@pytest.mark.parametrize(("guard", "language", "one", "different", "_"), ROWS)
def test_a_guard_tells_what_differs(guard: str, language: Language, one: str, different: str, _: str) -> None:
    assert seen(guard, language, one, different)
    assert seen(guard, language, different, one)


@pytest.mark.parametrize(("guard", "language", "one", "_", "same"), ROWS)
def test_a_guard_lets_a_rewording_pass(guard: str, language: Language, one: str, _: str, same: str) -> None:
    assert seen(guard, language, one, same) == ""


def test_every_guard_has_rows_in_the_languages_that_it_is_for() -> None:
    english_only, spanish_only = {"voice", "they"}, {"verb_forms"}
    rows = {(guard, language) for guard, language, *_ in ROWS}
    for guard in (*QUESTION_GUARDS, *DOUBTS, *ALIGNED_GUARDS):
        assert guard in spanish_only or (guard, EN) in rows
        assert guard in english_only or (guard, ES) in rows
