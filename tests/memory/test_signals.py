import re
from dataclasses import fields

import pytest

from proxy.language.tables import tables
from proxy.language.words import plain
from proxy.memory.signals import SIGNALS, folded, lead, spoken_in, tail, without_signal
from proxy.types.memory import DOMAINS, Language

ROWS: list[tuple[Language, str, str, bool]] = [
    ("es", "remember", "Tené en cuenta que uso Linux", True),
    ("es", "remember", "No te olvides de la cita", True),
    ("es", "remember", "Recordame la capital de Perú", False),
    ("es", "standing", "A partir de ahora, sin tablas", True),
    ("es", "standing", "El tren sale a las nueve", False),
    ("es", "decides", "Nos quedamos con el azul", True),
    ("es", "decides", "El azul es lindo", False),
    ("es", "hypothetical", "Si tuviera un perro", True),
    ("es", "hypothetical", "Tengo un perro", False),
    ("es", "others", "Mi prima vende autos", True),
    ("es", "others", "El examen vence el lunes", False),
    ("es", "changes", "Ahora vivo en Tandil", True),
    ("es", "changes", "Vivo en Tandil", False),
    ("en", "remember", "Keep in mind that I use Linux", True),
    ("en", "remember", "Remember when phones had cords", False),
    ("en", "standing", "From now on, no tables", True),
    ("en", "standing", "The train leaves at nine", False),
    ("en", "decides", "We've settled on blue", True),
    ("en", "decides", "Blue is nice", False),
    ("en", "hypothetical", "If I had a dog", True),
    ("en", "hypothetical", "I have a dog", False),
    ("en", "others", "My uncle sells cars", True),
    ("en", "others", "My sister sells cars", False),
    ("en", "changes", "The deadline moved to Friday", True),
    ("en", "changes", "The deadline is Friday", False),
]


@pytest.mark.parametrize(("language", "table", "sentence", "found"), ROWS)
def test_a_table_finds_its_signs_and_nothing_else(language: Language, table: str, sentence: str, found: bool) -> None:
    assert (getattr(SIGNALS[language], table).search(plain(sentence)) is not None) is found


def test_both_languages_have_the_same_tables() -> None:
    assert tables("es", "signals").keys() == tables("en", "signals").keys()


@pytest.mark.parametrize("language", ["es", "en"])
def test_no_table_finds_anything_in_an_empty_sentence(language: Language) -> None:
    signals = SIGNALS[language]
    patterns = {field.name: getattr(signals, field.name) for field in fields(signals)}
    blank = {name for name, pattern in patterns.items() if isinstance(pattern, re.Pattern) and pattern.search(" . ")}
    assert blank <= {"tails"}


@pytest.mark.note("1.1/3")
@pytest.mark.parametrize("language", ["es", "en"])
def test_slots_name_a_known_domain_and_a_key_once(language: Language) -> None:
    slots = SIGNALS[language].slots
    assert {slot.domain for slot in slots} <= set(DOMAINS)
    assert len({slot.key for slot in slots}) == len(slots)


def test_folding_leaves_every_character_where_it_was() -> None:
    text = "Ñandú, ACORDATE de que el \u2019lunes\u2019 İ"
    assert len(folded(text)) == len(text)
    assert folded("Acordáte") == "acordate"


@pytest.mark.parametrize(
    ("text", "value", "spoken"),
    [
        ("Hi! Please remember that I live in Cork, thanks!", "I live in Cork", "en"),
        ("By the way, I live in Cork", "I live in Cork", "en"),
        ("I live in Cork", "I live in Cork", "en"),
        ("Hola, recordá que vivo en Tandil, por favor.", "vivo en Tandil", "es"),
        ("Por cierto, vivo en Tandil", "vivo en Tandil", "es"),
        ("", "", "es"),
    ],
)
def test_greetings_and_reminders_are_no_part_of_a_value(text: str, value: str, spoken: Language) -> None:
    assert without_signal(text, SIGNALS[spoken]) == value


@pytest.mark.parametrize("spoken", ["en", "es"])
def test_what_has_nothing_around_it_is_whole(spoken: Language) -> None:
    plainly = folded("Petrel")
    assert (lead(plainly, SIGNALS[spoken]), tail(plainly, SIGNALS[spoken])) == (0, len(plainly))


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("tengo dos gatos", "es"),
        ("soy celíaco", "es"),
        ("Uso Linux en la notebook", "es"),
        ("I use Linux", "en"),
        ("we have two cats", "en"),
        ("type 1 diabetic", "en"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_of_what_is_too_short_to_be_sure_it_is_that_of_the_commonest_words(said: str, language: Language) -> None:
    assert spoken_in(said) == language
