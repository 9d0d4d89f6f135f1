"""The bench of memory's model: the same code for hand-made answers and for a model's; the README that it writes."""

import msgspec
import pytest

from tests.bench import memory_model
from tests.bench.memory_model import README, Score, run, scored, scripted
from tests.curation.conversations import asked, carried_out, conversations


def test_the_readme_is_what_the_code_asks_and_keeps_and_says_that_its_answers_are_hand_made() -> None:
    assert README.read_text() == memory_model.written()
    assert "hand-made: no model wrote them" in README.read_text()


def test_without_a_model_it_says_so_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in memory_model.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert memory_model.main([]) == 2
    assert "OLVIDO_MEMORY_BASE_URL" in capsys.readouterr().err


@pytest.mark.long
def test_all_that_is_kept_of_the_hand_made_answers_is_right() -> None:
    score = run(scripted, misses=False)
    assert score.asked == 60
    assert score.right == score.kept > 100


def test_what_the_hand_made_answer_does_not_have_counts_against_a_model() -> None:
    conversation = next(each for each in conversations() if not each.known)
    question, score = asked(conversation), Score()
    user = conversation.turns[0].utterances[0].text
    quote = " ".join(user.split()[:8])
    beside = {"op": "add", "key": "x", "value": quote, "domain": "personal", "turn": 1, "quote": quote}
    done = carried_out(conversation, question, msgspec.json.encode({"operations": [beside]}))
    wrong = scored(score, conversation, question, done)
    assert (score.found, score.right) == (0, 0)
    assert sum("missing" in line for line in wrong) == score.expected
