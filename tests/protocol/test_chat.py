"""The neutral request and message, as they are read from a chat completion's body."""

import ast
import inspect
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsBase,
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)

import proxy
from proxy.protocol.chat import UNKEYED, ChatCompletionRequest, canonical
from proxy.protocol.message import ChatCompletionMessage, message
from proxy.protocol.request import parse
from proxy.types import Part, ResponseFormat, Sampling, ToolCall
from tests.builders import assistant, calling, chat, result, user

PROXY = Path(proxy.__file__).parent
TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
LOW = {"type": "image_url", "image_url": {"url": "data:,", "detail": "low"}}
# Attributes of these names that belong to neither a request nor a message.
OTHERS = {"event.data", "layer.weight.data", "msgspec.json.decode(body, type=_Reply).data"}


def function(name: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def test_no_module_but_the_adapters_reads_raw_fields() -> None:
    found = [
        f"{path.relative_to(PROXY)}:{node.lineno} {ast.unparse(node)}"
        for path in PROXY.rglob("*.py")
        if path.relative_to(PROXY).parts[0] not in ("protocol", "demo")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("fields", "data") and ast.unparse(node) not in OTHERS
    ]
    assert found == []


# --- messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("role", "expected"), [("user", "user"), ("pirate", "pirate"), (None, ""), (7, "")])
def test_a_role_that_is_no_string_is_none(role: Any, expected: str) -> None:
    assert message({"role": role, "content": "x"}).role == expected


@pytest.mark.parametrize(
    ("said", "is_plain", "is_bare"),
    [
        (user("hello"), True, True),
        (result("a"), True, True),
        (user("hello", name="ana"), True, False),
        (assistant("hello", reasoning_content="hm"), True, False),
        (user([TEXT]), False, False),
        (assistant(None), False, False),
        (calling("a"), False, False),
    ],
)
def test_a_message_that_costs_its_text_and_no_more_is_bare(said: Any, is_plain: bool, is_bare: bool) -> None:
    found = message(said)
    assert (found.is_plain, found.is_bare) == (is_plain, is_bare)


@pytest.mark.parametrize(
    ("said", "sole", "is_multimodal"),
    [
        (user("hello"), "hello", False),
        (user([TEXT, TEXT]), "hello\nhello", False),
        (user([TEXT, IMAGE]), None, True),
        (user([{**TEXT, "cache_control": {}}]), "hello", False),
        (user([{**TEXT, "x": 1}]), None, False),
        (user("hello", name="ana"), None, False),
        (user("hello", name=None), "hello", False),
        (assistant("hello", reasoning_content="hm"), "hello", False),
        (assistant(None), None, False),
        (assistant("hello", audio={"id": "a"}), None, True),
        (assistant([{"type": "refusal", "refusal": "no"}]), None, False),
        (user({"type": "text"}), None, True),
        (user(["hello"]), None, True),
    ],
)
def test_what_a_message_has_beside_text(said: Any, sole: str | None, is_multimodal: bool) -> None:
    found = message(said)
    assert (found.sole_text, found.is_multimodal) == (sole, is_multimodal)


def test_all_that_is_written_in_parts_of_any_type() -> None:
    parts = [TEXT, {"type": "input_text", "text": "again"}, {"type": "refusal", "refusal": "no"}]
    assert message(user(parts)).written == "hello\nagain\n"
    assert (message(user("hello")).written, message(user(None)).written) == ("hello", "")


def test_parts_are_told_by_what_they_cost() -> None:
    sound, odd = {"type": "input_audio", "input_audio": {}}, {"type": "x"}
    assert message(user([TEXT, IMAGE, LOW, sound, odd])).parts == (
        Part("text", TEXT, "hello"),
        Part("image", IMAGE),
        Part("image", LOW, is_low=True),
        Part("media", sound),
        Part("other", odd),
    )
    assert message(user("hello")).parts == ()


def test_calls_and_what_answers_them() -> None:
    odd = [{"id": 7, "function": {"name": None, "arguments": {"a": 1}}}, "odd", {"function": "odd"}]
    said = message(assistant(None, tool_calls=[*calling("a")["tool_calls"], *odd], refusal="no"))
    assert list(said.tool_calls) == [
        ToolCall("a", "look", "{}"),
        ToolCall("7", "", '{"a":1}'),
        ToolCall("", "", None),
        ToolCall("", "", None),
    ]
    assert (said.calls_tools, message(assistant("x")).calls_tools) == (True, False)
    assert message(assistant(None, function_call={"name": "look"})).calls_tools
    assert list(said.beside) == ["no", said.data["tool_calls"]]
    assert (message(result("a")).tool_call_id, message(user("x")).tool_call_id) == ("a", "")
    assert (message(user("x", name="ana")).name, message(user("x", name=7)).name) == ("ana", None)


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ()),
        ({"tools": [], "functions": None}, ()),
        ({"tools": [function("look")]}, ("look",)),
        ({"tools": [function("look"), {"type": "web_search"}, "odd"], "functions": [{"name": "old"}]},
         ("look", None, None, "old")),
        ({"tools": [function(7)]}, (None,)),
        ({"tools": {"odd": 1}}, (None,)),
    ],
)  # fmt: skip
def test_the_names_of_tools(fields: dict[str, Any], names: tuple[str | None, ...]) -> None:
    request = chat(**fields)
    assert (tuple(request.tool_names), request.has_tools) == (names, bool(names))


