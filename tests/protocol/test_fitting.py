"""Messages of another API, as each upstream of chat completions takes them."""

from typing import Any

import pytest

from proxy.protocol.fitting import BLANK, SEE_BELOW, fitted
from proxy.protocol.message import message

Json = Any
ALL = ["kimi", "openai", "deepseek", "mistral", "vllm", "anthropic", "generic"]
CALLS = [{"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
IMAGE = {"type": "image_url", "image_url": {"url": "u"}}


def made(messages: list[Json], dialect: str, *, continues: bool = False) -> list[Json]:
    return [dict(each.data) for each in fitted([message(each) for each in messages], dialect, continues=continues)]


def user(said: Json) -> Json:
    return {"role": "user", "content": said}


def assistant(said: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": said, **more}


def result(said: Json, call_id: str = "t") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": said}


@pytest.mark.parametrize("dialect", ALL)
def test_instructions_are_one_message(dialect: str) -> None:
    said = [{"role": "system", "content": "One"}, {"role": "developer", "content": "Two"}, user("Hi")]
    assert made(said, dialect) == [{"role": "system", "content": "One\n\nTwo"}, user("Hi")]


@pytest.mark.parametrize(
    "nothing",
    [assistant(None), assistant(""), assistant(" \n"), assistant([]), assistant(None, reasoning_content="Hm")],
)
@pytest.mark.parametrize("dialect", ALL)
def test_an_answer_that_says_nothing_is_left_out(dialect: str, nothing: Json) -> None:
    assert made([user("One"), nothing, user("Two")], dialect) == [user("One"), user("Two")]
    assert made([nothing], dialect) != []


@pytest.mark.parametrize(
    "something", [assistant("x"), assistant(None, tool_calls=CALLS), assistant(None, refusal="No")]
)
def test_any_other_stays(something: Json) -> None:
    said = [user("One"), something, result("found")]
    assert made(said, "generic") == said


@pytest.mark.parametrize("dialect", [each for each in ALL if each != "mistral"])
def test_images_of_results_stand_behind_them(dialect: str) -> None:
    calls = assistant("Look", tool_calls=CALLS, reasoning_content="Hm")
    said = [user("Go"), calls, result([{"type": "text", "text": "a"}, IMAGE]), result([IMAGE], "u"), result("b", "v")]
    told = made([*said, user("And?")], dialect)
    assert told[2:] == [
        result(f"a\n{SEE_BELOW}"),
        result(SEE_BELOW, "u"),
        result("b", "v"),
        user([IMAGE, IMAGE, {"type": "text", "text": "And?"}]),
    ]
    assert made(said, dialect)[-1] == user([IMAGE, IMAGE])
    assert made([*said, assistant("Well")], dialect)[-2:] == [user([IMAGE, IMAGE]), assistant("Well")]


def test_mistral_takes_them_where_they_are_and_no_user_behind_a_result() -> None:
    said = [user("Go"), assistant("", tool_calls=CALLS), result([IMAGE])]
    assert made(said, "mistral") == said


@pytest.mark.parametrize(("dialect", "is_kept"), [("mistral", False), ("kimi", True), ("generic", True)])
def test_reasoning_goes_where_it_is_taken(dialect: str, is_kept: bool) -> None:
    told = made([user("Go"), assistant("x", reasoning_content="Hm"), user("And?")], dialect)
    assert ("reasoning_content" in told[1]) == is_kept


@pytest.mark.parametrize(
    ("dialect", "filled"),
    [("kimi", [1]), ("deepseek", [1, 3]), ("generic", []), ("openai", []), ("vllm", []), ("mistral", [])],
)
def test_reasoning_that_was_lost_is_a_blank_where_it_is_demanded(dialect: str, filled: list[int]) -> None:
    said = [
        user("Go"),
        assistant(None, tool_calls=CALLS),
        result("found"),
        assistant("x"),
        user("And?"),
        assistant("y"),
    ]
    told = made([*said, user("Well?")], dialect)
    assert [at for at, each in enumerate(told) if each.get("reasoning_content") == BLANK] == filled


def test_reasoning_that_is_there_stays() -> None:
    said = [user("Go"), assistant(None, tool_calls=CALLS, reasoning_content="Hm"), result("found")]
    assert made(said, "kimi") == said


@pytest.mark.parametrize(("dialect", "mark"), [("kimi", "partial"), ("mistral", "prefix"), ("generic", None)])
def test_the_beginning_of_an_answer_is_marked(dialect: str, mark: str | None) -> None:
    said = [user("Go"), assistant("The answer (")]
    marked = {} if mark is None else {mark: True}
    assert made(said, dialect, continues=True) == [user("Go"), {**said[1], **marked}]
    assert made(said, dialect) == said
    calls = [user("Go"), assistant("x", tool_calls=CALLS, reasoning_content="")]
    assert mark not in made(calls, dialect, continues=True)[-1]


def test_results_stand_behind_their_calls() -> None:
    calls = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in "ab"]
    one, two = assistant("I look", tool_calls=calls), assistant("And again", tool_calls=calls[:1])
    said = [user("Hi"), one, user("Wait"), result("B", "b"), result("A", "a"), two, user("So?"), result("A2", "a")]
    assert made(said, "generic") == [
        *(user("Hi"), one, result("B", "b"), result("A", "a"), user("Wait")),
        *(two, result("A2", "a"), user("So?")),
    ]
    lone = [user("Hi"), result("C", "c"), user("So?")]
    assert made(lone, "generic") == lone
