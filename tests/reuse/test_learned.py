"""What the learned gate decides where the lists are silent or wrong, and that its weights are what its code expects."""

import numpy as np
import pytest

from proxy.reuse.learned import ASKED, VERDICTS, learned, listed


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Which party controls the Senate?", "time_dependent"),
        ("What does a used Corolla go for?", "time_dependent"),
        ("¿Cuántos goles lleva Haaland?", "time_dependent"),
        ("¿Cómo se llama el ministro de Transporte?", "time_dependent"),
        ("Stick the parcel invoice in the shared drive and tell Ana.", "side_effect"),
        ("Encargale una torta a la panadería.", "side_effect"),
        ("Some nights I just lie there and it all feels heavy.", "emotional"),
        ("Desde que se fue la casa me queda enorme.", "emotional"),
    ],
)
def test_recognises_what_is_not_to_be_reused(said: str, asked: str) -> None:
    assert learned(said) == asked


@pytest.mark.parametrize(
    "said",
    [
        "Is it safe to pour acid into water?",
        "Who was Ada Lovelace?",
        "How does Telegram make a profit?",
        "¿Quién es Noam Chomsky?",
        "¿Alguien vio un unicornio?",
        "How many goals did Pelé score in 1958?",
        "¿En qué año se estrenó Psicosis?",
        "¿Cómo se juega al truco?",
        "What is a circuit breaker?",
        "Dame un ejemplo de carta formal.",
    ],
)
def test_lets_pass_what_is_the_same_on_any_day(said: str) -> None:
    assert learned(said) is None


def test_an_embedding_is_weighed_too() -> None:
    said = "What is a monad?"
    decided = {learned(said, np.eye(384, dtype=np.float32)[at] * sign) for at in range(384) for sign in (-50, 50)}
    assert decided > {None}


def test_an_embedding_of_another_model_is_not() -> None:
    assert learned("What is a monad?", np.full(768, 50, np.float32)) is None


def test_the_reason_is_the_lists_where_they_have_one() -> None:
    assert listed("What time is it right now?") == learned("What time is it right now?") == "time_dependent"


def test_the_lists_are_asked_once_for_each_verdict() -> None:
    assert len(set(VERDICTS)) == len(VERDICTS) > len(ASKED)
