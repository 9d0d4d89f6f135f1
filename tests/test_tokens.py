"""Counts that are tiktoken's own, counted once, off the event loop if it takes long, and corrected by the upstream."""

import importlib.util
import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.chains import chain_of
from proxy.protocol.message import message
from proxy.tokens import (
    INLINE_BYTES,
    MOST_COUNTED,
    PER_IMAGE,
    PER_IMAGE_LOW,
    PER_MESSAGE,
    PER_NAME,
    PER_REQUEST,
    PER_ROLE,
    PIECE,
    RememberedCount,
    RoughCounter,
    TokenCounter,
    load_tokenizer,
)
from tests.builders import Executor, assistant, calling, chat, counter, encoding, messages, result, system, user


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


@pytest.fixture
def fresh() -> TokenCounter:
    """Nothing counted yet; the ranks are loaded once for all tests."""
    return TokenCounter(encoding())


# --- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),  # OpenAI's cookbook
        ("antidisestablishmentarianism", 6),  # same
        ("2 + 2 = 4", 7),  # same
        ("お誕生日おめでとう", 8),  # same
        ("Olvidar es recordar lo que importa.", 9),
    ],
)
def test_text_costs_what_o200k_says(text: str, tokens: int) -> None:
    assert counter().text(text) == tokens


def test_the_ranks_are_o200k() -> None:
    encoding = load_tokenizer()
    assert encoding.encode("hello world") == [24912, 2375]
    assert encoding.n_vocab == 200_019


