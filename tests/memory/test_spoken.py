"""The language of short statements."""

import pytest

from proxy.memory.spoken import spoken_in
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("tengo dos gatos", "es"),
        ("soy celíaco", "es"),
        ("Uso Linux en la notebook", "es"),
        ("I use Linux", "en"),
        ("we have two cats", "en"),
        ("type 1 diabetic", "en"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_of_what_is_too_short_to_be_sure_it_is_that_of_the_commonest_words(said: str, language: Language) -> None:
    assert spoken_in(said) == language
