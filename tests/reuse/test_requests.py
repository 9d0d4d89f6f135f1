"""Questions that are plain, and what two of them must share."""

import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.chat import UNKEYED
from proxy.protocol.request import parse
from proxy.reuse.cacheable import is_reusable
from proxy.reuse.question import (
    MOST_BYTES,
    MOST_CONTEXT,
    UNSUITED,
    Conversation,
    Unsuited,
    conversation,
    entry_id,
    partition,
)
from proxy.types import ChatRequest
from tests.builders import Said, assistant, body, calling, chat, completion, result, system, user
from tests.protocol.test_chat import KEYED
from tests.reuse.test_partitions import EN, ES

LINES = (ES, EN)
ASKED = "How do I descale a coffee machine?"
FUNCTION = {"type": "function", "function": {"name": "get_x"}}
SYSTEM = system("You are a helpful assistant.")


def said(*these: Said, **fields: Any) -> Conversation:
    found = conversation(chat(*these, **fields), LINES)
    assert isinstance(found, Conversation), found
    return found


def within(request: ChatRequest, **differing: Any) -> str:
    """The partition of a request."""
    found = conversation(request, LINES)
    assert isinstance(found, Conversation), found
    under: dict[str, Any] = {"scope_id": "a/", "addressee": "up", "language": "en", "embedder": "v1", **differing}
    return partition(request=request, conversation=found, **under)


# --- what is no plain question ----------------------------------------------------------------------------------------

DATA_URL = "data:image/png;base64,AAAA"
UNSUITED_FIELDS: list[tuple[Mapping[str, Any], Unsuited]] = [
    ({"tools": [FUNCTION]}, "tools"),
    ({"tools": [{"type": "web_search"}]}, "tools"),
    ({"functions": [FUNCTION["function"]]}, "tools"),
    ({"tool_choice": "auto"}, "tools"),
    ({"tool_choice": {"type": "function", "function": {"name": "get_x"}}}, "tools"),
    ({"response_format": {"type": "json_object"}}, "json_mode"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}, "json_mode"),
    ({"response_format": {}}, "json_mode"),
    ({"response_format": "text"}, "json_mode"),
    ({"guided_json": {"type": "object"}}, "json_mode"),
    ({"guided_json": {}}, "json_mode"),
    ({"guided_choice": ["positive", "negative"]}, "json_mode"),
    ({"guided_regex": "[0-9]+"}, "json_mode"),
    ({"guided_grammar": "root ::= x"}, "json_mode"),
    ({"structured_outputs": {"choice": ["a"]}}, "json_mode"),
    ({"structural_tag": {"a": 1}}, "json_mode"),
    ({"grammar": "root ::= x"}, "json_mode"),
    ({"json_schema": {"type": "object"}}, "json_mode"),
    ({"format": "json"}, "json_mode"),
    ({"logprobs": True}, "logprobs"),
    ({"top_logprobs": 2}, "logprobs"),
    ({"prompt_logprobs": 1}, "logprobs"),
    ({"return_token_ids": True}, "logprobs"),
    ({"return_tokens_as_token_ids": True}, "logprobs"),
]


@pytest.mark.parametrize(("fields", "why"), UNSUITED_FIELDS)
def test_a_question_is_not_answered_by_its_meaning_where_more_than_text_is_asked_for(
    fields: Mapping[str, Any], why: Unsuited
) -> None:
    assert conversation(chat(user(ASKED), **fields), LINES) == why


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": []},
        {"tools": None},
        {"functions": []},
        {"tool_choice": "none"},
        {"tool_choice": None},
        {"response_format": None},
        {"response_format": {"type": "text"}},
        {"guided_json": None},
        {"logprobs": False},
        {"logprobs": None},
        {"top_logprobs": 0},
        {"return_token_ids": False},
        {"a_field_of_next_year": 1},
    ],
)
def test_a_field_that_asks_for_nothing_more_does_not_matter(fields: Mapping[str, Any]) -> None:
    assert said(user(ASKED), **fields) == Conversation(ASKED, (), ())


