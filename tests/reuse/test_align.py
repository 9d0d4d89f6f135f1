import pytest

from proxy.language.language import Language
from proxy.reuse.align import Alignment, align, crossings
from proxy.reuse.question import analyse
from tests.languages import EN, ES


def aligned(language: Language, one: str, other: str) -> Alignment:
    return align(analyse(one, language), analyse(other, language))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (EN, "How do I repair a bicycle?", "how to fix bikes"),  # synonyms, plural
        (EN, "Where is the United Nations?", "Where is the UN?"),
        (EN, "How do I sharpen a chisel?", "how do i sharpen a chissel"),
        (EN, "How do I set up wi-fi?", "How do I set up wifi?"),
        (EN, "How do I roast chestnuts?", "How do I roast chest nuts?"),
        (EN, "How does a battery-driven clock work?", "How does a battery driven clock work?"),
        (
            EN,
            "Why do rag-pickers wear masks at saltwater ports?",
            "Why do rag pickers wear masks at salt water ports?",
        ),
        (ES, "¿Cómo limpio un limpia vidrios viejo?", "¿Cómo limpio un limpiavidrios viejo?"),
        (ES, "¿Cómo arreglo una bicicleta?", "como reparar bicis"),
        (ES, "¿Qué hace la Organización Mundial del Comercio?", "¿Qué hace la OMC?"),
        (ES, "¿Cómo afilo un cincel?", "como afilo un sincel"),
        (ES, "¿Cómo saco el óxido?", "¿Cómo puedo sacar el óxido?"),
        (ES, "Pasame la receta.", "¿Me pasas la receta?"),
    ],
)
def test_every_content_word_finds_its_other(language: Language, one: str, other: str) -> None:
    found = aligned(language, one, other)
    assert found.pairs
    assert (found.left_asked, found.left_earlier) == ((), ())


@pytest.mark.parametrize(
    ("language", "one", "other", "left"),
    [
        (EN, "How do I sharpen a chisel?", "How do I sharpen an axe?", {"chisel", "axe"}),
        (EN, "How heavy is the Nexus 6b?", "How heavy is the Nexus 6c?", {"6b", "6c"}),
        (EN, "How do I hire a cook?", "How do I fire a cook?", {"hire", "fire"}),
        (EN, "Is salt in water saltwater?", "Is salt in hot water?", {"saltwater", "hot"}),
        (ES, "¿Cómo afilo un cincel?", "¿Cómo afilo un hacha?", {"cincel", "hacha"}),
        (ES, "¿Cómo activo el filtro?", "¿Cómo desactivo el filtro?", {"activo", "desactivo"}),
    ],
)
def test_what_has_no_other_is_left_over(language: Language, one: str, other: str, left: set[str]) -> None:
    found = aligned(language, one, other)
    assert {token.word for token in (*found.left_asked, *found.left_earlier)} == left


def test_words_that_changed_places_cross() -> None:
    found = aligned(EN, "Does the fox chase the hare?", "Does the hare chase the fox?")
    assert [(first.asked.word, second.asked.word) for first, second in crossings(found.pairs)] != []


def test_a_word_is_paired_once() -> None:
    found = aligned(EN, "chess chess chess", "chess")
    assert len(found.pairs) == 1
    assert len(found.left_asked) == 2
