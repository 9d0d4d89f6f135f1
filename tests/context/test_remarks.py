import pytest

from proxy.context.remarks import (
    Kind,
    is_casual,
    is_earnest,
    is_generic,
    is_passing,
    is_platitude,
    is_slight,
    names_thing,
    speaks_to_you,
)
from proxy.language.text import plain
from proxy.types.memory import Language


@pytest.mark.parametrize(
    ("language", "sentence", "casual"),
    [
        ("en", "Thanks a lot!", True),
        ("en", "What word target makes sense for two days?", False),
        ("es", "Tuve una fascitis en el pie, recordalo.", False),
        ("es", "jajaja las pastas de mi abuela", True),
        ("en", "Thanks for the 14 kilos.", False),
    ],
)
def test_thanks_and_jokes_are_casual_unless_they_ask_or_count(language: Language, sentence: str, casual: bool) -> None:
    assert is_casual(plain(sentence), language, sentence) is casual


@pytest.mark.parametrize(
    ("message", "earnest"),
    [
        ("How did you manage at the shelter?", True),
        ("¿Y si hago doble turno? es joda", False),
        ("You said that I use index cards, did I?", False),
        ("Thanks, that helps.", False),
    ],
)
def test_who_asks_in_earnest_is_told_from_who_jokes(message: str, earnest: bool) -> None:
    assert is_earnest(message) is earnest


@pytest.mark.parametrize(
    ("said", "passing"), [("I'm tired today and the office is cold", True), ("The office is in Leeds", False)]
)
def test_what_holds_today_only_is_passing(said: str, passing: bool) -> None:
    assert is_passing(plain(said), "en") is passing


@pytest.mark.parametrize(
    ("text", "platitude"),
    [
        ("Support from loved ones is vital", True),
        ("My cat has a broken leg", False),
        ("Life in Lisbon is great", False),  # it names something
    ],
)
def test_praise_that_names_little_is_a_platitude(text: str, platitude: bool) -> None:
    assert is_platitude(text, "en") is platitude


@pytest.mark.parametrize(
    ("text", "names"), [("What was your favourite part", False), ("What was your favourite bridge", True)]
)
def test_what_pleases_is_no_thing(text: str, names: bool) -> None:
    assert names_thing(text, "en") is names


@pytest.mark.parametrize(
    ("text", "generic"),
    [("review my code and suggest improvements", True), ("size the new nodes of the cluster", False)],
)
def test_what_could_be_asked_of_anything_is_generic(text: str, generic: bool) -> None:
    assert is_generic(text, "en") is generic


@pytest.mark.parametrize(
    ("kind", "text", "slight"),
    [
        ("request", "What got you into pottery", True),
        ("request", "How do I glaze a bowl of clay", False),
        ("statement", "The vibes were amazing", True),
        ("statement", "I glazed a bowl", False),
        ("request", "how many days a week", True),
    ],
)
def test_a_piece_is_slight_that_leaves_open_what_its_turn_is_about(kind: Kind, text: str, slight: bool) -> None:
    assert is_slight(text, kind, "en") is slight


def test_words_to_whoever_hears_them_are_told_apart() -> None:
    assert speaks_to_you("Your words mean a lot")
    assert not speaks_to_you("The words mean a lot")