def test_tools_are_what_the_client_wrote() -> None:
    search = {"type": "web_search"}
    known, unknown = chat(tools=[function("look"), search]).tools
    assert (known.name, known.parameters, known.definition) == ("look", {"type": "object"}, function("look"))
    assert (unknown.name, unknown.definition) == ("", search)
    assert list(chat(tools={"odd": 1}).tools) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), ("none", "none"), ("auto", "auto"), (function("look"), "required"), ([], "required")],
)
def test_the_choice_of_a_tool(given: Any, expected: str | None) -> None:
    assert chat(tool_choice=given).tool_choice == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ({"type": "text"}, ResponseFormat("text")),
        ({"type": "json_object"}, ResponseFormat("json_object", {"type": "object"})),
        ({"type": "json_schema"}, ResponseFormat("json_schema", {"type": "object"})),
        ({"type": "json_schema", "json_schema": {"schema": {"a": 1}}}, ResponseFormat("json_schema", {"a": 1})),
        ({"type": "grammar"}, ResponseFormat("grammar")),
        ({}, ResponseFormat("")),
        ("json", ResponseFormat("")),
    ],
)
def test_the_form_of_the_answer(given: Any, expected: ResponseFormat | None) -> None:
    assert chat(response_format=given).response_format == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Sampling(None, None)),
        ({"temperature": 0, "seed": 7}, Sampling(0, 7)),
        ({"temperature": True, "seed": True}, Sampling(None, None)),
        ({"temperature": "0", "seed": 7.0}, Sampling(None, None)),
    ],
)
def test_sampling(fields: dict[str, Any], expected: Sampling) -> None:
    assert chat(**fields).sampling == expected


@pytest.mark.parametrize(("n", "expected"), [(None, 1), (1, 1), (1.0, 1), (2, 2), (1.5, 1.5), ("1", 0), ([], 0)])
def test_the_number_of_answers(n: Any, expected: float) -> None:
    assert chat(n=n).n == expected


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"guided_json": {}}, "constrains_text"),
        ({"logprobs": True}, "wants_token_details"),
        ({"web_search_options": {}}, "wants_search"),
        ({"audio": {}}, "wants_audio"),
        ({"modalities": ["text", "audio"]}, "wants_audio"),
        ({"guided_json": None, "logprobs": False, "enable_search": False, "modalities": ["text"], "audio": None}, ""),
    ],
)
def test_what_else_is_asked_for(fields: dict[str, Any], told: str) -> None:
    request = chat(**fields)
    names = ("constrains_text", "wants_token_details", "wants_search", "wants_audio")
    assert [name for name in names if getattr(request, name)] == ([told] if told else [])


@pytest.mark.parametrize(
    ("fields", "session", "user_"),
    [
        ({}, None, ""),
        ({"prompt_cache_key": "k", "metadata": {"session_id": "s"}}, ("k", "prompt_cache_key"), ""),
        ({"prompt_cache_key": "", "metadata": {"chat_id": "c", "thread_id": "t"}}, ("t", "metadata"), ""),
        ({"prompt_cache_key": 7, "metadata": "odd"}, None, ""),
        ({"user": "ana"}, None, "ana"),
        ({"user": "ana", "safety_identifier": "eva"}, None, "eva"),
        ({"user": 7, "safety_identifier": ""}, None, "7"),
    ],
)
def test_whose_request_it_is(fields: dict[str, Any], session: tuple[str, str] | None, user_: str) -> None:
    request = chat(**fields)
    assert (request.session_hint, request.user_hint) == (session, user_)