@pytest.mark.parametrize(
    ("these", "why"),
    [
        ([user("Look."), calling("1"), result("1"), user(ASKED)], "agent"),
        ([user("Look."), assistant("…", function_call={"name": "x"}), user(ASKED)], "agent"),
        ([user("Look."), {"role": "function", "name": "x", "content": "1"}, user(ASKED)], "agent"),
        ([user("Look."), {"role": "tool", "content": "1"}, user(ASKED)], "agent"),
        ([{"role": "wizard", "content": "x"}, user(ASKED)], "agent"),
        ([{"content": "x"}, user(ASKED)], "agent"),
        ([user("a"), assistant(None, refusal="no"), user(ASKED)], "agent"),
        ([user("a"), assistant("b", audio={"id": "1"}), user(ASKED)], "agent"),
        ([user(ASKED, name="ana")], "agent"),
        ([system("Be kind.", name="example_user"), user(ASKED)], "agent"),
        ([user(None)], "agent"),
        ([user(7)], "agent"),
        ([user([{"type": "text", "text": ASKED}, {"type": "image_url", "image_url": {"url": DATA_URL}}])], "agent"),
        ([user([{"type": "input_text", "text": ASKED}])], "agent"),
        ([user(["How?"])], "agent"),
        ([user([{"type": "text"}])], "agent"),
        ([user([{"type": "text", "text": 7}])], "agent"),
        ([user([{"type": "text", "text": ASKED, "file": DATA_URL}])], "agent"),
        # Fields that nobody has heard of may be pictures or documents.
        ([user(ASKED, images=[DATA_URL])], "agent"),
        ([user(ASKED, attachments=[{"file_id": "file-1"}])], "agent"),
        ([user("a"), assistant("b", prefix=True), user(ASKED)], "agent"),
        ([SYSTEM], "no_question"),
        ([user(ASKED), assistant("With vinegar.")], "no_question"),
        ([user(ASKED), assistant("With", reasoning_content="x")], "no_question"),
        ([user("a"), system("Now answer.")], "no_question"),
        ([user("")], "empty"),
        ([user(" \n\t")], "empty"),
        ([user([])], "empty"),
        ([*[user("a"), assistant("b")] * (MOST_CONTEXT + 1), user(ASKED)], "long_context"),
        ([user("x" * MOST_BYTES)], "large"),
        ([system("x" * MOST_BYTES), user(ASKED)], "large"),
    ],
)
def test_a_conversation_is_none_to_be_compared(these: list[Said], why: Unsuited) -> None:
    assert conversation(chat(*these), LINES) == why


def test_every_reason_is_among_those_that_metrics_know() -> None:
    assert set(UNSUITED) == set(get_args(Unsuited))
    shown = {why for _, why in UNSUITED_FIELDS} | {"agent", "no_question", "empty", "long_context", "large"}
    assert shown == set(UNSUITED)


@pytest.mark.parametrize(
    "these",
    [
        [user([{"type": "text", "text": ASKED}])],
        [user([{"type": "text", "text": ASKED, "cache_control": {"type": "ephemeral"}}])],
        [user(ASKED, cache_control={"type": "ephemeral"})],
        [user(ASKED, name="", tool_calls=None, images=[])],
    ],
)
def test_the_form_of_a_plain_text_does_not_matter(these: list[Said]) -> None:
    assert said(*these) == Conversation(ASKED, (), ())


def test_a_conversation_is_its_question_what_the_user_said_before_and_everything_else() -> None:
    answer = assistant(
        f"{EN}\n\nThree.", refusal=None, annotations=[], audio=None, tool_calls=None, reasoning_content="hm"
    )
    found = said(SYSTEM, user("Which?"), answer, {"role": "developer", "content": "Be brief."}, user(ASKED))
    assert found == Conversation(
        ASKED,
        ("Which?",),
        ((0, "system", "You are a helpful assistant."), (2, "assistant", "Three."), (3, "developer", "Be brief.")),
        follows_reuse=True,
    )


