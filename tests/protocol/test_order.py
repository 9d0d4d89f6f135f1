"""A row for every rule of every dialect, refused and taken; whole turns dropped from the front never break one."""

from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.protocol.dialects import DIALECTS, Dialect
from proxy.protocol.order import Violation, violations
from proxy.protocol.request import message
from proxy.types import Message

Body: TypeAlias = dict[str, Any]
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())


def array(*bodies: Body) -> tuple[Message, ...]:
    return tuple(message(body) for body in bodies)


def says(role: str, content: Any = "hola", **extra: Any) -> Body:
    return {"role": role, "content": content, **extra}


def calls(*ids: str, **extra: Any) -> Body:
    tools = [{"id": id_, "type": "function", "function": {"name": "clock", "arguments": "{}"}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": tools, **extra}


def result(id_: str) -> Body:
    return {"role": "tool", "tool_call_id": id_, "content": "12:00"}


S, U, A = says("system"), says("user"), says("assistant")
X, Y = "aaaaaaaa1", "bbbbbbbb2"
THOUGHT = {"reasoning_content": "hm"}

OPENAI_ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)
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
    ("openai", [U, A, result(X)], [("orphan_result", 2, OPENAI_ORPHAN)]),
    ("openai", [result(X), U], [("orphan_result", 0, OPENAI_ORPHAN)]),
    ("openai", [U, calls(X), result(X), A, result(X)], [("orphan_result", 4, OPENAI_ORPHAN)]),
    ("openai", [U, calls(X), A, U], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    ("openai", [U, calls(X)], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    ("openai", [U, calls(X, Y), result(Y), U], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
    (
        "openai",
        [U, calls(X), U, result(X)],
        [("unanswered_call", 1, f"A{UNANSWERED}{X}"), ("orphan_result", 3, OPENAI_ORPHAN)],
    ),
    (
        "openai",
        [U, calls(X), result(X), result(X)],
        [
            (
                "repeated_result",
                3,
                f"Invalid parameter: Duplicate value for 'tool_call_id' of '{X}', in messages[2] and messages[3].",
            )
        ],
    ),
    ("kimi", [U, A, result(X)], [("orphan_result", 2, "Invalid request: tool_call_id  is not found")]),
    ("kimi", [U, calls("Shell:58"), U], [("unanswered_call", 1, f"a{UNANSWERED}Shell:58")]),
    *(
        (
            "kimi",
            [U, A, says(role, content), U],
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
        [U, calls(X, **THOUGHT), result(X), calls(Y), result(Y)],
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
        [U, says("assistant", "Ho", partial=True), U],
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
        [U, calls(X), U],
        [("unanswered_call", 1, DEEPSEEK_UNANSWERED)],
    ),
    (
        "deepseek",
        [U, result(X)],
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
        [U, calls(X, **THOUGHT), result(X), A, U],
        [("missing_reasoning", 3, "The `reasoning_content` in the thinking mode must be passed back to the API.")],
    ),
    ("mistral", [U, calls(X), result(X), U], [("role_order", 3, "Unexpected role 'user' after role 'tool'")]),
    ("mistral", [U, A, S, U], [("role_order", 2, "Unexpected role 'system' after role 'assistant'")]),
    (
        "mistral",
        [U, result(X)],
        [("orphan_result", 1, MISTRAL_COUNT), ("role_order", 1, "Unexpected role 'tool' after role 'user'")],
    ),
    ("mistral", [U, calls(X, Y), result(X), A, U], [("unanswered_call", 1, MISTRAL_COUNT)]),
    (
        "mistral",
        [U, calls("call_1"), result("call_1")],
        [("call_id", at, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.") for at in (1, 2)],
    ),
    (
        "mistral",
        [U, says("assistant", ""), U],
        [("empty_content", 1, "Assistant message must have either content or tool_calls, but not none.")],
    ),
    (
        "mistral",
        [U, A],
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
        [U, says("assistant", "Ho", prefix=True), U],
        [("prefill_followed", 1, "Assistant message with prefix True must be last message")],
    ),
    ("vllm", [S, S, U], [("late_system", 1, "System message must be at the beginning.")]),
    ("vllm", [U, A, S, U], [("late_system", 2, "System message must be at the beginning.")]),
    ("vllm", [U, A, says("developer"), U], [("late_system", 2, "System message must be at the beginning.")]),
    ("vllm", [S, U, U], [("alternation", 2, ALTERNATE)]),
    ("vllm", [S, A, U], [("alternation", 1, ALTERNATE)]),
    ("vllm", [U, A, A, U], [("alternation", 2, ALTERNATE)]),
    ("vllm", [U, calls(X), result(X), U], [("alternation", 3, ALTERNATE)]),
    (
        "vllm",
        [U, A, result(X), U],
        [("orphan_result", 2, "Message has tool role, but there was no previous assistant message with a tool call!")],
    ),
    ("vllm", [U, calls(X), A, U], [("unanswered_call", 1, MISTRAL_COUNT)]),
    ("generic", [U, A, result(X)], [("orphan_result", 2, OPENAI_ORPHAN)]),
    ("generic", [U, calls(X), U], [("unanswered_call", 1, f"A{UNANSWERED}{X}")]),
]

TAKEN: list[tuple[str, list[Body]]] = [
    ("openai", [S, U, calls(X, Y), result(Y), result(X), A, U]),
    ("openai", [U, calls(X), result(X), U]),
    ("openai", [U, calls(X), result(X), A, U, calls(X), result(X)]),  # ids may come again in a later exchange
    ("openai", [U, A, S, U, U, A]),
    ("openai", [U, says("assistant", None, tool_calls=[]), U]),
    ("kimi", [S, U, calls("clock:0", content="", **THOUGHT), result("clock:0")]),  # a call may say nothing
    ("kimi", [U, calls("clock:0"), result("clock:0"), A, U]),  # no message thinks: nothing to return
    ("kimi", [U, calls(X, reasoning_content=""), result(X), A, U]),
    ("kimi", [U, says("assistant", "Ho", partial=True)]),
    ("kimi", [U, says("assistant", "Ho", partial=False), U]),
    ("kimi", [says("user", [{"type": "text", "text": "hola"}])]),
    ("deepseek", [U, calls(X, **THOUGHT), result(X), says("assistant", "son las 12", **THOUGHT), U, A, U]),
    ("mistral", [S, S, U, U, calls(X), result(X), A, U]),
    ("mistral", [U, A, A, U, S]),
    ("mistral", [U, says("assistant", "Ho", prefix=True)]),
    ("vllm", [S, U, calls(X), result(X), calls(Y), result(Y), A, U]),
    ("vllm", [says("developer"), U]),
    ("vllm", [U, A, U]),
    ("generic", [U, A, S, U, U, calls(X), result(X), U]),
]


@pytest.mark.parametrize(("name", "bodies", "expected"), REFUSED)
def test_is_refused_with_the_upstreams_own_words(
    name: str, bodies: list[Body], expected: list[tuple[Any, int, str]]
) -> None:
    assert violations(array(*bodies), DIALECTS[name]) == tuple(Violation(*row) for row in expected)


@pytest.mark.parametrize(("name", "bodies"), TAKEN)
def test_is_taken(name: str, bodies: list[Body]) -> None:
    assert violations(array(*bodies), DIALECTS[name]) == ()


def test_every_rule_of_every_dialect_has_a_row() -> None:
    rows = {(name, rule) for name, _, expected in REFUSED for rule, _, _ in expected}
    apart = {"no_messages", "too_many_tools"}  # tested over all dialects below
    missing = {
        (name, rule) for name, dialect in DIALECTS.items() for rule in dialect.refuses if rule not in apart
    } - rows
    assert missing == set()


@every_dialect
def test_no_messages_at_all(dialect: Dialect) -> None:
    assert [(found.rule, found.text) for found in violations((), dialect)] == [
        ("no_messages", dialect.refuses["no_messages"])
    ]


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
    assert [found.text for found in violations(array(U), DIALECTS[name], tools)] == texts


@pytest.mark.parametrize(("thinking", "refused"), [(True, True), (False, False), (None, False)])
def test_reasoning_is_wanted_back_only_while_thinking(thinking: bool | None, refused: bool) -> None:
    found = violations(array(U, calls(X), result(X)), DIALECTS["kimi"], thinking=thinking)
    assert bool(found) is refused


@st.composite
def turns(draw: st.DrawFn) -> list[Body]:
    """A whole turn that every dialect takes: asks, perhaps calls tools and hears all of them, answers."""
    turn = [says("user", draw(st.text(min_size=1)))]
    for step in range(draw(st.integers(0, 2))):
        ids = [f"step{step}id{n:02d}" for n in range(draw(st.integers(1, 3)))]
        turn.append(calls(*ids, **THOUGHT))
        turn.extend(result(id_) for id_ in draw(st.permutations(ids)))
    return [*turn, says("assistant", draw(st.text(min_size=1)), **THOUGHT)]


@every_dialect
@settings(max_examples=40)
@given(
    system=st.booleans(),
    history=st.lists(turns(), max_size=6),
    newest=turns(),
    data=st.data(),
)
def test_dropping_whole_turns_from_the_front_never_breaks_a_conversation(
    dialect: Dialect, system: bool, history: list[list[Body]], newest: list[Body], data: st.DataObject
) -> None:
    head = [S] if system else []
    kept = history[data.draw(st.integers(0, len(history))) :]
    asks = newest[: data.draw(st.sampled_from([1, *_after_results(newest)]))]
    assert violations(array(*head, *(body for turn in history for body in turn), *asks), dialect) == ()
    assert violations(array(*head, *(body for turn in kept for body in turn), *asks), dialect) == ()


@given(history=st.lists(turns(), min_size=1, max_size=4), data=st.data())
def test_a_cut_inside_a_unit_is_always_found(history: list[list[Body]], data: st.DataObject) -> None:
    bodies = [body for turn in history for body in turn]
    inside = [at for at, body in enumerate(bodies) if body["role"] == "tool"]
    if inside:
        assert violations(array(*bodies[data.draw(st.sampled_from(inside)) :], U), DIALECTS["openai"])


def _after_results(turn: list[Body]) -> list[int]:
    """Lengths at which the turn waits for the model: after the last result of an exchange."""
    return [at + 1 for at in range(len(turn) - 1) if turn[at]["role"] == "tool" and turn[at + 1]["role"] != "tool"]
