"""What small words and signs tell apart, each kind on its own."""

import pytest

from proxy.language.language import Language
from proxy.reuse.guards import OPTIONAL, REQUIRED, particles
from proxy.reuse.question import analyse
from tests.languages import EN, ES

ROWS: list[tuple[str, Language, str, str]] = [
    ("signs", EN, "What does && do in bash?", "What does || do in bash?"),
    ("signs", EN, "What is the cube of -3?", "What is the cube of 3?"),
    ("signs", ES, "¿Qué significa @ en Python?", "¿Qué significa # en Python?"),
    ("mentioned", EN, "How does a for loop work?", "How does a while loop work?"),
    ("mentioned", EN, "What is vitamin a good for?", "What is vitamin d good for?"),
    ("mentioned", EN, "What happened in May 1968?", "What happened in 1968?"),
    ("mentioned", ES, "¿Cómo se conjuga el verbo ser?", "¿Cómo se conjuga el verbo tener?"),
    ("mentioned", ES, "¿Para qué sirve la vitamina a?", "¿Para qué sirve la vitamina d?"),
    ("owner", EN, "How do I find my IP?", "How do I find your IP?"),
    ("owner", ES, "¿Cómo cambio mi clave?", "¿Cómo cambio tu clave?"),
    ("owner", EN, "What is your salary?", "What is my salary?"),
    ("owner", ES, "¿Cómo ver tu pedido?", "¿Cómo veo mi pedido?"),
    ("modality", EN, "Can I tip in Japan?", "Should I tip in Japan?"),
    ("modality", EN, "Do I have to register?", "Can I register?"),
    ("modality", ES, "¿Puedo tomar alcohol?", "¿Debo tomar alcohol?"),
    ("pointing", EN, "Which team did Messi play for?", "Which team did Messi play against?"),
    ("pointing", ES, "¿Para quién trabaja?", "¿Con quién trabaja?"),
    ("pointing", ES, "¿A quién venció Roma?", "¿Quién venció a Roma?"),
    ("doing", EN, "How do I make soap?", "How do I use soap?"),
    ("doing", ES, "¿Cómo uso un telescopio?", "¿Cómo hago un telescopio?"),
]


@pytest.mark.parametrize(("kind", "language", "one", "other"), ROWS)
def test_what_small_words_and_signs_tell_apart(kind: str, language: Language, one: str, other: str) -> None:
    first, second = analyse(one, language), analyse(other, language)
    assert particles(first, second).startswith(f"{kind}: ")
    assert particles(second, first).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("language", "one", "same"),
    [
        (EN, "How do I change my password?", "How do I change a password?"),
        (EN, "How do I change my tone?", "How do you change your tone?"),
        (EN, "What is the best way to train your dog?", "How do I train my dog?"),
        (ES, "¿Cómo puedo mejorar mi letra?", "¿Cómo puedes mejorar tu letra?"),
        (EN, "How can I reset my router?", "How should I reset my router?"),
        (EN, "What is entropy?", "What's entropy?"),
        (ES, "¿Cómo cambio mi clave?", "¿Cómo se cambia la clave?"),
        (ES, "¿Me podés decir qué es la entropía?", "¿Qué quiere decir entropía?"),
    ],
)
def test_and_what_they_do_not(language: Language, one: str, same: str) -> None:
    assert particles(analyse(one, language), analyse(same, language)) == ""


def test_every_kind_has_rows() -> None:
    assert {kind for kind, *_ in ROWS} == {*REQUIRED, *OPTIONAL}
