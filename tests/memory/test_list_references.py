import pytest

from proxy.memory.list_references import reference

PLACES = """
¿Y el 4? | 4
el 2do por favor | 2
la 3ra, porfa | 3
segundo | 2
mandame el link del primero | 1
¿cuál era el tercero? | 3
quiero el último | -1
el antepenúltimo | -3
la última de todas | -1
reservá la primera opción | 1
y de la segunda qué opinás? | 2
pasame más detalles sobre la opción dos | 2
profundizá en el punto 3 | 3
explicame el punto tres | 3
¿El número cuatro abre los domingos? | 4
nº 2, ¿es caro? | 2
ampliá el 2 | 2
haceme un resumen del segundo | 2
más sobre el quinto de la lista | 5
el primero que me recomendaste | 1
decime más del cuarto | 4
dime más del ultmo | -1
contame del prmero | 1
¿qué diferencia hay entre el primero y el tercero? | 1 3
compará la segunda con la cuarta | 2 4
los dos primeros, ¿están cerca? | 1 2
¿los últimos dos aceptan perros? | -2 -1
the second sounds great | 2
let's go with the first one | 1
can you expand on the second point? | 2
how's the battery on the third one? | 3
give me more info on the last | -1
more about the 2nd pls | 2
more on the 5th | 5
#4 please | 4
go with number 1 | 1
is option 4 open source? | 4
option two it is | 2
what about 2? | 2
explain 4 in more detail | 4
the one before last | -2
the penultimate one | -2
tell me more about the frist one | 1
And the Second? | 2
and the fourth on your list? | 4
second one please | 2
compare the second one with the fourth | 2 4
the first two, are they close to each other? | 1 2
are the last two any good? | -2 -1
"""

NO_PLACES = """
por primera vez en mi vida
llegué el último a la meta
espera un segundo
la segunda mitad del partido
el primero de enero
¿qué pasó en la primera guerra mundial?
fue el primero en llegar
¿de qué color pinto el cuarto?
vivo en el cuarto piso
mi segunda novia se llamaba Ana
en primer lugar, gracias
¿cuándo fue la última vez que llovió?
me salió a la primera
quedé segundo en el torneo
los últimos me gustan
el 3 de mayo tengo turno
¿cuánto es 3 más 4?
hasta el 5
¿cuál era el segundo que te conté?
for the first time
first, install it
the third of June
Rent a van for the move on the 15th.
the last I heard it was closed
the last one to leave
the second law of thermodynamics
what was the second job I told you about?
the second one I bought
who was the father of Elizabeth the Second?
chapter 3 of the book
Which element has atomic number 26?
What is the molar mass of NO2?
Name three novels
How do I sort tuples by the second element?
I have 3 cats
in the second place, what now?
what is the first step to become a pilot?
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.note("v2 Buffer/8")
@pytest.mark.parametrize("line", lines(PLACES))
def test_a_place_in_a_list_is_read(line: str) -> None:
    text, _, places = line.partition(" | ")
    found = reference(text)
    assert found is not None
    assert found.places == tuple(map(int, places.split()))


@pytest.mark.parametrize("text", lines(NO_PLACES))
def test_an_ordinal_in_another_sense_is_no_place(text: str) -> None:
    assert reference(text) is None


@pytest.mark.parametrize(
    ("text", "noun", "closes"),
    [
        ("Cuéntame más sobre el segundo hotel", "hotel", True),
        ("me gustó el segundo hotel del viaje", "hotel", False),
        ("tell me more about the second hotel", "hotel", True),
        ("when does the 2nd hotel open?", "hotel", False),
    ],
)
def test_with_a_noun_a_list_of_such_is_meant(text: str, noun: str, closes: bool) -> None:
    found = reference(text)
    assert found is not None
    assert (found.kind, found.places, noun in found.terms, found.newest) == ("noun", (2,), True, False)
    assert found.closes is closes


@pytest.mark.parametrize(
    "text",
    ["¿y el de la terraza?", "la que tenía terraza, ¿abre hoy?", "what about the one with the terrace?"],
)
def test_an_item_is_read_by_what_it_has(text: str) -> None:
    found = reference(text)
    assert found is not None
    assert found.kind == "attribute"
    assert found.terms[0].startswith("terra")


@pytest.mark.parametrize(
    "text",
    ["juego al pádel con los de la oficina", "la de siempre, ¿no?", "y el de ayer?", "x" * 200, "the first\none"],
)
def test_not_by_what_is_of_something_else(text: str) -> None:
    assert reference(text) is None
