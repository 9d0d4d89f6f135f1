"""What small words and signs tell apart, each kind on its own."""

import pytest

from proxy.reuse.lexicon import Language
from proxy.reuse.particles import OPTIONAL, REQUIRED, particles
from proxy.reuse.question import analyse

ROWS: list[tuple[str, Language, str, str]] = [
    ("signs", "en", "What does && do in bash?", "What does || do in bash?"),
    ("signs", "en", "What is the cube of -3?", "What is the cube of 3?"),
    ("signs", "es", "¿Qué significa @ en Python?", "¿Qué significa # en Python?"),
    ("mentioned", "en", "How does a for loop work?", "How does a while loop work?"),
    ("mentioned", "en", "What is vitamin a good for?", "What is vitamin d good for?"),
    ("mentioned", "en", "What happened in May 1968?", "What happened in 1968?"),
    ("mentioned", "es", "¿Cómo se conjuga el verbo ser?", "¿Cómo se conjuga el verbo tener?"),
    ("mentioned", "es", "¿Para qué sirve la vitamina a?", "¿Para qué sirve la vitamina d?"),
    ("owner", "en", "How do I find my IP?", "How do I find your IP?"),
    ("owner", "es", "¿Cómo cambio mi clave?", "¿Cómo cambio tu clave?"),
    ("owner", "en", "What is your salary?", "What is my salary?"),
    ("owner", "es", "¿Cómo ver tu pedido?", "¿Cómo veo mi pedido?"),
    ("modality", "en", "Can I tip in Japan?", "Should I tip in Japan?"),
    ("modality", "en", "Do I have to register?", "Can I register?"),
    ("modality", "es", "¿Puedo tomar alcohol?", "¿Debo tomar alcohol?"),
    ("pointing", "en", "Which team did Messi play for?", "Which team did Messi play against?"),
    ("pointing", "es", "¿Para quién trabaja?", "¿Con quién trabaja?"),
    ("pointing", "es", "¿A quién venció Roma?", "¿Quién venció a Roma?"),
    ("doing", "en", "How do I make soap?", "How do I use soap?"),
    ("doing", "es", "¿Cómo uso un telescopio?", "¿Cómo hago un telescopio?"),
]


@pytest.mark.parametrize(("kind", "language", "one", "other"), ROWS)
def test_what_small_words_and_signs_tell_apart(kind: str, language: Language, one: str, other: str) -> None:
    first, second = analyse(one, language), analyse(other, language)
    assert particles(first, second).startswith(f"{kind}: ")
    assert particles(second, first).startswith(f"{kind}: ")


@pytest.mark.parametrize(
    ("language", "one", "same"),
    [
        ("en", "How do I change my password?", "How do I change a password?"),
        ("en", "How do I change my tone?", "How do you change your tone?"),
        ("en", "What is the best way to train your dog?", "How do I train my dog?"),
        ("es", "¿Cómo puedo mejorar mi letra?", "¿Cómo puedes mejorar tu letra?"),
        ("en", "How can I reset my router?", "How should I reset my router?"),
        ("en", "What is entropy?", "What's entropy?"),
        ("es", "¿Cómo cambio mi clave?", "¿Cómo se cambia la clave?"),
        ("es", "¿Me podés decir qué es la entropía?", "¿Qué quiere decir entropía?"),
    ],
)
def test_and_what_they_do_not(language: Language, one: str, same: str) -> None:
    assert particles(analyse(one, language), analyse(same, language)) == ""


def test_every_kind_has_rows() -> None:
    assert {kind for kind, *_ in ROWS} == {*REQUIRED, *OPTIONAL}
