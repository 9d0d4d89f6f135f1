"""How a quotation is meant."""

import pytest

from proxy.memory.support_mood import no_statement
from tests.memory.quotations import quoted

# The quotation between asterisks, the value, the reason.
MOODS = {
    "what somebody else believes": [
        ("People think *I'm a lawyer*", "Is a lawyer", "handed-over"),
        ("*La gente cree que soy argentina*", "Es argentina", "handed-over"),
    ],
    "questions": [
        ("*Am I allergic to nuts?*", "Is allergic to nuts", "question"),
        ("Do you think *I should adopt a cat*?", "Is adopting a cat", "question"),
        ("¿me conviene *mudarme a Neuquén*?", "Se muda a Neuquén", "question"),
        ("How do I tell *my son, who is nine*?", "Has a son", ""),
        ("*I live in Lima*, what should I see?", "Lives in Lima", ""),
        ("*yo soy sorda de un oído*, qué auricular me conviene?", "Es sorda de un oído", ""),
    ],
    "conditions": [
        ("If my loan gets approved *we move to Bath*", "Is moving to Bath", "condition"),
        ("*we move to Bath in June* if my loan gets approved", "Is moving to Bath", "condition"),
        ("So long as mum agrees, *I'm walking the Camino*", "Is walking the Camino", "condition"),
        ("*me voy a Berlín* siempre y cuando me den la beca", "Se va a Berlín", "condition"),
        ("explain it *like I'm five*", "Is five years old", "condition"),
        ("*I only drink coffee when I travel*", "Drinks coffee", "condition"),
        ("*salgo a correr* solo cuando hace calor", "Sale a correr", "condition"),
        ("quizá *me mude a Rosario*", "Se muda a Rosario", "condition"),
        ("I almost *moved to Oslo* last year", "Moved to Oslo", "condition"),
        ("casi *me caso con una chilena*", "Se casa con una chilena", "condition"),
    ],
    "no conditions": [
        ("*Sí, soy zurda*", "Es zurda", ""),
        ("Si, yo, *laburo de casa para una aseguradora*", "Trabaja desde casa", ""),
        ("no sé si llueve, *vivo en Trelew*", "Vive en Trelew", ""),
        ("*soy monotributista*, asi que si me atraso pierdo", "Es monotributista", ""),
        ("*solo uso Linux*", "Solo usa Linux", ""),
    ],
    "wishes": [
        ("wouldn't mind *living in Lisbon*", "Lives in Lisbon", "wish"),
        ("me encantaría *tocar la batería*", "Toca la batería", "wish"),
        ("*I'd love to play the cello*", "Wants to play the cello", ""),
        ("I want to *learn Polish*", "Learns Polish", "wish"),
    ],
    "tasks": [
        ("*Answer in Spanish this time*", "Wants answers in Spanish", "task"),
        ("corregí este párrafo *con tono formal*", "Prefiere un tono formal", "task"),
        ("*Never use emojis with me*", "Wants no emojis", ""),
        ("*hazme siempre resúmenes cortos*", "Quiere resúmenes cortos", ""),
    ],
    "jokes": [
        ("oh great, *I just adore being on hold*", "Likes being on hold", "irony"),
        ("uf sí, *me encanta hacer cola*", "Le encanta hacer cola", "irony"),
        ("*My knees are gone, so everything I grow is in raised beds*", "Grows in raised beds", ""),
    ],
}


@pytest.mark.parametrize(
    ("message", "value", "reason"),
    [pytest.param(*row, id=f"{name}: {row[0]}") for name, rows in MOODS.items() for row in rows],
)
def test_a_quotation_is_read_in_the_mood_of_its_clause(message: str, value: str, reason: str) -> None:
    assert no_statement(quoted(message, value)) == reason
