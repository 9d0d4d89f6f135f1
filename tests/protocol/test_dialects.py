"""The table itself: complete, readable, frozen. A row for every rule of every dialect, refused and taken; whole turns
dropped from the front never break one."""

import dataclasses
import string
from typing import Any, TypeAlias, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.config import Upstream
from proxy.protocol.dialects import DIALECTS, Dialect, Rule, violations
from proxy.protocol.message import message
from proxy.types import Message
from tests.examples import examples
from tests.scripted.refusals import TEXTS, text_of

RULES = frozenset(get_args(Rule))
DETAILS = {"count", "id", "ids", "position", "previous", "role"}  # what a text may mention
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())


def test_there_is_a_row_for_every_dialect_that_the_configuration_offers() -> None:
    assert set(DIALECTS) == set(get_args(Upstream.model_fields["dialect"].annotation))


@every_dialect
def test_a_row_cannot_be_changed(dialect: Dialect) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        dialect.name = "other"  # type: ignore[misc]  # the assignment that must fail


@every_dialect
def test_a_scripted_upstream_has_a_text_for_every_rule_that_mentions_known_details(dialect: Dialect) -> None:
    assert set(TEXTS[dialect.name]) == set(dialect.rules)
    for text in TEXTS[dialect.name].values():
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= DETAILS


def test_every_rule_is_somebodys() -> None:
    assert {rule for dialect in DIALECTS.values() for rule in dialect.rules} == RULES


@every_dialect
def test_every_dialect_refuses_orphans_and_unanswered_calls(dialect: Dialect) -> None:
    assert {"no_messages", "orphan_result", "unanswered_call"} <= set(dialect.rules)


@every_dialect
def test_a_rule_that_needs_a_parameter_has_it(dialect: Dialect) -> None:
    needs = {
        "too_many_tools": dialect.max_tools,
        "empty_content": dialect.nonempty,
        "prefill_followed": dialect.prefill,
        "role_order": dialect.followers,
        "missing_reasoning": dialect.reasoning != "optional",
    }
    for rule, parameter in needs.items():
        assert (rule in dialect.rules) == bool(parameter), rule


@pytest.mark.parametrize(
    ("name", "include_usage", "reasoning"),
    [
        ("kimi", True, "with_calls"),
        ("openai", True, "optional"),
        ("deepseek", True, "with_call_turns"),
        ("mistral", False, "optional"),
        ("vllm", True, "optional"),
        ("generic", False, "optional"),
    ],
)
def test_what_each_upstream_knows(name: str, *, include_usage: bool, reasoning: str) -> None:
    assert (DIALECTS[name].include_usage, DIALECTS[name].reasoning) == (include_usage, reasoning)


Body: TypeAlias = dict[str, Any]


def array(*bodies: Body) -> tuple[Message, ...]:
    return tuple(message(body) for body in bodies)


def says(role: str, content: Any = "hola", **extra: Any) -> Body:
    return {"role": role, "content": content, **extra}


def calls(*ids: str, **extra: Any) -> Body:
    tools = [{"id": id_, "type": "function", "function": {"name": "clock", "arguments": "{}"}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": tools, **extra}


def tool_result(id_: str) -> Body:
    return {"role": "tool", "tool_call_id": id_, "content": "12:00"}


SYSTEM, USER, ANSWER = says("system"), says("user"), says("assistant")
X, Y = "aaaaaaaa1", "bbbbbbbb2"
THOUGHT = {"reasoning_content": "hm"}

OPENAI_ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)
ANTHROPIC_ORPHAN = (
    "messages.2: `tool_result` block(s) that have no corresponding `tool_use` block in the previous message."
)
ANTHROPIC_REPEATED = (
    "messages.3: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
)
ANTHROPIC_UNANSWERED = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
UNANSWERED = (
    "n assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: "
)
DEEPSEEK_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)"
)
ALTERNATE = (
    "After the optional system message, conversation roles must alternate user and assistant roles "
    "except for tool calls and results."
)
MISTRAL_COUNT = "Not the same number of function calls and responses"

EMPTY: list[tuple[str, Any]] = [("assistant", ""), ("assistant", None), ("user", ""), ("system", []), ("user", [])]
TOO_MANY = "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length "

