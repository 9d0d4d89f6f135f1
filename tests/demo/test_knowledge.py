import pytest

from proxy.demo.conversation import CONVERSATION
from proxy.demo.knowledge import general_answer


@pytest.mark.parametrize("question", sorted({ask.text for ask in CONVERSATION if ask.alone}))
def test_knows_the_questions_that_the_conversation_repeats(question: str) -> None:
    assert len(general_answer(question) or "") > 200


def test_knows_nothing_about_a_person() -> None:
    assert general_answer("¿Cómo se llama mi perra?") is None
