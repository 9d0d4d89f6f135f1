"""The words of orders to forget."""

import pytest

from proxy.memory import forget_words as words


@pytest.mark.parametrize(
    ("said", "is_memory"),
    [
        ("that from your memory", True),
        ("that off the record", True),
        ("eso de tus notas", True),
        ("de tu memoria lo de Ana", True),
        ("the comma from the notes", False),
        ("that from the list", False),
        ("eso de la lista", False),
    ],
)
def test_what_memory_is_called(said: str, is_memory: bool) -> None:
    assert (words.FROM_MEMORY.search(said) is not None) == is_memory


@pytest.mark.parametrize(
    "said", ["please, could you ", "would you mind ", "bueno, ya ", "i'd like you to ", "quiero que "]
)
def test_what_may_stand_before_the_verb(said: str) -> None:
    found = words.ENTREATY.match(said)
    assert found is not None
    assert found.end() == len(said)


@pytest.mark.parametrize(
    "said", ["the thing about ", "what i told you about ", "lo de ", "lo que te conte de ", "stuff on "]
)
def test_what_names_an_object_as_told(said: str) -> None:
    found = words.TOLD.match(f"{said}ana")
    assert found is not None
    assert found.end() == len(said)
