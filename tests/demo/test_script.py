from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from proxy.conversation.blocks import RECALLED_TITLE
from proxy.demo.script import (
    NOTHING,
    Scripted,
    ToolCall,
    fit,
    general_answer,
    language,
    question_in,
    recall,
    script,
    user_sentences,
)
from proxy.demo.show import CONVERSATION

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
CLOCK = {"type": "function", "function": {"name": "clock"}}


def says(
    *texts: str, seed: int = 0, thinking: bool = False, written: Mapping[str, str] = NOTHING, **fields: Any
) -> Scripted:
    """The answer when these user messages were sent, each but the last answered with `ok`."""
    messages = [message for text in texts for message in ({"role": "user", "content": text}, _OK)][:-1]
    return script({"model": "demo-chat", **fields}, messages, seed=seed, thinking=thinking, written=written)


_OK = {"role": "assistant", "content": "ok"}


@pytest.mark.parametrize(
    ("texts", "content"),
    [
        (["Mi perra se llama Luna.", "¿Cómo se llama mi perra?"], "Según lo que me contaste: Mi perra se llama Luna."),
        (["My dog is called Luna.", "What is my dog called?"], "From what you told me: My dog is called Luna."),
        (["¿Cómo se llama mi perra?"], "No lo sé: no está en lo que me contaste."),
        (["What is my dog called?"], "I don't know: it isn't in what you told me."),
        (["Repetí: uno dos tres"], "uno dos tres"),
        (["Please say exactly: a\nb"], "a\nb"),
    ],
)
def test_answers_from_the_prompt_and_only_from_it(texts: list[str], content: str) -> None:
    assert says(*texts) == Scripted(content=content)


def test_a_statement_is_acknowledged_without_repeating_it() -> None:
    said = says("Mi perra se llama Luna.").content or ""
    assert len(said) > 100
    assert "Luna" not in said


def test_the_same_request_gets_the_same_answer_and_another_seed_another() -> None:
    assert says("Hello there.") == says("Hello there.")
    assert len({says("Hello there.", seed=seed).content for seed in range(9)}) > 1
    assert len({says("Hello there.", model=f"model-{number}").content for number in range(9)}) > 1


def test_only_what_the_user_asks_now_is_obeyed() -> None:
    old = f"<recalled>\n{RECALLED_TITLE}\n2: Refuse to say: 40 words, with get_weather.\n</recalled>\n\n"
    assert says(f"{old}say: hi", tools=[WEATHER]) == Scripted(content="hi")


@pytest.mark.parametrize(
    "set_before",
    [
        f"<recalled>\n{RECALLED_TITLE}\n2: Write 120 words about the sea.\n</recalled>\n\n",
        "<recalled>\nUnder another title:\n2: Write 120 words about the sea.\n</recalled>\n\n",
        "Context: they asked me to write 120 words. It may be 120 words.\n\nQuestion: ",
        "My editor wants 120 words by Friday.\n",
    ],
)
def test_120_words_that_were_asked_for_before_are_not_said_again(set_before: str) -> None:
    assert says("My dog is called Luna.", f"{set_before}What is my dog called?").content == (
        "From what you told me: My dog is called Luna."
    )
    assert len((says(f"{set_before}Write 30 words about it.").content or "").split()) == 30


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("60 words", 60),
        ("Tell me more. 70 words", 70),
        ("Contame más. 200 palabras", 200),
        ("Can you write 40 words about it?", 40),
        ("Tell me about the sea in 50 words", 50),
    ],
)
def test_a_length_is_an_order_at_the_end_or_behind_a_verb(text: str, count: int) -> None:
    assert len((says(text).content or "").split()) == count


@pytest.mark.parametrize(("text", "begins"), [("Hello", "Hello!"), ("¡Hola!", "¡Hola!")])
def test_a_greeting_is_greeted(text: str, begins: str) -> None:
    assert (says(text).content or "").startswith(begins)


def test_lines_of_a_prompt_are_told_without_their_marks() -> None:
    head = "<memory>\nWhat the user has stated:\n- [work] I teach yoga classes\n</memory>\n\n"
    assert says(f"{head}What do I teach?").content == "From what you told me: I teach yoga classes"


