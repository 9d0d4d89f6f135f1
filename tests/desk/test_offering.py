"""Requests that can carry our tools, and the names that they have there."""

from typing import Any

import pytest

from proxy.desk.offering import offer, offerable
from proxy.desk.schemas import MEMORY_OFFER, NAMES
from proxy.protocol.dialects import GENERIC, KIMI, MISTRAL, OPENAI, Dialect
from proxy.types.desk import Offered
from tests.builders import assistant, chat, user


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]


@pytest.mark.note("SMMA 9/1")
@pytest.mark.parametrize(
    ("fields", "dialect", "can"),
    [
        ({}, OPENAI, True),
        ({"tools": tools("look")}, OPENAI, True),
        ({"tools": tools("look"), "tool_choice": "auto"}, OPENAI, True),
        ({"tools": tools("look"), "tool_choice": "none"}, OPENAI, False),
        ({"tools": tools("look"), "tool_choice": "required"}, OPENAI, False),
        ({"tools": tools("look"), "tool_choice": "any"}, MISTRAL, False),
        ({"tools": tools("look"), "tool_choice": {"type": "function", "function": {"name": "look"}}}, OPENAI, False),
        ({"response_format": {"type": "text"}}, OPENAI, True),
        ({"response_format": {"type": "json_object"}}, OPENAI, False),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, OPENAI, False),
        ({"response_format": "odd"}, OPENAI, False),
        ({"guided_regex": "a+"}, GENERIC, False),
        ({"n": 1}, OPENAI, True),
        ({"n": 2}, OPENAI, False),
        ({"modalities": ["text", "audio"], "audio": {"voice": "x"}}, OPENAI, False),
        ({"functions": [{"name": "look"}]}, OPENAI, False),
        ({"tools": tools(*(f"t{at}" for at in range(120)))}, OPENAI, True),
        ({"tools": tools(*(f"t{at}" for at in range(121)))}, OPENAI, False),
        ({"tools": tools(*(f"t{at}" for at in range(121)))}, KIMI, False),
        ({"tools": tools(*(f"t{at}" for at in range(121)))}, GENERIC, True),
        ({}, Dialect("toolless", (), max_tools=0), False),
    ],
)
def test_tools_are_offered_where_the_model_is_free_to_call_them(
    fields: dict[str, Any], dialect: Dialect, can: bool
) -> None:
    assert offerable(chat(user("hi"), **fields), dialect) is can


def test_an_answer_that_is_to_be_continued_gets_no_tools() -> None:
    assert not offerable(chat(user("hi"), assistant("Well,", prefix=True)), MISTRAL)


def test_a_name_that_the_client_uses_gets_a_suffix() -> None:
    made = offer(chat(user("hi"), tools=tools("look", "remember")), "es", None)
    assert made.language == "es"
    assert made.names == tuple(f"{name}_memory" if name == "remember" else name for name in NAMES)


def test_an_offer_stays_as_it_was_unless_the_client_takes_one_of_its_names() -> None:
    before = Offered("es", NAMES, "fold")
    assert offer(chat(user("hi"), tools=tools("look")), "en", before) is before
    again = offer(chat(user("hi"), tools=tools("forget")), "en", before)
    assert again.language == "es"
    assert "forget_memory" in again.names
    assert "forget" not in again.names


@pytest.mark.parametrize(
    ("taken", "has_memory", "before", "names"),
    [
        ("look", True, None, MEMORY_OFFER),
        ("look", True, MEMORY_OFFER, MEMORY_OFFER),
        ("look", True, NAMES, MEMORY_OFFER),
        ("look", False, MEMORY_OFFER, NAMES),
        ("memory", True, None, NAMES),
    ],
)
def test_a_provider_with_a_memory_tool_gets_that_in_place_of_ours(
    taken: str, names: tuple[str, ...], before: tuple[str, ...] | None, *, has_memory: bool
) -> None:
    given = chat(user("Hi"), tools=tools(taken))
    offered = None if before is None else Offered("es", before, "fold")
    made = offer(given, "en", offered, has_memory=has_memory)
    assert made.names == names
    assert made.language == ("en" if before is None else "es")