@pytest.mark.parametrize("folder", [None, "/somewhere/else"])
def test_loading_leaves_the_environment_as_it_was(folder: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    if folder:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", folder)
    load_tokenizer.cache_clear()
    load_tokenizer()
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == folder


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    load_tokenizer.cache_clear()
    with pytest.raises(FileNotFoundError, match="bpe-openai"):
        load_tokenizer()


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|endofprompt|>", "a<|endoftext|>b"])
def test_special_tokens_are_text(text: str) -> None:
    assert counter().text(text) > 3


@pytest.mark.parametrize("text", ["\ud83d", "broken \udca9 pair", "\udca9\ud83d"])
def test_lone_surrogates_are_counted_too(text: str) -> None:
    assert counter().text(text) > 0


def test_a_long_run_of_white_space_is_counted() -> None:
    assert 0 < counter().text(" " * 1_200_000) < 100_000


def test_counting_a_long_text_in_pieces_costs_a_token_or_two_a_cut() -> None:
    text = "The archive holds what the window has let go. " * (3 * PIECE // 46)
    assert counter().text(text) == pytest.approx(len(encoding().encode_ordinary(text)), abs=6)


def test_of_a_very_long_text_the_rest_is_taken_to_be_like_its_beginning() -> None:
    beginning = "let go " * (MOST_COUNTED // 7) + "let go "[: MOST_COUNTED % 7]
    assert len(beginning) == MOST_COUNTED
    assert counter().text(beginning * 2 + "x" * (MOST_COUNTED // 2)) == round(counter().text(beginning) * 2.5)


@given(st.text(st.characters()))
def test_any_text_has_a_count(text: str) -> None:
    assert (counter().text(text) > 0) == bool(text)


# --- messages -------------------------------------------------------------------------------------------------------

TEXT = {"type": "text", "text": "hello world"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 4000}}
SMALL_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
FRAME = PER_MESSAGE + PER_ROLE


def as_json(value: Any) -> int:
    return counter().text(msgspec.json.encode(value).decode())


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        (user("hello world"), FRAME + 2),
        (system("hello world"), FRAME + 2),
        (user(""), FRAME),
        (user(None), FRAME),
        ({}, FRAME),
        ({"role": 7, "content": 7}, FRAME),
        (user("hello world", name="hello"), FRAME + 2 + PER_NAME + 1),
        (user([TEXT, TEXT]), FRAME + 4),
        (user([TEXT, IMAGE]), FRAME + 2 + PER_IMAGE),
        (user([SMALL_IMAGE]), FRAME + PER_IMAGE_LOW),
        (user([{"type": "input_audio", "input_audio": {"data": "A" * 4000}}]), FRAME + PER_IMAGE),
        (user([{"type": "file", "file": {"file_data": "A" * 4000}}]), FRAME + PER_IMAGE),
        (assistant("hello world", reasoning_content="hello world"), FRAME + 4),
        (assistant(None, refusal="hello world"), FRAME + 2),
        (assistant("hello world", annotations=[{"x": "y"}], id="msg_1"), FRAME + 2),
    ],
)
def test_a_message_costs_its_words_and_its_frame(said: Mapping[str, Any], tokens: int) -> None:
    assert counter().message(message(said)) == tokens


def test_calls_and_unknown_parts_cost_their_json() -> None:
    plain = counter().message(message(assistant(None)))
    calls = calling("call_1")
    assert counter().message(message(calls)) == plain + as_json(calls["tool_calls"])
    odd = {"type": "thinking_blob", "blob": [1, 2, 3]}
    assert counter().message(message(user([odd, "hello world"]))) == FRAME + as_json(odd) + as_json("hello world")


TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def test_what_is_no_message_is_counted_as_overhead() -> None:
    assert counter().overhead(chat()) == PER_REQUEST
    assert counter().overhead(chat(tools=[], response_format=None)) == PER_REQUEST
    assert counter().overhead(chat(tools=TOOLS)) == PER_REQUEST + as_json(TOOLS)
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}
    both = counter().overhead(chat(tools=TOOLS, response_format=schema))
    assert both == PER_REQUEST + as_json(TOOLS) + as_json(schema)


async def test_the_counts_of_messages_stand_in_their_order(fresh: TokenCounter, executor: Executor) -> None:
    said = messages(system("terse"), user("hello world"), calling("1"), result("1"))
    counts = await fresh.messages(said, chain_of("a/", said), executor)
    assert counts == tuple(fresh.message(each) for each in said)


# --- once, and where ------------------------------------------------------------------------------------------------

LONG = "word " * (INLINE_BYTES // 4)


async def test_a_little_is_counted_where_it_is_and_much_in_a_thread(fresh: TokenCounter, executor: Executor) -> None:
    little, much = messages(user("hi")), messages(user(LONG))
    await fresh.messages(little, chain_of("a/", little), executor)
    assert executor.submitted == 0
    await fresh.messages(much, chain_of("a/", much), executor)
    assert executor.submitted == 1


@pytest.mark.note("5.1/4")
async def test_what_was_counted_before_is_not_counted_again(fresh: TokenCounter, executor: Executor) -> None:
    first = messages(user(LONG))
    then = messages(user(LONG), assistant("sure"), user("thanks"))
    before = await fresh.messages(first, chain_of("a/", first), executor)
    counts = await fresh.messages(then, chain_of("a/", then), executor)
    assert executor.submitted == 1
    assert counts[:1] == before
    assert counts == tuple(counter().message(each) for each in then)


async def test_a_message_that_grew_by_what_its_link_leaves_out_is_counted_again(
    fresh: TokenCounter, executor: Executor
) -> None:
    short, long = messages(assistant("yes")), messages(assistant("yes", reasoning_content="I have thought about it."))
    assert chain_of("a/", short) == chain_of("a/", long)
    (one,), (other,) = [await fresh.messages(each, chain_of("a/", each), executor) for each in (short, long)]
    assert one < other


async def test_when_there_are_too_many_the_oldest_counts_are_forgotten(executor: Executor) -> None:
    small = TokenCounter(encoding(), remembered=20)
    oldest = messages(user(LONG))
    others = messages(*(user(f"message {number}") for number in range(100)))
    before = await small.messages(oldest, chain_of("a/", oldest), executor)
    expected = tuple(counter().message(each) for each in others)
    for _ in range(2):
        assert await small.messages(others, chain_of("a/", others), executor) == expected
    assert executor.submitted == 1
    assert await small.messages(oldest, chain_of("a/", oldest), executor) == before
    assert executor.submitted == 2


# --- roughly --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 0), ("abcd", 1), ("a" * 4_001, 1_000), ("ñandú 🧉", 3), ("\ud83d" * 8, 2)]
)
def test_four_bytes_are_roughly_a_token(text: str, tokens: int) -> None:
    assert RoughCounter().text(text) == tokens


def test_the_rough_count_sees_all_that_the_exact_one_sees() -> None:
    said = [user([TEXT, IMAGE]), assistant("hello", reasoning_content="I see"), calling("1"), result("1")]
    rough = RoughCounter()
    whole = rough.request(chat(*said, tools=TOOLS))
    assert whole > rough.request(chat(*said))
    for left_out in range(len(said)):
        assert whole > rough.request(chat(*said[:left_out], *said[left_out + 1 :], tools=TOOLS))


def test_the_rough_count_of_a_picture_is_not_that_of_its_bytes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    assert RoughCounter().request(chat(user([picture]))) < 1_000


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    counted = RememberedCount(count)
    assert [counted(text) for text in ("boat", "", "boat", "", "harbour")] == [4, 0, 4, 0, 7]
    assert asked == ["boat", "", "harbour"]


def test_half_a_character_counts_as_any_other_text() -> None:
    assert RememberedCount(len)("\ud83d") == 1


def test_it_holds_no_text_and_no_more_counts_than_it_may() -> None:
    counted = RememberedCount(len, most=20)
    for number in range(100):
        assert counted(f"marigold {number}") == len(f"marigold {number}")
        assert len(vars(counted)["_known"]) <= 20
    assert "marigold" not in repr(vars(counted))
