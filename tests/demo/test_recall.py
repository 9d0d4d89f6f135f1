import pytest

from proxy.conversation.blocks import RECALLED_TITLE
from proxy.demo.conversation import CONVERSATION
from proxy.demo.recall import general_answer, language, question_in, recall, user_sentences

TOLD = [
    "Hola, me llamo Valentina y vivo en Rosario. Tengo dos gatos.",
    "<memory>\nfact: Soy alérgica a los mariscos.\n</memory>\nHablemos de otra cosa.",
    "The flight leaves at 23:40 from Ezeiza. I work as a structural engineer.",
    "¿En qué ciudad vivo?",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("¿Dónde vivís?", "Hola, me llamo Valentina y vivo en Rosario."),
        ("¿A qué soy alérgica?", "fact: Soy alérgica a los mariscos."),
        ("When does the flight leave?", "The flight leaves at 23:40 from Ezeiza."),
        ("What kind of engineer am I?", "I work as a structural engineer."),
        ("¿Cuál es mi grupo sanguíneo?", None),
        ("What is the name of my dog?", None),
        ("¿Y qué?", None),
    ],
)
def test_finds_the_sentence_that_a_question_is_about_or_nothing(question: str, answer: str | None) -> None:
    assert recall(question, TOLD) == answer


def test_what_a_proxy_recalls_is_older_than_what_the_prompt_says_and_answers_are_not_the_users() -> None:
    lines = "3: The budget is 100.\n3 assistant: The budget is small. Is it?"
    old = f"<recalled>\n{RECALLED_TITLE}\n{lines}\n</recalled>\n\n"
    told = user_sentences(["The budget is 200.", f"{old}What is the budget?"])
    assert recall("What is the budget?", told) == "The budget is 200."
    assert "small" not in "".join(told)


def test_of_two_equal_statements_the_later_one_counts() -> None:
    assert recall("¿Cuál es el presupuesto?", ["El presupuesto es 100.", "El presupuesto es 200."]) == (
        "El presupuesto es 200."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gracias. ¿Y el vuelo?", "¿Y el vuelo?"),
        ("¿Uno? ¿Dos?", "¿Dos?"),
        ("<recall>¿viejo?</recall>\n¿Y ahora?", "¿Y ahora?"),
        ("Gracias.", None),
        ("", None),
    ],
)
def test_the_last_question_is_the_one_that_is_asked(text: str, expected: str | None) -> None:
    assert question_in(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("¿Qué tal?", "es"), ("dame la lista", "es"), ("What time is it?", "en"), ("", "en")]
)
def test_answers_in_the_language_of_the_text(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize("question", sorted({ask.text for ask in CONVERSATION if ask.alone}))
def test_knows_the_questions_that_the_conversation_repeats(question: str) -> None:
    assert len(general_answer(question) or "") > 200


def test_knows_nothing_about_a_person() -> None:
    assert general_answer("¿Cómo se llama mi perra?") is None