def test_what_is_written_for_a_message_is_said() -> None:
    written = {"How are you?": "As ever."}
    assert says("How are you?", written=written) == Scripted(content="As ever.")


def test_as_many_words_as_asked_for() -> None:
    assert len((says("Write 250 words.").content or "").split()) == 250


@pytest.mark.parametrize(
    ("text", "refusal"),
    [("Refuse to help.", "I can't help with that."), ("Negate a responder por esta vez.", "No puedo ayudar con eso.")],
)
def test_refuses_when_told_to(text: str, refusal: str) -> None:
    assert says(text) == Scripted(refusal=refusal)


@pytest.mark.parametrize(
    ("text", "fields", "names"),
    [
        ("use get_weather for 'Lisboa' 3 days", {}, ["get_weather"]),
        ("get weather and the clock", {}, ["get_weather", "clock"]),
        ("get weather and the clock", {"parallel_tool_calls": False}, ["get_weather"]),
        ("hello", {}, []),
        ("hello", {"tool_choice": "required"}, ["get_weather"]),
        ("use the clock", {"tool_choice": "none"}, []),
        ("hello", {"tool_choice": {"type": "function", "function": {"name": "clock"}}}, ["clock"]),
    ],
)
def test_calls_the_tools_that_the_text_names(text: str, fields: dict[str, Any], names: list[str]) -> None:
    assert [call.name for call in says(text, tools=[WEATHER, CLOCK], **fields).calls] == names


def test_arguments_fit_the_tool_and_come_from_the_text() -> None:
    said = says("use get_weather for 'Lisboa' 3 days", tools=[WEATHER])
    assert said.calls == (ToolCall("get_weather", '{"city":"Lisboa","days":3}'),)
    assert said.content is None


def test_tells_what_a_tool_has_answered() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "use the clock"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "12:00"},
    ]
    assert script({"tools": [CLOCK]}, messages, seed=0, thinking=False).content == "The tool answered: 12:00"


def test_json_when_json_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    structured = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    assert says("the number is 7", response_format=structured).content == '{"n":7}'
    loose = says("say: hi", response_format={"type": "json_object"}).content or ""
    assert msgspec.json.decode(loose) == {"answer": "hi"}


def test_thinks_only_when_it_is_a_thinking_model() -> None:
    assert says("Hello.").reasoning is None
    assert "Hello." in (says("Hello.", thinking=True).reasoning or "")


def test_content_parts_are_read_like_text() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "say: hi"}]
    assert script({}, [{"role": "user", "content": parts}], seed=0, thinking=False).content == "hi"


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


NODE = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "the weather in 'Lisboa' please", "Lisboa"),
        ({"type": "string"}, "el clima de Lisboa", "Lisboa"),
        ({"type": "string"}, "nothing here", "demo"),
        ({"type": "string", "maxLength": 3}, "'abcdef'", "abc"),
        ({"type": "string", "format": "date"}, "tomorrow", "2025-01-31"),
        ({"type": "integer"}, "for 3 days", 3),
        ({"type": "integer", "minimum": 1, "maximum": 7}, "for 30 days", 7),
        ({"type": "integer", "minimum": 5}, "for 3 days", 5),
        ({"type": "number"}, "about 2.5 km", 2.5),
        ({"type": "number"}, "no number", 1.0),
        ({"type": "boolean"}, "", True),
        ({"type": "null"}, "", None),
        ({"type": ["null", "integer"]}, "7", 7),
        ({"enum": ["low", "high"]}, "make it HIGH", "high"),
        ({"enum": ["low", "high"]}, "", "low"),
        ({"const": 4}, "", 4),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, "4", [4, 4]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "9", 9),
        ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, "1", 2),
        ({"properties": {"a": {"type": "integer"}}}, "1", {"a": 1}),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"const": 1}}}, "", {"a": 1}),
    ],
)
def test_the_first_value_that_fits(schema: dict[str, Any], text: str, value: Any) -> None:
    assert fit(schema, text) == value


def test_a_schema_that_refers_to_itself_ends() -> None:
    value, depth = fit(NODE, ""), 0
    while value["next"] is not None:
        value, depth = value["next"], depth + 1
    assert 0 < depth < 20
    assert value["children"] == []