def test_as_many_earlier_questions_as_are_compared_are_allowed() -> None:
    assert len(said(*[user("a"), assistant("b")] * MOST_CONTEXT, user(ASKED)).context) == MOST_CONTEXT


# --- what two questions must share ------------------------------------------------------------------------------------

BASE = chat(SYSTEM, user("Which?"), assistant("Three."), user(ASKED))


def having(*these: Said, **fields: Any) -> ChatRequest:
    return chat(*(these or (SYSTEM, user("Which?"), assistant("Three."), user(ASKED))), **fields)


# These say that the request is none for reuse by intent, whatever their value.
_UNSUITING = {name for fields, _ in UNSUITED_FIELDS for name in fields} | {"tool_choice"}


@pytest.mark.parametrize("value", [None, 1, "x", {"a": 1}])
def test_every_field_that_reaches_the_model_parts(value: Any) -> None:
    names = sorted(KEYED - {"model", "messages"} - _UNSUITING)
    assert names
    assert [name for name in names if within(having(**{name: value})) == within(BASE)] == []


def test_a_field_of_next_year_parts_by_its_value() -> None:
    values: list[Any] = [None, 0, 1, 1.0, True, "1", "", [], {}, {"a": 1}, {"a": 2}]
    kept = {within(having(a_field_of_next_year=value)) for value in values}
    assert len(kept | {within(BASE)}) == len(values) + 1


@pytest.mark.parametrize("name", sorted(UNKEYED))
def test_a_field_that_never_reaches_the_model_does_not_part(name: str) -> None:
    value = True if name == "stream" else {"a": "b"}
    assert within(having(**{name: value})) == within(BASE)


@pytest.mark.parametrize(
    "differing",
    [
        {"scope_id": "a/ana"},
        {"addressee": "other"},
        {"addressee": "up?api-version=2"},
        {"language": "es"},
        {"embedder": "v2"},
        {"embedder": ""},
    ],
)
def test_who_asks_whom_in_which_language_and_by_which_vectors_parts(differing: Mapping[str, Any]) -> None:
    assert within(BASE, **differing) != within(BASE)


def test_neighbouring_parts_are_not_run_together() -> None:
    kept = {
        within(BASE, scope_id=scope, addressee=addressee, language=language, embedder=embedder)
        for scope, addressee, language, embedder in [
            ("a", "b", "en", "v"),
            ("ab", "", "en", "v"),
            ("", "ab", "en", "v"),
            ('a","b', "", "en", "v"),
            ("a", "b", "env", ""),
            ("a", "b", "", "env"),
        ]
    }
    assert len(kept) == 6


@pytest.mark.parametrize(
    "other",
    [
        having(model="other"),
        having(user("Which?"), assistant("Three."), user(ASKED)),
        having(system("You are a helpful assistant. "), user("Which?"), assistant("Three."), user(ASKED)),
        having(system("You are a pirate."), user("Which?"), assistant("Three."), user(ASKED)),
        having({**SYSTEM, "role": "developer"}, user("Which?"), assistant("Three."), user(ASKED)),
        having(SYSTEM, user("Which?"), assistant("Four."), user(ASKED)),
        having(SYSTEM, user("Which?"), system("Three."), user(ASKED)),
        having(SYSTEM, assistant("Three."), user("Which?"), user(ASKED)),
        having(SYSTEM, user("Which?"), assistant("Three."), system("Be brief."), user(ASKED)),
        having(SYSTEM, user("Which?"), assistant("Three."), assistant(""), user(ASKED)),
        having(SYSTEM, user("Which?"), assistant(f"{EN} Three."), user(ASKED)),
        having(SYSTEM, user("Which?"), assistant(f"So: {EN}\n\nThree."), user(ASKED)),
        having(SYSTEM, user(ASKED)),
    ],
)
def test_what_the_model_was_told_and_what_it_has_said_part(other: ChatRequest) -> None:
    assert within(other) != within(BASE)