def test_what_is_billed_beside_the_messages() -> None:
    tools, form = [function("look")], {"type": "json_object"}
    assert chat(tools=tools, response_format=form, temperature=0).beside == {"tools": tools, "response_format": form}
    assert chat(tools=[]).beside == {}


# Names that the properties look for, where they look for them and where they must not stand.
_NAMES = st.sampled_from(
    [
        "type",
        "text",
        "content",
        "role",
        "audio",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "tool_call_id",
        "image_url",
        "detail",
        "refusal",
        "reasoning_details",
        "thinking_blocks",
        "reasoning",
        "json_schema",
        "schema",
    ]
)
_FIELDS = st.sampled_from(
    [
        "n",
        "temperature",
        "seed",
        "tools",
        "functions",
        "tool_choice",
        "response_format",
        "modalities",
        "audio",
        "user",
        "stream_options",
        "metadata",
        "logprobs",
        "plugins",
        "guided_json",
        "prompt_cache_key",
        "safety_identifier",
    ]
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(("text", "function", "image_url", "json_schema", "file", ""))
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=6
)


def _properties(kind: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(kind, lambda member: isinstance(member, property))]


@given(st.dictionaries(_NAMES, _VALUES, max_size=5))
def test_a_message_of_any_json_can_be_read(data: Any) -> None:
    for name in _properties(ChatCompletionMessage):
        getattr(message(data), name)


@given(st.dictionaries(_FIELDS, _VALUES, max_size=5))
def test_a_request_of_any_json_can_be_read(fields: Any) -> None:
    for name in _properties(ChatCompletionRequest):
        getattr(chat(**fields), name)


# Every request field that is known to exist and is part of the key. A field that an SDK adds belongs here or, with its
# reason, in UNKEYED.
KEYED_OPENAI = """
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages
    modalities model moderation n parallel_tool_calls prediction presence_penalty reasoning_effort response_format
    seed service_tier stop store temperature tool_choice tools top_logprobs top_p verbosity web_search_options
"""
KEYED_ELSEWHERE = """
    thinking enable_thinking reasoning safe_prompt random_seed prompt_mode top_k min_p repetition_penalty
    length_penalty stop_token_ids include_stop_str_in_output ignore_eos min_tokens skip_special_tokens
    spaces_between_special_tokens truncate_prompt_tokens prompt_logprobs allowed_token_ids bad_words best_of
    use_beam_search echo add_generation_prompt continue_final_message add_special_tokens documents chat_template
    chat_template_kwargs mm_processor_kwargs guided_json guided_regex guided_choice guided_grammar structural_tag
    guided_decoding_backend guided_whitespace_pattern structured_outputs priority logits_processors
    return_tokens_as_token_ids return_token_ids cache_salt kv_transfer_params vllm_xargs include_reasoning
    enable_search search_options search_parameters plugins provider models route transforms
"""
KEYED = {*KEYED_OPENAI.split(), *KEYED_ELSEWHERE.split()}

BODY: dict[str, Any] = {"model": "kimi-k2", "messages": [{"role": "user", "content": "hello"}]}


def form(body: dict[str, Any]) -> bytes:
    found, is_ambiguous = canonical(parse(msgspec.json.encode(body)))
    assert not is_ambiguous
    return found


def test_every_field_of_the_sdk_is_classified() -> None:
    known = {
        *CompletionCreateParamsBase.__annotations__,
        *CompletionCreateParamsStreaming.__annotations__,
        *CompletionCreateParamsNonStreaming.__annotations__,
    }
    assert known - KEYED - UNKEYED.keys() == set()


def test_no_field_is_both_keyed_and_unkeyed() -> None:
    assert KEYED & UNKEYED.keys() == set()


def test_every_unkeyed_field_has_its_reason() -> None:
    assert all(len(reason) > 10 for reason in UNKEYED.values())


@pytest.mark.parametrize("name", sorted(UNKEYED))
def test_an_unkeyed_field_makes_no_difference(name: str) -> None:
    value = True if name == "stream" else {"a": "b"}
    assert form({**BODY, name: value}) == form(BODY)


@pytest.mark.parametrize("name", [*sorted(KEYED - BODY.keys()), "a_field_of_next_year"])
def test_any_other_field_makes_a_difference(name: str) -> None:
    forms = {form(BODY), form({**BODY, name: None}), form({**BODY, name: 1}), form({**BODY, name: {"a": 1}})}
    assert len(forms) == 4
