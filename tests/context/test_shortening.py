"""Messages that are sent shortened: what of them is left, and that no upstream minds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.context.economics import CostSoFar, Rates
from proxy.context.shortening import (
    LEAST,
    MARKER,
    Prompt,
    cap,
    cap_message,
    markers,
    to_fold,
)
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import message
from proxy.types import Message
from tests.bench.reuse_data import FOLDER
from tests.builders import Said, assistant, counter, messages, result, system, user

WARM, COLD = Rates(0.1, 1.0), Rates(1.0, 1.0)
RICH = CostSoFar(baseline=1e9, spent=0)
POOR = CostSoFar(baseline=0, spent=0)
LONG = "\n".join(f"line {number} of a long file" for number in range(60))


def reads(call: str, path: str = "src/a.py", **more: Any) -> Said:
    arguments = msgspec.json.encode({"path": path}).decode()
    function = {"name": "read_file", "arguments": arguments}
    return assistant(None, tool_calls=[{"id": call, "type": "function", "function": function}], **more)


def session(*contents: str, paths: Sequence[str] = ()) -> tuple[Message, ...]:
    """One call after the other, of different files unless `paths` says otherwise; the last result is yet to be read."""
    said: list[Said] = [system("You code."), user("Fix it.")]
    for number, content in enumerate(contents):
        call = f"callnr{number:03}"
        said += [reads(call, paths[number] if paths else f"src/{number}.py"), result(call, content)]
    return messages(*said)


def distinct(count: int) -> tuple[str, ...]:
    return tuple(f"file {number}\n{LONG}" for number in range(count))


def size_of(said: Sequence[Message]) -> list[int]:
    return [counter().message(each) for each in said]


def fold(
    said: Sequence[Message],
    *,
    keep: int = 2,
    rates: Rates = COLD,
    costs: CostSoFar = RICH,
    folded: Sequence[int] = (),
    limit: int | None = None,
    pressure: int | None = None,
) -> tuple[int, ...]:
    sizes = size_of(said)
    total = sum(sizes) - sum(sizes[index] - MARKER for index in folded)
    prompt = Prompt(
        start=1,
        before=sizes[0],
        tokens=total,
        repeated=total - sizes[-1],
        keep=keep,
        folded=folded,
        limit=limit,
        pressure=pressure,
    )
    return to_fold(said, sizes.__getitem__, prompt, rates, costs)


@pytest.mark.note("4/7")
@pytest.mark.parametrize("said", [session(*distinct(5)), session(*[LONG] * 5)])
def test_with_a_cold_cache_all_but_the_newest_results_leave(said: tuple[Message, ...]) -> None:
    assert fold(said, keep=2) == (3, 5, 7)


def test_if_all_pays_off_not_only_what_was_repeated_leaves() -> None:
    said = session(*distinct(5), paths=["a", "b", "c", "a", "d"])
    assert fold(said, keep=2) == (3, 5, 7)


def test_what_left_is_not_asked_for_again() -> None:
    assert fold(session(*distinct(5)), keep=2, folded=(3, 5)) == (7,)


def test_a_warm_cache_waits_for_a_batch() -> None:
    said = session(*distinct(30))
    batches = {count: found for count in range(2, 31) if (found := fold(said[: 2 + 2 * count], keep=5, rates=WARM))}
    first = min(batches)
    # Twelve of 427 tokens: to carry them has cost .1 · 427 · (11 + 10 + …); .9 · 3,280 - .1 · 12 · 427 to rewrite all.
    assert first == 17
    assert batches[first] == tuple(range(3, 3 + 2 * (first - 5), 2))


@pytest.mark.note("1.3/4", "3.2/4")
def test_nothing_leaves_that_was_not_read_yet() -> None:
    unread = [result(f"callnr{number:03}", content) for number, content in enumerate(distinct(3))]
    calls = [reads(f"callnr{number:03}")["tool_calls"][0] for number in range(3)]
    said = messages(system("You code."), user("Fix it."), assistant(None, tool_calls=calls), *unread)
    assert fold(said, keep=0) == ()


@pytest.mark.note("1.3/4")
def test_short_results_stay() -> None:
    short = "ok " * (LEAST // 2)
    assert fold(session(short, *distinct(3)), keep=1) == (5, 7)


def test_pictures_stay() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    said = session(*distinct(3))
    seen = message({**said[3].data, "content": [{"type": "text", "text": LONG}, picture]})
    assert fold((*said[:3], seen, *said[4:]), keep=1) == (5,)


def test_without_need_no_more_is_spent_than_may_be() -> None:
    assert fold(session(*distinct(30)), keep=5, rates=WARM, costs=POOR) == ()


@pytest.mark.parametrize(
    ("costs", "pressure", "limit", "expected"),
    [
        (RICH, None, None, ()),
        (RICH, 1_500, None, (3, 5, 7)),
        (POOR, 1_500, None, ()),
        (POOR, None, 1_500, (3, 5, 7)),
        (POOR, None, 100, (3, 5, 7)),
    ],
)
def test_pressure_needs_no_profit_and_a_limit_asks_nothing(
    costs: CostSoFar, pressure: int | None, limit: int | None, expected: tuple[int, ...]
) -> None:
    assert fold(session(*distinct(5)), rates=WARM, costs=costs, pressure=pressure, limit=limit) == expected


@pytest.mark.parametrize(
    "said",
    [
        session(*distinct(5), paths=["a", "b", "c", "a", "d"]),  # called again, with another result
        session(LONG, *distinct(2), LONG, distinct(4)[3]),  # the same result of another call
    ],
)
def test_where_that_is_enough_only_what_was_repeated_leaves(said: tuple[Message, ...]) -> None:
    total = sum(size_of(said))
    assert fold(said, rates=WARM, costs=POOR, limit=total - 200) == (3,)
    assert fold(said, rates=WARM, costs=POOR, limit=total - 900) == (3, 5, 7)
    # Not just below the limit either: the next call would be above it, and rewrite the prompt once more.
    assert fold(said, rates=WARM, costs=POOR, limit=total - 200, pressure=total - 900) == (3, 5, 7)


def test_where_only_ends_of_requests_are_found_a_result_that_leaves_costs_all_of_the_prompt() -> None:
    said, gone = session(*distinct(30)), tuple(range(3, 51, 2))
    sizes = size_of(said)
    total = sum(sizes) - sum(sizes[index] - MARKER for index in gone)
    costs = CostSoFar(0.4 * total, 0)  # what stands before the others takes about as much
    assert fold(said, rates=WARM, costs=costs, pressure=total - 200, folded=gone)
    ends = replace(WARM, breakpoints=True)
    assert not fold(said, rates=ends, costs=costs, pressure=total - 200, folded=gone)


@pytest.mark.parametrize(
    ("content", "path", "expected"),
    [
        ("\n  import os\nx = 1\n", "b", '[tool result left out: read_file(path="b"), 7 tokens, line 1: "import os"]'),
        ('say "hi"', "ñ", '[tool result left out: read_file(path="ñ"), 7 tokens, line 1: "say \\"hi\\""]'),
        ("", "a", '[tool result left out: read_file(path="a"), 7 tokens, line 1: ""]'),
        ("x" * 81, "a", f'[tool result left out: read_file(path="a"), 7 tokens, line 1: "{"x" * 79}…"]'),
        ("ok", "p" * 200, f'[tool result left out: read_file(path="{"p" * 113}…), 7 tokens, line 1: "ok"]'),
    ],
)  # fmt: skip
def test_a_marker_says_what_it_was_how_long_and_how_it_begins(content: str, path: str, expected: str) -> None:
    said = messages(user("Fix it."), reads("a", path), result("a", content), assistant("Done."))
    assert markers(said, [2], lambda _: 7, keep=1)[2].data["content"] == expected


@pytest.mark.parametrize(
    ("call", "name", "expected"),
    [
        ({"id": "a", "function": {"name": "ls", "arguments": "not json"}}, None, "ls(not json)"),
        ({"id": "a", "function": {"name": "ls", "arguments": ""}}, None, "ls()"),
        ({"id": "a", "function": {"name": "ls", "arguments": '{"n":1,"deep":{"x":[true]}}'}}, None,
         'ls(n=1, deep={"x":[true]})'),
        ({"id": "other"}, "find", "find()"),
        ({"id": "other"}, None, "tool()"),
    ],
)  # fmt: skip
def test_a_marker_names_the_call_however_odd(call: Said, name: str | None, expected: str) -> None:
    named = {"name": name} if name else {}
    said = messages(user("?"), assistant(None, tool_calls=[call]), {**result("a"), **named})
    assert markers(said, [2], lambda _: 1_842, keep=1)[2].data["content"] == (
        f'[tool result left out: {expected}, 1,842 tokens, line 1: "done"]'
    )


@pytest.mark.note("5.1/2")
def test_a_marker_says_that_a_later_result_is_identical() -> None:
    said = session(LONG, LONG, *distinct(2))
    content = markers(said, [3], lambda _: 300, keep=2)[3].data["content"]
    assert content == '[tool result left out: read_file(path="src/0.py"), 300 tokens, identical to the later result]'


def test_a_marker_keeps_every_other_field_and_the_form_of_the_content() -> None:
    old = {**result("a", ""), "content": [{"type": "text", "text": LONG}], "name": "x", "cache_control": {"type": "e"}}
    said = messages(user("?"), reads("a"), old)
    found = markers(said, [2], lambda _: 9, keep=1)[2].data
    assert {**found, "content": ""} == {**old, "content": ""}
    assert [part["type"] for part in found["content"]] == ["text"]


CONTENTS = st.lists(st.sampled_from([*distinct(3), "short", "", LONG]), max_size=12)


@given(CONTENTS, CONTENTS, st.integers(0, 4))
def test_markers_are_the_same_bytes_in_every_later_request(now: list[str], later: list[str], keep: int) -> None:
    said, grown = session(*now), session(*now, *later)
    folded = fold(said, keep=keep)
    size = size_of(grown).__getitem__
    assert {i: m.raw for i, m in markers(said, folded, size, keep).items()} == {
        i: m.raw for i, m in markers(grown, folded, size, keep).items()
    }


def replaced(said: Sequence[Message], keep: int) -> tuple[Message, ...]:
    sizes = size_of(said)
    total = sum(sizes)
    start = next((index for index, each in enumerate(said) if each.role == "user"), 0)
    prompt = Prompt(start, sum(sizes[:start]), total, 0, keep, limit=0)
    folded = to_fold(said, sizes.__getitem__, prompt, COLD, RICH)
    found = markers(said, folded, sizes.__getitem__, keep)
    assert set(found) == set(folded)
    return tuple(found.get(index, each) for index, each in enumerate(said))


def check_replaced(said: Sequence[Message], keep: int) -> int:
    """How many messages were replaced."""
    sent = replaced(said, keep)
    changed = [(before, after) for before, after in zip(said, sent, strict=True) if after is not before]
    for before, after in changed:
        assert before.role == "tool"
        assert {**before.data, "content": ""} == {**after.data, "content": ""}
        assert counter().message(after) < counter().message(before)
    for dialect in DIALECTS.values():
        assert violations(sent, dialect) == violations(said, dialect)
    return len(changed)


@st.composite
def trajectories(draw: st.DrawFn) -> tuple[Message, ...]:
    said: list[Said] = [system("You code.")]
    for number in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["ask", "answer", "call", "orphan"]))
        ids = [f"c{number}n{each}" for each in range(draw(st.integers(1, 3)))]
        thought = {"reasoning_content": "hm"} if draw(st.booleans()) else {}
        if kind == "ask":
            said.append(user("And now?"))
        elif kind == "answer":
            said.append(assistant("So.", **thought))
        else:
            calls = [reads(id_, draw(st.sampled_from("ab")))["tool_calls"][0] for id_ in ids]
            said.append(assistant(None, tool_calls=calls, **thought))
            said += [result(id_, draw(st.sampled_from([LONG, "ok", *distinct(2)]))) for id_ in ids[kind == "orphan" :]]
    return messages(*said)


@given(trajectories(), st.integers(0, 3))
def test_no_upstream_minds_what_was_left_out(said: tuple[Message, ...], keep: int) -> None:
    check_replaced(said, keep)


@pytest.mark.parametrize("name", ["tau_airline_dev.jsonl", "swe_dev.jsonl"])
def test_no_upstream_minds_what_was_left_out_of_real_histories(name: str) -> None:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"no evaluation data at {path}")
    rows = [msgspec.json.decode(line)["messages"] for line in path.read_bytes().splitlines()[:25] if line]
    assert sum(check_replaced(messages(*said), keep=1) for said in rows) > 0


def words(text: str) -> int:
    return len(text.split())


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = " ".join(f"w{number}" for number in range(500))
    shorter = cap(text, 60, words)
    assert shorter.startswith("w0 w1 ")
    assert shorter.endswith(" w498 w499")
    assert "tokens left out] …" in shorter
    assert 50 <= words(shorter) <= 60


def test_the_marker_says_how_much_is_left_out() -> None:
    text = " ".join(f"w{number}" for number in range(500))
    shorter = cap(text, 60, words)
    said = int(shorter.split("[")[1].split()[0])
    assert said == 500 - sum(word.startswith("w") for word in shorter.split())


def test_a_text_that_fits_is_untouched() -> None:
    assert cap("  two\n words ", 2, words) == "  two\n words "


@pytest.mark.note("2.1/4")
@given(st.text(max_size=400), st.integers(0, 60))
def test_a_capped_text_never_has_more_than_it_may(text: str, most: int) -> None:
    for count in (words, len):
        shorter = cap(text, most, count)
        assert count(shorter) <= most or shorter == text
        assert count(shorter) <= most
        assert shorter == cap(text, most, count)


PROSE = "one two three four five six seven eight nine ten " * 10


@pytest.mark.parametrize(
    "data",
    [
        {"role": "assistant", "content": PROSE, "tool_calls": [{"id": "a", "type": "function"}]},
        {"role": "assistant", "content": PROSE, "function_call": {"name": "f"}},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "short"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:" + PROSE}}]},
        {"role": "assistant", "content": 7},
    ],
)
def test_what_must_not_or_cannot_be_capped_stays_the_very_same_message(data: dict[str, Any]) -> None:
    said = message(data)
    assert cap_message(said, 20, words) is said


def test_every_other_field_of_a_capped_message_is_kept() -> None:
    said = message(
        {
            "role": "assistant",
            "content": PROSE,
            "name": "x",
            "x_unknown": {"a": [1]},
            "reasoning_content": PROSE,
        }
    )
    shorter = cap_message(said, 20, words)
    assert words(shorter.data["content"]) <= 20
    assert {**shorter.data, "content": PROSE} == said.data
    assert b"left out" in shorter.raw


def test_parts_share_the_limit_and_what_is_no_text_stays() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    said = message(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": PROSE}, image, {"type": "text", "text": PROSE}],
        }
    )
    content = cap_message(said, 30, words).data["content"]
    assert image in content
    assert sum(words(part["text"]) for part in content if part["type"] == "text") <= 30