@pytest.mark.parametrize("line", [EN, ES, f"{EN}\n\n{EN}"])
def test_an_earlier_answer_is_the_same_with_a_disclaimer_and_without(line: str) -> None:
    again = having(SYSTEM, user("Which?"), assistant(f"{line}\n\nThree."), user(ASKED))
    assert within(again) == within(BASE)


def test_a_disclaimer_in_the_users_or_the_systems_words_is_theirs() -> None:
    assert said(user(f"{EN}\n\n{ASKED}")).question == f"{EN}\n\n{ASKED}"
    assert within(chat(system(f"{EN}\n\nBe brief."), user("x"))) != within(chat(system("Be brief."), user("x")))


def test_the_users_own_words_do_not_part_since_they_are_compared() -> None:
    other = having(SYSTEM, user("And which is best?"), assistant("Three."), user("What is a black hole?"))
    assert within(other) == within(BASE)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (0, 0.0, True),
        (0, 0.3, True),
        (0.3, 0.31, False),
        (0.6, 0.7, True),
        (0.31, 1, True),
        (1, 1.01, False),
        (1.2, 2, True),
        (0, None, False),
        (0.7, None, False),
        (0, False, False),
        (1, True, False),
        (0.7, "0.7", False),
    ],
)
def test_temperatures_of_one_range_are_together(one: Any, other: Any, *, together: bool) -> None:
    kept = [within(having(temperature=value)) for value in (one, other)]
    assert (kept[0] == kept[1]) is together


def test_no_temperature_is_the_providers_own() -> None:
    assert within(BASE) not in {within(having(temperature=value)) for value in (0, 0.7, 1, 2, None)}


def test_only_temperatures_are_taken_together() -> None:
    assert within(having(top_p=0.6)) != within(having(top_p=0.7))


def test_a_partition_is_the_same_in_every_process() -> None:
    assert within(BASE) == "81f407aa0f5657e9e8851e65b7beea23"
    assert entry_id("a/", within(BASE), said(user(ASKED))) == "r-95392c870e590786"


# --- entries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "same"),
    [
        (ASKED, True),
        (f"  {ASKED}\n", True),
        (ASKED.replace(" ", "  "), True),
        (ASKED.lower(), False),
        (ASKED.rstrip("?"), False),
        ("How do I descale a kettle?", False),
    ],
)
def test_a_question_that_is_asked_again_is_the_same_entry(question: str, *, same: bool) -> None:
    ids = {entry_id("a/", "p", Conversation(words, (), ())) for words in (ASKED, question)}
    assert (len(ids) == 1) is same


def test_of_another_scope_partition_or_context_it_is_another() -> None:
    asked, later = Conversation("a", (), ()), Conversation("a", ("b",), ())
    split = Conversation("a", ("b", "c"), ())
    run = Conversation("a", ("b c",), ())
    ids = [entry_id("s", "p", each) for each in (asked, later, split, run)]
    ids += [entry_id("t", "p", asked), entry_id("s", "q", asked), entry_id("sp", "", asked)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"r-[0-9a-f]{16}", each) for each in ids)


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reusable"),
    [
        (completion("With vinegar."), True),
        (completion("With vinegar.", reasoning_content="hm", refusal=None, tool_calls=[], annotations=[]), True),
        (completion("  indented"), True),
        (completion("```python\nprint()\n```"), True),
        (completion("cut", finish_reason="length"), False),
        (completion("filtered", finish_reason="content_filter"), False),
        (completion("x", finish_reason="tool_calls"), False),
        (completion(""), False),
        (completion(" \n"), False),
        (completion(None), False),
        (completion("x", tool_calls=[{"id": "1"}]), False),
        (completion("x", function_call={"name": "x"}), False),
        (completion("x", refusal="no"), False),
        (completion(None, audio={"id": "1"}), False),
        (completion('{"answer": 42}'), False),  # a disclaimer would break it
        (completion("\n[1, 2]"), False),
        (completion('```json\n{"answer": 42}\n```'), False),
        ({"choices": [{**completion()["choices"][0], "logprobs": {"content": []}}]}, False),
        ({"choices": completion()["choices"] * 2}, False),
        ({"choices": []}, False),
        ({"choices": None}, False),
        ({"choices": ["x"]}, False),
        ({"choices": [{"finish_reason": "stop"}]}, False),
        ({"choices": [{"finish_reason": "stop", "message": "x"}]}, False),
        ({"choices": [{"finish_reason": "stop", "message": {"content": [{"type": "text", "text": "x"}]}}]}, False),
        ({"error": {"message": "x"}}, False),
        ({}, False),
    ],
)
def test_an_answer_is_reused_only_if_it_is_one_whole_text_for_people(
    answer: Mapping[str, Any], *, reusable: bool
) -> None:
    assert is_reusable(answer) is reusable


