from dataclasses import replace

import pytest

from proxy.memory.neighbours import lasting, with_reminders
from proxy.memory.passages import read
from proxy.memory.predictions import Guess


def kept(said: str, likely: float, about: str = "other") -> list[bool]:
    """Whether each clause is kept for what stands beside it, if each is so likely a fact about that, and none is
    dropped for itself."""
    guess = Guess(likely, lambda: about)
    found = [replace(each, predicted=lambda: guess).but(kept=True) for each in read(said)]
    return [each.kept for each in lasting(found)]


@pytest.mark.parametrize(
    ("said", "likely", "left"),
    [
        ("I live in Cork and my sister Una lives in Sligo.", 0.5, [True, True]),
        ("I forgot my charger and have 4% left.", 0.99, [True, False]),
        ("I forgot my charger and I live in Cork.", 0.99, [True, True]),
        ("Maybe I'll move to Cork, my sister Una lives there.", 0.8, [False, False]),
        ("Maybe I'll move to Cork, my sister Una lives there.", 0.9, [True, True]),
        ("It stinks.", 0.8, [False]),  # names nothing, in one content word
        ("It stinks.", 0.9, [True]),
    ],
)
def test_a_clause_is_kept_unless_what_stands_beside_it_says_otherwise(
    said: str, likely: float, left: list[bool]
) -> None:
    assert kept(said, likely) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("For this email, don't use any emoji and keep it formal.", [False, False]),
        ("In this chat and from now on, never use emoji.", [True]),
    ],
)
def test_an_instruction_whose_sentence_names_the_task_at_hand_is_dropped(said: str, left: list[bool]) -> None:
    assert kept(said, 0.99, "instruction") == left


def test_a_reminder_behind_a_clause_makes_it_explicit() -> None:
    first, reminder = with_reminders(read("The dress rehearsal is on May 3. Please keep that in mind."))
    assert (first.explicit, first.kept, reminder.kept) == (True, True, False)


def test_a_clause_without_a_reminder_stays_as_it_is() -> None:
    found = read("The dress rehearsal is on May 3. It rains.")
    assert with_reminders(found) == found
