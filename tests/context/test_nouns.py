import pytest

from proxy.context.nouns import names_something, noun_phrases
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("language", "text", "phrases"),
    [
        ("es", "¿Se puede hacer la réplica en la misma región?", ["réplica en la misma región"]),
        ("es", "los fondos largos los paso a los viernes", ["fondos largos"]),
        ("es", "Mi proveedor de frutos secos es Nogal", ["proveedor de frutos secos"]),
        ("es", "me da 15 días de plazo para pagar", ["15 días de plazo"]),
        ("es", "la balanza me está pesando de menos", []),
        ("es", "Pongo el despertador y probé anotar todo", []),
        ("es", "dura abierta una bolsa de harina de almendras", ["bolsa de harina de almendras"]),
        ("es", "vamos con Fly.io en la región GRU", ["Fly.io en la región GRU"]),
        ("en", "the rent ceiling goes up to 1,850 euros", ["rent ceiling", "1,850 euros"]),
        ("en", "Does a mystery need a map at the front?", ["map at the front"]),
        ("en", "What's a reasonable liveness probe for a Go service?", ["reasonable liveness probe for a Go service"]),
        ("en", "My editor just emailed, the deadline moved up.", []),
        ("en", "so does the sum of medians change with the type?", ["sum of medians"]),
        ("es", "las calles de la estación merecen una hora", ["calles de la estación"]),
        ("en", "the covered passages behind the station", ["covered passages"]),
        ("en", "", []),
    ],
)
def test_phrases_are_whole_nouns_with_their_complements(language: Language, text: str, phrases: list[str]) -> None:
    assert noun_phrases(text, language) == phrases


@pytest.mark.parametrize(
    ("phrase", "names"),
    [
        ("read replica", True),
        ("Saucony Ride 17", True),
        ("23 de noviembre", False),
        ("110 mil pesos", False),
        ("7 días", False),
        ("lunes a sábado de 9 a 13", False),
    ],
)
def test_a_date_or_an_amount_names_nothing(phrase: str, names: bool) -> None:
    assert names_something(phrase) is names
