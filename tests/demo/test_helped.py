"""The part of the demonstration that shows memory with a model's help."""

import pytest

from proxy.demo.helped import COLUMNS, listed
from proxy.demo.remembering import written


@pytest.mark.long
def test_it_shows_a_fact_a_merge_and_a_digest_and_the_next_conversation_knows(printed: str) -> None:
    said = " ".join(printed.split())  # whatever line it was broken at
    assert "a fact by the model: Da clases de yoga («salgo de dar clases de yoga»)" in said
    assert "a merge: «Bruno, mi hijo de 4 años» says what is known: Tiene un hijo de cuatro años, Bruno" in said
    assert f"digest of the day: {written()['events'][0]['text']}" in said
    assert "(known to the next conversation)" in said


def test_lines_keep_within_the_width_of_a_terminal_and_their_beginnings_stand_out() -> None:
    title, *lines = listed("A title:", ["word " * 40, "- an item"]).splitlines()
    assert title == "A title:"
    assert max(map(len, lines)) <= COLUMNS
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 6, 6, 2]