# --- whatever comes ---------------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)
TEXTS = st.text() | st.just(EN) | st.text().map(lambda text: f"{ES}\n\n{text}")
PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS | VALUES}) | VALUES, max_size=3)
ROLES = st.sampled_from(["user", "user", "assistant", "system", "developer", "tool"]) | VALUES
MESSAGES = st.lists(
    st.fixed_dictionaries({}, optional={"role": ROLES, "content": TEXTS | PARTS | VALUES, "name": VALUES})
    | st.dictionaries(st.text(), VALUES, max_size=2),
    max_size=6,
)
FIELDS = st.dictionaries(
    st.sampled_from(["temperature", "response_format", "tools", "tool_choice", "logprobs", "seed"]) | st.text(),
    VALUES,
    max_size=3,
).map(lambda fields: {name: value for name, value in fields.items() if name not in {"model", "messages", "stream"}})
PLAIN = st.lists(st.builds(user, TEXTS) | st.builds(assistant, TEXTS) | st.builds(system, TEXTS), max_size=5)


@given(MESSAGES, FIELDS)
def test_nothing_that_can_be_parsed_is_too_odd(these: list[Said], fields: dict[str, Any]) -> None:
    request = parse(body(*these, user("x"), **fields))
    found = conversation(request, LINES)
    if isinstance(found, Conversation):
        kept = partition("a/", "up", request, found, language="en", embedder="v1")
        assert len(kept) == 32
        assert entry_id("a/", kept, found).startswith("r-")
    else:
        assert found in UNSUITED


@given(VALUES)
def test_no_answer_is_too_odd(choices: Any) -> None:
    assert not is_reusable({"choices": choices})


@given(PLAIN, FIELDS, st.text(), st.text())
def test_nothing_of_another_scope_is_equal(these: list[Said], fields: dict[str, Any], mine: str, other: str) -> None:
    request = parse(body(*these, user("x"), **fields))
    found = conversation(request, LINES)
    if not isinstance(found, Conversation) or mine == other:
        return
    kept = [partition(scope, "up", request, found, language="en", embedder="v1") for scope in (mine, other)]
    assert kept[0] != kept[1]
    assert entry_id(mine, kept[0], found) != entry_id(other, kept[0], found)


@given(PLAIN, PLAIN)
def test_requests_are_together_only_if_all_but_the_users_words_is_the_same(one: list[Said], other: list[Said]) -> None:
    both = [parse(body(*these, user("x"))) for these in (one, other)]
    found = [conversation(request, LINES) for request in both]
    if not isinstance(found[0], Conversation) or not isinstance(found[1], Conversation):
        return
    kept = [within(request) for request in both]
    assert (kept[0] == kept[1]) == (found[0].others == found[1].others)


@given(PLAIN)
def test_a_conversation_loses_no_words_but_disclaimers(these: list[Said]) -> None:
    request = chat(*these, user("x"))
    found = conversation(request, ())
    if isinstance(found, Conversation):
        heard = [each["content"] for each in these if each["role"] == "user"]
        others = [each["content"] for each in these if each["role"] != "user"]
        assert found.context == tuple(heard)
        assert [text for _, _, text in found.others] == others