REFUSED: list[tuple[str, list[Body], list[tuple[Any, int, str]]]] = [
    ("openai", [USER, ANSWER, tool_result(X)], [("orphan_result", 2, OPENAI_ORPHAN)]),
    ("openai", [tool_result(X), USER], [("orphan_result", 0, OPENAI_ORPHAN)]),
    ("openai", [USER, calls(X), tool_result(X), ANSWER, tool_result(X)], [("orphan_result", 4, OPENAI_ORPHAN)]),
    ("openai", [USER, calls(X), ANSWER, USER], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    ("openai", [USER, calls(X)], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    ("openai", [USER, calls(X, Y), tool_result(Y), USER], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    (
        "openai",
        [USER, calls(X), USER, tool_result(X)],
        [("unanswered_call", 1, f"A{UNANSWERED}{X}"), ("orphan_result", 3, OPENAI_ORPHAN)],
    ),
    (
        "openai",
        [USER, calls(X), tool_result(X), tool_result(X)],
        [
            (
                "repeated_result",
                3,
                f"Invalid parameter: Duplicate value for 'tool_call_id' of '{X}', in messages[2] and messages[3].",
            )
        ],
    ),
    ("kimi", [USER, ANSWER, tool_result(X)], [("orphan_result", 2, "Invalid request: tool_call_id  is not found")]),
    ("kimi", [USER, calls("Shell:58"), USER], [("unanswered_call", 1, f"a{UNANSWERED}Shell:58")]),
    *(
        (
            "kimi",
            [USER, ANSWER, says(role, content), USER],
            [
                (
                    "empty_content",
                    2,
                    f"Invalid request: the message at position 2 with role '{role}' must not be empty",
                )
            ],
        )
        for role, content in EMPTY
    ),
    (
        "kimi",
        [USER, calls(X, **THOUGHT), tool_result(X), calls(Y), tool_result(Y)],
        [
            (
                "missing_reasoning",
                3,
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 3",
            )
        ],
    ),
    (
        "kimi",
        [USER, says("assistant", "Ho", partial=True), USER],
        [
            (
                "prefill_followed",
                1,
                "Invalid request: partial is only supported on the last message, but it is set at position 1",
            )
        ],
    ),
    (
        "deepseek",
        [USER, calls(X), USER],
        [("unanswered_call", 1, DEEPSEEK_UNANSWERED)],
    ),
    (
        "deepseek",
        [USER, tool_result(X)],
        [
            (
                "orphan_result",
                1,
                "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            )
        ],
    ),
    (  # the answer after the tool result thinks too
        "deepseek",
        [USER, calls(X, **THOUGHT), tool_result(X), ANSWER, USER],
        [("missing_reasoning", 3, "The `reasoning_content` in the thinking mode must be passed back to the API.")],
    ),
    (
        "mistral",
        [USER, calls(X), tool_result(X), USER],
        [("role_order", 3, "Unexpected role 'user' after role 'tool'")],
    ),
    ("mistral", [USER, ANSWER, SYSTEM, USER], [("role_order", 2, "Unexpected role 'system' after role 'assistant'")]),
    (
        "mistral",
        [USER, tool_result(X)],
        [("orphan_result", 1, MISTRAL_COUNT), ("role_order", 1, "Unexpected role 'tool' after role 'user'")],
    ),
    ("mistral", [USER, calls(X, Y), tool_result(X), ANSWER, USER], [("unanswered_call", 1, MISTRAL_COUNT)]),
    (
        "mistral",
        [USER, calls("call_1"), tool_result("call_1")],
        [("call_id", at, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.") for at in (1, 2)],
    ),
    (
        "mistral",
        [USER, says("assistant", ""), USER],
        [("empty_content", 1, "Assistant message must have either content or tool_calls, but not none.")],
    ),
    (
        "mistral",
        [USER, ANSWER],
        [
            (
                "last_role",
                1,
                "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
            )
        ],
    ),
    (
        "mistral",
        [USER, says("assistant", "Ho", prefix=True), USER],
        [("prefill_followed", 1, "Assistant message with prefix True must be last message")],
    ),
    ("vllm", [SYSTEM, SYSTEM, USER], [("late_system", 1, "System message must be at the beginning.")]),
    ("vllm", [USER, ANSWER, SYSTEM, USER], [("late_system", 2, "System message must be at the beginning.")]),
    ("vllm", [USER, ANSWER, says("developer"), USER], [("late_system", 2, "System message must be at the beginning.")]),
    ("vllm", [SYSTEM, USER, USER], [("alternation", 2, ALTERNATE)]),
    ("vllm", [SYSTEM, ANSWER, USER], [("alternation", 1, ALTERNATE)]),
    ("vllm", [USER, ANSWER, ANSWER, USER], [("alternation", 2, ALTERNATE)]),
    ("vllm", [USER, calls(X), tool_result(X), USER], [("alternation", 3, ALTERNATE)]),
    (
        "vllm",
        [USER, ANSWER, tool_result(X), USER],
        [("orphan_result", 2, "Message has tool role, but there was no previous assistant message with a tool call!")],
    ),
    ("vllm", [USER, calls(X), ANSWER, USER], [("unanswered_call", 1, MISTRAL_COUNT)]),
    ("anthropic", [USER, ANSWER, tool_result(X)], [("orphan_result", 2, ANTHROPIC_ORPHAN)]),
    ("anthropic", [USER, calls(X, Y), tool_result(Y), USER], [("unanswered_call", 1, f"{ANTHROPIC_UNANSWERED}{X}.")]),
    (
        "anthropic",
        [USER, calls(X), tool_result(X), tool_result(X)],
        [
            (
                "repeated_result",
                3,
                ANTHROPIC_REPEATED + X,
            )
        ],
    ),
    ("generic", [USER, ANSWER, tool_result(X)], [("orphan_result", 2, OPENAI_ORPHAN)]),
    ("generic", [USER, calls(X), USER], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
]

TAKEN: list[tuple[str, list[Body]]] = [
    ("openai", [SYSTEM, USER, calls(X, Y), tool_result(Y), tool_result(X), ANSWER, USER]),
    ("openai", [USER, calls(X), tool_result(X), USER]),
    (
        "openai",
        [USER, calls(X), tool_result(X), ANSWER, USER, calls(X), tool_result(X)],
    ),  # ids may come again in a later exchange
    ("openai", [USER, ANSWER, SYSTEM, USER, USER, ANSWER]),
    ("openai", [USER, says("assistant", None, tool_calls=[]), USER]),
    ("kimi", [SYSTEM, USER, calls("clock:0", content="", **THOUGHT), tool_result("clock:0")]),  # a call may say nothing
    ("kimi", [USER, calls("clock:0"), tool_result("clock:0"), ANSWER, USER]),  # no message thinks: nothing to return
    ("kimi", [USER, calls(X, reasoning_content=""), tool_result(X), ANSWER, USER]),
    ("kimi", [USER, says("assistant", "Ho", partial=True)]),
    ("kimi", [USER, says("assistant", "Ho", partial=False), USER]),
    ("kimi", [says("user", [{"type": "text", "text": "hola"}])]),
    (
        "deepseek",
        [USER, calls(X, **THOUGHT), tool_result(X), says("assistant", "son las 12", **THOUGHT), USER, ANSWER, USER],
    ),
    ("mistral", [SYSTEM, SYSTEM, USER, USER, calls(X), tool_result(X), ANSWER, USER]),
    ("mistral", [USER, ANSWER, ANSWER, USER, SYSTEM]),
    ("mistral", [USER, says("assistant", "Ho", prefix=True)]),
    ("vllm", [SYSTEM, USER, calls(X), tool_result(X), calls(Y), tool_result(Y), ANSWER, USER]),
    ("vllm", [says("developer"), USER]),
    ("vllm", [USER, ANSWER, USER]),
    ("generic", [USER, ANSWER, SYSTEM, USER, USER, calls(X), tool_result(X), USER]),
    ("anthropic", [USER, ANSWER, USER, calls(X, Y), tool_result(X), tool_result(Y), USER]),
]


@pytest.mark.parametrize(("name", "bodies", "expected"), REFUSED)
def test_is_refused_with_the_upstreams_own_words(
    name: str, bodies: list[Body], expected: list[tuple[Any, int, str]]
) -> None:
    messages, dialect = array(*bodies), DIALECTS[name]
    found = violations(messages, dialect)
    assert [(each.rule, each.index, text_of(each, dialect, messages)) for each in found] == expected


@pytest.mark.parametrize(("name", "bodies"), TAKEN)
def test_is_taken(name: str, bodies: list[Body]) -> None:
    assert violations(array(*bodies), DIALECTS[name]) == ()


def test_every_rule_of_every_dialect_has_a_row() -> None:
    rows = {(name, rule) for name, _, expected in REFUSED for rule, _, _ in expected}
    apart = {"no_messages", "too_many_tools"}  # tested over all dialects below
    missing = {(name, rule) for name, dialect in DIALECTS.items() for rule in dialect.rules if rule not in apart} - rows
    assert missing == set()


@every_dialect
def test_no_messages_at_all(dialect: Dialect) -> None:
    (found,) = violations((), dialect)
    assert (found.rule, text_of(found, dialect, ())) == ("no_messages", TEXTS[dialect.name]["no_messages"])


@pytest.mark.parametrize(
    ("name", "tools", "texts"),
    [
        ("kimi", 128, []),
        ("kimi", 129, ["Invalid request: at most 128 tools are supported, got 129"]),
        ("openai", 128, []),
        (
            "openai",
            129,
            [f"{TOO_MANY}129 instead."],
        ),
        (
            "deepseek",
            200,
            [f"{TOO_MANY}200 instead."],
        ),
        ("mistral", 129, []),
        ("vllm", 129, []),
        ("generic", 129, []),
    ],
)
def test_how_many_tools(name: str, tools: int, texts: list[str]) -> None:
    messages, dialect = array(USER), DIALECTS[name]
    assert [text_of(each, dialect, messages, tools) for each in violations(messages, dialect, tools)] == texts


@pytest.mark.parametrize(("thinking", "refused"), [(True, True), (False, False), (None, False)])
def test_reasoning_is_wanted_back_only_while_thinking(thinking: bool | None, refused: bool) -> None:
    found = violations(array(USER, calls(X), tool_result(X)), DIALECTS["kimi"], thinking=thinking)
    assert bool(found) is refused


@st.composite
def whole_turns(draw: st.DrawFn) -> list[Body]:
    """A whole turn that every dialect takes: asks, perhaps calls tools and hears all of them, answers."""
    turn = [says("user", draw(st.text(min_size=1)))]
    for step in range(draw(st.integers(0, 2))):
        ids = [f"step{step}id{n:02d}" for n in range(draw(st.integers(1, 3)))]
        turn.append(calls(*ids, **THOUGHT))
        turn.extend(tool_result(id_) for id_ in draw(st.permutations(ids)))
    return [*turn, says("assistant", draw(st.text(min_size=1)), **THOUGHT)]


@every_dialect
@settings(max_examples=examples(40))
@given(
    system=st.booleans(),
    history=st.lists(whole_turns(), max_size=6),
    newest=whole_turns(),
    data=st.data(),
)
def test_dropping_whole_turns_from_the_front_never_breaks_a_conversation(
    dialect: Dialect, system: bool, history: list[list[Body]], newest: list[Body], data: st.DataObject
) -> None:
    head = [SYSTEM] if system else []
    kept = history[data.draw(st.integers(0, len(history))) :]
    asks = newest[: data.draw(st.sampled_from([1, *_after_results(newest)]))]
    assert violations(array(*head, *(body for turn in history for body in turn), *asks), dialect) == ()
    assert violations(array(*head, *(body for turn in kept for body in turn), *asks), dialect) == ()


@given(history=st.lists(whole_turns(), min_size=1, max_size=4), data=st.data())
def test_a_cut_inside_a_unit_is_always_found(history: list[list[Body]], data: st.DataObject) -> None:
    bodies = [body for turn in history for body in turn]
    inside = [at for at, body in enumerate(bodies) if body["role"] == "tool"]
    if inside:
        assert violations(array(*bodies[data.draw(st.sampled_from(inside)) :], USER), DIALECTS["openai"])


def _after_results(turn: list[Body]) -> list[int]:
    """Lengths at which the turn waits for the model: after the last result of an exchange."""
    return [at + 1 for at in range(len(turn) - 1) if turn[at]["role"] == "tool" and turn[at + 1]["role"] != "tool"]
