"""Whom a quotation is about."""

import pytest

from proxy.memory.support_holder import of_another
from tests.memory.quotations import quoted

# The quotation between asterisks, the value, the reason.
HOLDERS = {
    "a subject before the quotation": [
        ("My boss, who *lives in Croydon*, is late", "Lives in Croydon", "holder"),
        ("The new guy *speaks Finnish*", "Speaks Finnish", "holder"),
        ("Our competitor *opened an office in Lima*", "Opened an office in Lima", "holder"),
        ("mi compañera de piso *es celíaca*", "Es celíaca", "holder"),
        ("el que *se pasa el día en la obra* es mi marido", "Trabaja en una obra", "holder"),
        ("Dad's retired now and *spends his days fishing*", "Likes fishing", "holder"),
    ],
    "a pronoun": [
        ("*She's had sleep apnoea for years*", "Has sleep apnoea", "holder"),
        ("*ella toma warfarina*", "Toma warfarina", "holder"),
        ("*They bought out my contract*", "Left the company", ""),
        ("*He's a greyhound*", "Has a greyhound", ""),
    ],
    "somebody else's things": [
        ("I look after *my neighbour's parrot*", "Owns a parrot", "holder"),
        ("*riego el jardín de mi tía*", "Tiene un jardín", "holder"),
        ("*I look after my parrot*", "Owns a parrot", ""),
    ],
    "other people": [
        ("*My sister keeps kosher*", "Keeps kosher", "holder"),
        ("*I'm a beekeeper*, and my uncle helps", "The user's uncle is a beekeeper", "holder"),
        ("*My brother Ed is a plumber*", "Their brother Ed is a plumber", ""),
        ("*llevo a mis hijos a la escuela 12*", "Tiene hijos", ""),
    ],
    "all of a kind": [
        ("*Truck drivers in the US can drive 11 hours a day*", "Drives a truck 11 hours a day", "general"),
        ("*Los zurdos son pocos*", "Es zurdo", "general"),
        ("*el mate tiene cafeína*", "Toma mate", "general"),
        ("*Paris is the capital of France*", "Lives in Paris", "general"),
        ("you have to *be 18 to buy wine*", "Is 18", "general"),
        ("*my twins start school in May*", "Has twins", ""),
        ("*los precios dámelos con IVA, siempre*", "Quiere los precios con IVA", ""),
        ("*me duelen los pies de repartir*", "Es repartidor", ""),
    ],
}


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [pytest.param(*row, id=f"{name}: {row[0]}") for name, rows in HOLDERS.items() for row in rows],
)
def test_a_clause_is_its_subjects(message: str, value: str, reason: str) -> None:
    assert of_another(quoted(message, value)) == reason


def test_a_pronoun_is_of_the_person_that_was_mentioned_before() -> None:
    said = "La comida la separamos, *él es vegano*"
    assert of_another(quoted(said, "Su hermano es vegano", "vivo con mi hermano Nacho")) == ""
    assert of_another(quoted(said, "Su hermano es vegano", "vivo en Lima")) == "holder"
