"""What a model answers, read: whatever it is, the result is what can be used of it, or a reason."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.curation.answers import (
    LONGEST,
    MOST_EVENTS,
    MOST_OPERATIONS,
    UNREADABLE,
    Answer,
    Event,
    Operation,
    SummaryText,
    clean,
    read,
    read_digest,
)

ADD = '{"op": "add", "key": "dieta", "value": "Es celíaca", "domain": "personal", "turn": 2, "quote": "soy celíaca"}'
OPERATION = Operation("add", key="dieta", value="Es celíaca", domain="personal", turn=2, quote="soy celíaca")
WHOLE = f'{{"operations": [{ADD}]}}'


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"  \n{WHOLE}\n",
        f"```json\n{WHOLE}\n```",
        f"```\n{WHOLE}\n```",
        f"```JSON {WHOLE}```",
        f"Acá está:\n\n```json\n{WHOLE}\n```\n¡Listo!",
        f"Here you are: {WHOLE} I hope that helps.",
        f"First this:\n```python\nprint({{1}})\n```\nand\n```json\n{WHOLE}\n```",
        f"```json\n{WHOLE}",  # the end of the fence is missing
        f'{{"operations": [{ADD}], "thoughts": {{"a": [1]}}}}',  # more than was asked for
    ],
)
def test_an_object_is_found_bare_fenced_and_within_prose(text: str) -> None:
    assert read(text.encode()) == Answer((OPERATION,))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "empty answer"),
        (b" \n\t", "empty answer"),
        (b"I'm sorry, I can't help with that.", "no JSON"),
        (b"[1, 2]", "no JSON"),
        (b"null", "no JSON"),
        (b'{"facts": []}', "other JSON"),
        (b'[{"op": "add"}]', "other JSON"),
        (b'{"operations": {}}', "other JSON"),
        (b'{"operations": null}', "other JSON"),
        (b'{"operations": "none"}', "other JSON"),
        (WHOLE[:-20].encode(), "broken JSON"),
        (b"}{", "broken JSON"),
        (b'{"operations": [{"op": NaN}]}', "broken JSON"),
        (b'{"operations": [{"op": "\\ud800"}]}', "broken JSON"),
        (b"{'operations': []}", "broken JSON"),
        (b'{"operations":' + b"[" * 50_000, "broken JSON"),
        (b'{"a":' * 40_000, "broken JSON"),
        (b'{"operations":' + b"[" * 50_000 + b"]" * 50_000 + b"}", "broken JSON"),
        (b"```" * 60_000 + b"{", "broken JSON"),
        (b"```" + b"a" * 200_000 + b"{", "broken JSON"),
        (b"x" * 10 * 2**20, "endless answer"),
        (WHOLE.encode() + b" " * LONGEST, "endless answer"),
    ],
)
def test_what_cannot_be_read_has_a_reason(answer: bytes, reason: str) -> None:
    assert read(answer) == reason
    assert read_digest(answer) is None


def test_invalid_bytes_are_no_reason_to_lose_the_rest() -> None:
    assert read(b"\xff\xfe " + WHOLE.encode()) == Answer((OPERATION,))


@pytest.mark.parametrize(
    "bad",
    [
        "7",
        "null",
        '"add"',
        "{}",
        '{"op": "replace"}',
        '{"op": ["add"]}',
        '{"op": "add", "value": {"a": 1}}',
        '{"op": "add", "turn": "two"}',
        '{"op": "add", "turn": 1e400}',
        '{"op": "merge", "ids": "f1"}',
        '{"op": "add", "value": ' + "[" * 900 + "]" * 900 + "}",
    ],
)
def test_a_bad_operation_is_refused_alone(bad: str) -> None:
    found = read(f'{{"operations": [{bad}, {ADD}]}}'.encode())
    assert found == Answer((None, OPERATION))


def test_what_is_null_counts_as_left_out_and_a_number_in_quotes_as_a_number() -> None:
    strict = '{"op": "invalidate", "id": "f1", "ids": null, "key": null, "value": null, "turn": "2", "quote": "x"}'
    found = read(f'{{"operations": [{strict}], "events": null, "summary": null, "slug": null}}'.encode())
    assert found == Answer((Operation("invalidate", id="f1", turn=2, quote="x"),))


def test_of_a_field_that_stands_twice_the_last_one_counts() -> None:
    found = read(b'{"operations": [{"op": "add", "value": "a", "value": "b"}]}')
    assert found == Answer((Operation("add", value="b"),))


def test_events_summary_and_slug_are_read_each_by_itself() -> None:
    text = (
        '{"operations": [], "events": [{"turn": 1, "text": "a"}, {"turn": 1}, 3], '
        '"summary": {"topic": "t", "discussed": ["d"]}, "slug": "a-b"}'
    )
    assert read(text.encode()) == Answer((), (Event(1, "a"), None, None), SummaryText("t", ("d",)), "a-b")
    assert read(b'{"operations": [], "events": 3, "summary": "x", "slug": {}}') == Answer()


def test_more_than_a_conversation_can_have_is_left_out_and_counted() -> None:
    operations = ",".join([ADD] * (MOST_OPERATIONS + 3))
    events = ",".join(['{"turn": 1, "text": "a"}'] * (MOST_EVENTS + 2))
    found = read(f'{{"operations": [{operations}], "events": [{events}]}}'.encode())
    assert isinstance(found, Answer)
    assert (len(found.operations), len(found.events), found.left_out) == (MOST_OPERATIONS, MOST_EVENTS, 5)


def test_the_facts_that_an_operation_names_count_once() -> None:
    assert Operation("merge", id="f1", ids=("f2", "f1", "f2")).targets == ("f1", "f2")
    assert Operation("add").targets == ()


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [(None, ""), (" a \n b\t", "a b"), ("a\0b\x1b[31m", "ab[31m"), ("a\u202eb", "ab"), ("ñandú, 3 €", "ñandú, 3 €")],
)
def test_texts_are_one_line_without_control_characters(text: str | None, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_a_digest_is_one_text() -> None:
    assert read_digest(b'```json\n{"digest": " Sold \\n the car. "}\n```') == "Sold the car."
    assert read_digest(b'{"digest": " "}') is None
    assert read_digest(b'{"digest": 3}') is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail(answer: bytes) -> None:
    assert isinstance(read(answer), Answer) or read(answer) in UNREADABLE


@given(st.dictionaries(st.sampled_from(["operations", "events", "summary", "slug"]), JSON))
def test_no_json_makes_it_fail(answer: dict[str, object]) -> None:
    found = read(msgspec.json.encode(answer))
    assert isinstance(found, Answer) or found in UNREADABLE


@given(st.integers(0, len(WHOLE.encode()) - 1))
def test_half_an_answer_is_broken(cut: int) -> None:
    assert read(WHOLE.encode()[:cut]) in {"empty answer", "broken JSON"}
