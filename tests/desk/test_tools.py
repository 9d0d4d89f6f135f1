"""Tests of calls read: what is meant beyond doubt is taken so, the rest has a reason."""

import contextlib
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.desk import tools
from proxy.desk.schemas import NAMES, SUFFIX, definitions, offered_names
from proxy.desk.sentences import NAMES as SENTENCES
from proxy.desk.sentences import sentence
from proxy.desk.tools import EditSection, Forget, Load, Order, Prune, Recall, Remember, Save, Summarise, Unclear, read
from proxy.types import Language
from proxy.types.desk import ToolName

LANGUAGES: tuple[Language, ...] = ("es", "en")


@pytest.mark.note("Rumi Tools/1")
@pytest.mark.parametrize(
    ("name", "arguments", "order"),
    [
        ("prune_messages", {"message_ids": [3, 1, 3]}, Prune((1, 3))),
        ("prune_messages", {"message_ids": ["4", "6-8", "10\u201311"]}, Prune((4, 6, 7, 8, 10, 11))),
        ("prune_messages", {"message_ids": "2..4"}, Prune((2, 3, 4))),
        ("prune_messages", {"message_ids": 5}, Prune((5,))),
        ("summarize_range", {"start_id": "2", "end_id": 9.0, "summary_text": "s"}, Summarise(2, 9, "s")),
        ("recall_original", {"message_id": "#12"}, Recall(12)),
        ("save_to_disk", {"file_name": "Notes", "content": ""}, Save("notes.md", "")),
        ("save_to_disk", {"file_name": "a-b_2.md", "content": "x"}, Save("a-b_2.md", "x")),
        ("load_from_disk", {"file_name": "user_profile.md"}, Load("user_profile.md")),
        ("edit_section", {"section_name": "Current task", "new_content": "x"}, EditSection("current_task", "x")),
        ("remember", {"key": "editor", "value": "vim"}, Remember("editor", "vim")),
        ("forget", {"key": "editor"}, Forget("editor")),
    ],
)
def test_what_is_meant_beyond_doubt_is_an_order(name: ToolName, arguments: object, order: Order) -> None:
    assert read(name, json.dumps(arguments)) == order


@pytest.mark.note("SMMA 3.1/1")
@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("forget", "{", "not-json"),
        ("forget", "[1]", "not-json"),
        ("forget", None, "missing"),
        ("forget", "{}", "missing"),
        ("forget", '{"key": null}', "missing"),
        ("forget", '{"key": 3}', "wrong-type"),
        ("forget", '{"key": " "}', "empty"),
        ("forget", '{"key": "a", "why": "b"}', "unknown-argument"),
        ("remember", json.dumps({"key": "a", "value": "x" * 501}), "too-long"),
        ("recall_original", '{"message_id": true}', "wrong-type"),
        ("recall_original", '{"message_id": "the first"}', "wrong-type"),
        ("recall_original", '{"message_id": 1.5}', "wrong-type"),
        ("prune_messages", '{"message_ids": []}', "empty"),
        ("prune_messages", '{"message_ids": ["9-3"]}', "bad-range"),
        ("prune_messages", '{"message_ids": ["1-999999999"]}', "too-long"),
        ("summarize_range", '{"start_id": 5, "end_id": 2, "summary_text": "s"}', "bad-range"),
        ("edit_section", '{"section_name": "identity", "new_content": "s"}', "bad-section"),
        *(
            ("save_to_disk", json.dumps({"file_name": name, "content": "x"}), reason)
            for name, reason in [
                ("../secrets.md", "bad-name"),
                ("/etc/passwd", "bad-name"),
                ("a/b.md", "bad-name"),
                ("a\\b.md", "bad-name"),
                (".hidden.md", "bad-name"),
                ("notes.txt", "bad-name"),
                ("notes.md\x00", "bad-name"),
                ("notes\n.md", "bad-name"),
                ("%2e%2e%2fa.md", "bad-name"),
                ("ñ.md", "bad-name"),
                ("MEMORY.md", "reserved"),
                ("identity.md", "reserved"),
                ("2026-11-24.md", "reserved"),
            ]
        ),
    ],
)
def test_anything_else_has_a_reason_that_the_model_is_told(name: ToolName, arguments: str | None, reason: str) -> None:
    with pytest.raises(Unclear) as unclear:
        read(name, arguments)
    assert unclear.value.reason == reason
    for language in LANGUAGES:
        assert sentence(language, reason, about=unclear.value.about)


@given(st.sampled_from(NAMES), st.text(max_size=60) | st.none())
def test_no_text_of_a_model_raises_anything_but_unclear(name: ToolName, arguments: str | None) -> None:
    with contextlib.suppress(Unclear):
        read(name, arguments)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_FIELDS = ["message_ids", "message_id", "start_id", "end_id", "summary_text", "file_name", "content", "key", "value"]


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from([*_FIELDS, "section_name", "new_content"]), _JSON))
def test_no_json_of_a_model_raises_anything_but_unclear(name: ToolName, arguments: object) -> None:
    with contextlib.suppress(Unclear):
        read(name, json.dumps(arguments))


@pytest.mark.note("SMMA 5/4")
@given(st.text(string.printable + "ñ\x00\u2024\uff0e", max_size=80))
def test_a_file_that_is_written_is_one_name_without_a_way_out(name: str) -> None:
    try:
        order = read("save_to_disk", json.dumps({"file_name": name, "content": "x"}))
    except Unclear:
        return
    assert isinstance(order, Save)
    assert set(order.name) <= {*string.ascii_lowercase, *string.digits, "-", "_", "."}
    assert order.name.endswith(".md")
    assert order.name.count(".") == 1
    assert len(order.name) <= 70


def test_names_that_the_client_uses_get_a_suffix_and_are_found_again() -> None:
    names = offered_names(["remember", "forget", "forget" + SUFFIX, None])
    assert tools.named("remember" + SUFFIX, names) == "remember"
    assert tools.named("forget" + SUFFIX + SUFFIX, names) == "forget"
    assert tools.named("remember", names) is None
    assert len(set(names)) == len(NAMES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_definitions_are_sorted_and_demand_all_their_arguments(language: Language) -> None:
    made = definitions(language, offered_names(()))
    told = [each["function"] for each in made]
    assert [each["name"] for each in told] == sorted(NAMES)
    for each in told:
        assert each["description"]
        assert each["parameters"]["required"] == list(each["parameters"]["properties"])


def test_both_languages_say_the_same_things() -> None:
    named = (
        "messages",
        "tokens",
        "name",
        "key",
        "keys",
        "what",
        "files",
        "about",
        "id",
        "last",
        "before",
        "most",
        "text",
    )
    for name in SENTENCES:
        told = [sentence(language, name, **{each: f"<{each}>" for each in named}) for language in LANGUAGES]
        assert len({frozenset(each for each in named if f"<{each}>" in text) for text in told}) == 1
