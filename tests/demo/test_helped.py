"""The part of the demonstration that shows memory with a model's help."""

from pathlib import Path

import pytest

from proxy.demo import show
from proxy.demo.remembering import written


@pytest.mark.long
def test_it_shows_a_fact_a_merge_and_a_digest_and_the_next_conversation_knows(
    capsys: pytest.CaptureFixture[str], embedding_folder: Path
) -> None:
    assert embedding_folder.is_dir()
    assert show.run(0, stay=False, short=True) == 0
    said = capsys.readouterr().out
    assert "a fact by the model: Da clases de yoga  («salgo de dar clases de yoga»)" in said
    assert "a merge: «Bruno, mi hijo de 4 años» says what is known: Tiene un hijo de cuatro años, Bruno" in said
    assert f"digest of the day: {written()['events'][0]['text']}" in said
    assert "(known to the next conversation)" in said
