import pytest

from proxy.memory.claim_words import wording
from proxy.memory.roots import are_of_one, root
from proxy.types.memory import Language

FORMS: list[tuple[Language, str]] = [
    ("es", "vivo vive vives vivis vivir vivia"),
    ("es", "tengo tiene tenes tuve tuvo tenia"),
    ("es", "conozco conoce conocer"),
    ("es", "busco busque busca"),
    ("es", "casarse casarme casar"),
    ("es", "despidieron despedido despido"),
    ("en", "work works worked working"),
    ("en", "write writes wrote written writing"),
    ("en", "organise organize organises"),
    ("en", "study studies studied"),
]


@pytest.mark.parametrize(("language", "forms"), FORMS)
def test_all_forms_of_a_verb_have_one_root(language: Language, forms: str) -> None:
    assert len({root(each, language) for each in forms.split()}) == 1


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("es", "traducir", "traduccion"), ("en", "negotiating", "negotiation"), ("es", "pesca", "pescar")],
)
def test_words_that_are_made_from_one_another_are_recognised(language: Language, one: str, other: str) -> None:
    assert are_of_one(one, other, wording(language).endings)


@pytest.mark.parametrize(("language", "one", "other"), [("es", "viola", "violin"), ("en", "java", "javascript")])
def test_words_that_only_begin_alike_are_two(language: Language, one: str, other: str) -> None:
    assert not are_of_one(one, other, wording(language).endings)
