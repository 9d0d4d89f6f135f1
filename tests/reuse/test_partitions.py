"""A search sees at once what this process did, within a refresh what others did, and nothing of another scope."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.protocol.chat import UNKEYED
from proxy.protocol.request import parse
from proxy.reuse.partitions import (
    MOST_BYTES,
    MOST_CONTEXT,
    PARTITION_OVERHEAD,
    UNSUITED,
    Conversation,
    Partitions,
    Unsuited,
    conversation,
    entry_id,
    is_reusable,
    partition,
)
from proxy.storage.pending import WriterLimits
from proxy.storage.reuse import ReuseChanges, ReuseStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import Candidate, ChatRequest, ReuseEntry, Vector
from tests import stores
from tests.builders import Executor, Said, assistant, body, calling, chat, completion, result, system, user
from tests.protocol.test_chat import KEYED
from tests.stores import AtOnce, ForeignWriter

LAZY = WriterLimits(interval=60)  # nothing is written until something asks for it
NOW = 1000.0
HOUR = 3600.0
A, B = "a" * 32, "b" * 32
ENTRY = ReuseEntry("r-1", A, "how?", (), "key", NOW, NOW + HOUR)


def towards(degrees: float) -> Vector:
    angle = math.radians(degrees)
    return np.array([math.cos(angle), math.sin(angle), 0.0, 0.0], np.float32)


NORTH = towards(0)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor() as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "olvido.sqlite3", Tasks(), LAZY)
    yield opened
    await opened.close()


async def nearest(
    partitions: Partitions,
    scope: str = "a/",
    partition: str = A,
    *,
    k: int = 5,
    at_least: float = 0.8,
    now: float = NOW,
) -> list[Candidate]:
    return await partitions.nearest(scope, partition, NORTH, k, at_least, now)


async def ids(
    partitions: Partitions, scope: str = "a/", partition: str = A, *, k: int = 5, now: float = NOW
) -> list[str]:
    return [candidate.entry.id for candidate in await nearest(partitions, scope, partition, k=k, now=now)]


async def test_what_was_just_added_is_found_nearest_first(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    assert await nearest(partitions) == []
    for number, degrees in enumerate((20, 60, 0, 10)):
        partitions.add("a/", replace(ENTRY, id=f"r-{number}"), towards(degrees))
    found = await nearest(partitions)
    assert [candidate.entry.id for candidate in found] == ["r-2", "r-3", "r-0"]
    assert [candidate.cosine for candidate in found] == pytest.approx([1, math.cos(math.pi / 18), 0.9397], abs=5e-4)
    assert await ids(partitions, k=1) == ["r-2"]
    assert database.writer.depth == 4


async def test_what_was_added_before_the_first_search_is_found_with_what_the_store_had(
    database: Database, executor: Executor
) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, towards(10))
    await store.flush()
    partitions = Partitions(store, executor)
    partitions.add("a/", replace(ENTRY, id="r-2"), NORTH)
    assert await ids(partitions) == ["r-2", "r-1"]


async def test_it_survives_a_restart(tmp_path: Path, executor: Executor) -> None:
    first = Database(tmp_path / "olvido.sqlite3", Tasks())
    Partitions(SqliteReuse(first), executor).add("a/", ENTRY, NORTH)
    await first.close()
    again = Database(tmp_path / "olvido.sqlite3", Tasks())
    (found,) = await nearest(Partitions(SqliteReuse(again), executor))
    assert found == Candidate(ENTRY, 1.0)
    await again.close()


@pytest.mark.parametrize("searched_before", [True, False])
async def test_an_eviction_counts_at_once_and_is_not_undone_by_what_is_not_written_yet(
    database: Database, executor: Executor, searched_before: bool
) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, NORTH)
    store.add("a/", replace(ENTRY, id="r-2"), NORTH)
    await store.flush()
    partitions = Partitions(store, executor, foreign_writes=ForeignWriter())
    if searched_before:
        assert await ids(partitions) == ["r-1", "r-2"]
    partitions.raise_threshold("a/", ENTRY, 0.9, NOW + 1, evict=True)
    partitions.evict("a/", replace(ENTRY, id="r-2"), NOW + 1)
    for _ in range(2):
        assert await ids(partitions) == []
    await store.flush()
    assert await ids(partitions) == []


async def test_a_raised_threshold_is_told_at_once_and_stays_when_the_question_is_asked_again(
    database: Database, executor: Executor
) -> None:
    partitions = Partitions(SqliteReuse(database), executor, foreign_writes=ForeignWriter())
    partitions.add("a/", ENTRY, NORTH)
    partitions.raise_threshold("a/", ENTRY, 0.95, NOW + 1, evict=False)
    assert [(found.entry.min_cosine, found.entry.strikes) for found in await nearest(partitions)] == [(0.95, 1)]
    partitions.raise_threshold("a/", ENTRY, 0.9, NOW + 2, evict=True)
    assert await nearest(partitions) == []
    partitions.add("a/", replace(ENTRY, created_at=NOW + 3), NORTH)
    for _ in range(2):
        assert [(found.entry.min_cosine, found.entry.strikes) for found in await nearest(partitions)] == [(0.95, 2)]
        await database.writer.flush()


async def test_what_another_process_does_is_seen_once_it_is_known_to_have_written(
    tmp_path: Path, executor: Executor
) -> None:
    databases = [Database(tmp_path / "olvido.sqlite3", Tasks(), LAZY) for _ in range(2)]
    store, foreign = (SqliteReuse(database) for database in databases)
    store.add("a/", ENTRY, NORTH)
    await store.flush()
    prompt, patient = (
        Partitions(store, executor, foreign_writes=ForeignWriter()),
        Partitions(store, executor),
    )
    assert await ids(prompt) == await ids(patient) == ["r-1"]
    foreign.evict("a/", "r-1", NOW + 1)
    foreign.add("a/", replace(ENTRY, id="r-2"), NORTH)
    await foreign.flush()
    assert await ids(prompt) == ["r-2"]
    assert await ids(patient) == ["r-1"]
    for database in databases:
        await database.close()


class Gated(SqliteReuse):
    """Every page waits for `open`, and is counted."""

    def __init__(self) -> None:
        super().__init__(AtOnce())
        self.asked = 0
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def changes(self, scope: str, partition: str, after: int, now: float, limit: int = 1) -> ReuseChanges:
        self.asked += 1
        changes = await super().changes(scope, partition, after, now, limit)
        self.reached.set()
        await self.open.wait()
        return changes


async def test_all_that_come_while_it_loads_wait_for_the_one_load(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        searches = [group.create_task(ids(partitions)) for _ in range(5)]
        await store.reached.wait()
        store.open.set()
    assert [search.result() for search in searches] == [["r-1"]] * 5
    assert store.asked == 2  # a full page, and that it was the last


async def test_who_is_cancelled_while_loading_leaves_the_rest_to_the_next(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(ids(partitions))
        await store.reached.wait()
        staying = group.create_task(ids(partitions))
        leaving.cancel()
        store.open.set()
    assert staying.result() == ["r-1"]


async def test_while_it_loads_others_may_come_and_go(executor: Executor) -> None:
    store = Gated()
    for number in range(3):
        store.add("a/", replace(ENTRY, id=f"r-{number}"), NORTH)
    partitions = Partitions(store, executor, max_bytes=2 * PARTITION_OVERHEAD + 1_700)
    async with asyncio.TaskGroup() as group:
        search = group.create_task(ids(partitions))
        await store.reached.wait()
        for number in range(3):
            partitions.add("b/", replace(ENTRY, id=f"r-other-{number}"), NORTH)
        store.open.set()
    assert search.result() == ["r-0", "r-1", "r-2"]
    alone = Partitions(store, executor)
    assert await ids(alone) == await ids(partitions) == ["r-0", "r-1", "r-2"]
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (1, 3, alone.bytes)


async def test_what_happens_during_a_load_is_newer_than_what_is_loaded(executor: Executor) -> None:
    store = Gated()
    store.add("a/", ENTRY, NORTH)
    partitions = Partitions(store, executor)
    async with asyncio.TaskGroup() as group:
        search = group.create_task(ids(partitions))
        await store.reached.wait()
        partitions.evict("a/", ENTRY, NOW + 1)
        partitions.add("a/", replace(ENTRY, id="r-2"), NORTH)
        store.open.set()
    assert search.result() == ["r-2"]


async def test_what_has_expired_is_not_found_and_not_kept(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, id="r-2", expires_at=NOW + 2 * HOUR), NORTH)
    before = partitions.bytes
    assert await ids(partitions, now=NOW + HOUR - 1) == ["r-1", "r-2"]
    assert await ids(partitions, now=NOW + HOUR) == ["r-2"]
    assert partitions.entries == 1
    assert partitions.bytes < before


async def test_it_can_tell_that_there_is_nothing_to_find(database: Database, executor: Executor) -> None:
    store = SqliteReuse(database)
    store.add("a/", ENTRY, NORTH)
    await store.flush()
    partitions = Partitions(store, executor)
    assert await partitions.holds_any("a/", A, NOW)
    assert not await partitions.holds_any("a/", B, NOW)
    assert not await partitions.holds_any("b/", A, NOW)
    assert not await partitions.holds_any("a/", A, NOW + HOUR)


async def test_what_was_evicted_takes_no_place_from_what_is_alive(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, id="r-2"), towards(10))
    partitions.evict("a/", ENTRY, NOW + 1)
    assert await ids(partitions, k=1) == ["r-2"]
    assert partitions.entries == 1


async def test_asked_again_in_other_words_an_entry_is_where_these_are(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor, foreign_writes=ForeignWriter())
    partitions.add("a/", ENTRY, towards(90))
    partitions.add("a/", replace(ENTRY, created_at=NOW + 1), NORTH)
    partitions.add("a/", ENTRY, towards(90))
    for _ in range(2):
        assert await ids(partitions) == ["r-1"]
        await database.writer.flush()


async def test_asked_again_before_its_end_it_lasts_longer(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.add("a/", replace(ENTRY, created_at=NOW + 1, expires_at=NOW + HOUR + 1), NORTH)
    assert await ids(partitions, now=NOW + HOUR) == ["r-1"]
    assert await ids(partitions, now=NOW + HOUR + 1) == []


async def test_strikes_outlast_the_end_of_an_entry(database: Database, executor: Executor) -> None:
    partitions = Partitions(SqliteReuse(database), executor)
    partitions.add("a/", ENTRY, NORTH)
    partitions.raise_threshold("a/", ENTRY, 0.95, NOW + 1, evict=False)
    tomorrow = NOW + 2 * HOUR
    assert await nearest(partitions, now=tomorrow) == []
    partitions.add("a/", replace(ENTRY, created_at=tomorrow, expires_at=tomorrow + HOUR), NORTH)
    assert [found.entry.min_cosine for found in await nearest(partitions, now=tomorrow)] == [0.95]


@pytest.mark.parametrize("limit", ["bytes", "number"])
async def test_the_partition_that_was_not_used_for_longest_leaves_and_comes_back_from_the_store(
    limit: str, executor: Executor
) -> None:
    store = Gated()
    store.open.set()
    for number in range(3):
        store.add("a/", replace(ENTRY, id=f"r-{number}", partition=str(number)), NORTH)
    one = Partitions(store, executor)
    await ids(one, partition="0")
    bounds: dict[str, Any] = {"max_bytes": 2 * one.bytes} if limit == "bytes" else {"max_partitions": 2}
    partitions = Partitions(store, executor, **bounds)
    loads = []
    for number in (0, 1, 0, 2, 0, 1, 2, 2):
        asked = store.asked
        assert await ids(partitions, partition=str(number)) == [f"r-{number}"]
        loads.append(store.asked > asked)
    assert loads == [True, True, False, True, False, True, True, False]
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (2, 2, 2 * one.bytes)


async def test_of_a_partition_too_large_for_all_memory_the_newest_entries_stay(executor: Executor) -> None:
    store = stores.reuse()
    for number in range(20):
        store.add("a/", replace(ENTRY, id=f"r-{number}", question="?" * 1_000), NORTH)
    partitions = Partitions(store, executor, max_bytes=8_000 + PARTITION_OVERHEAD)
    assert sorted(await ids(partitions)) == ["r-16", "r-17", "r-18", "r-19"]
    assert partitions.bytes <= 8_000 + PARTITION_OVERHEAD
    partitions.add("a/", replace(ENTRY, id="r-20", question="?" * 1_000), NORTH)
    assert sorted(await ids(partitions)) == ["r-17", "r-18", "r-19", "r-20"]


async def test_partitions_with_nothing_in_them_have_a_limit_too(executor: Executor) -> None:
    partitions = Partitions(stores.reuse(), executor, max_bytes=3 * PARTITION_OVERHEAD)
    for number in range(10):
        assert await ids(partitions, partition=str(number)) == []
    assert (partitions.partitions, partitions.entries, partitions.bytes) == (3, 0, 3 * PARTITION_OVERHEAD)


@pytest.mark.parametrize(("inline_rows", "submitted"), [(3, 0), (2, 1)])
async def test_a_search_among_many_is_done_in_a_thread(executor: Executor, inline_rows: int, submitted: int) -> None:
    partitions = Partitions(stores.reuse(), executor, inline_rows=inline_rows)
    for number in range(3):
        partitions.add("a/", replace(ENTRY, id=f"r-{number}"), towards(number))
    assert await ids(partitions) == ["r-0", "r-1", "r-2"]
    assert executor.submitted == submitted


Step = tuple[int, str, str, int, int, str]
steps = st.lists(
    st.tuples(
        st.integers(0, 1),  # who
        st.sampled_from(["a/", "b/"]),
        st.sampled_from([A, B]),
        st.integers(0, 3),  # which entry
        st.integers(0, 35),  # in which direction, in tens of degrees
        st.sampled_from(["add", "add", "strike", "evict", "search"]),
    ),
    max_size=25,
)


@given(steps=steps)
@settings(max_examples=60, deadline=None)
def test_two_workers_find_what_is_alive_in_this_scope_and_partition_and_nothing_else(steps: Sequence[Step]) -> None:
    asyncio.run(play(steps))


async def play(steps: Sequence[Step]) -> None:
    store: ReuseStore = stores.reuse()
    alive: dict[tuple[str, str], dict[str, Vector]] = {}
    with Executor() as executor:
        room = 5 * PARTITION_OVERHEAD  # so that some partitions leave
        workers = [Partitions(store, executor, foreign_writes=ForeignWriter(), max_bytes=room) for _ in range(2)]
        for at, (who, scope, partition, number, direction, step) in enumerate(steps, int(NOW)):
            worker, there = workers[who], alive.setdefault((scope, partition), {})
            entry = replace(ENTRY, id=f"r-{partition[0]}{number}", partition=partition, created_at=float(at))
            if step == "add":
                worker.add(scope, entry, towards(10 * direction))
                there[entry.id] = towards(10 * direction)
            elif step == "strike":
                worker.raise_threshold(scope, entry, 0.9, at, evict=True)
                there.pop(entry.id, None)
            elif step == "evict":
                worker.evict(scope, entry, at)
                there.pop(entry.id, None)
            else:
                found = await nearest(worker, scope, partition, k=9, at_least=-1.0)
                cosines = {candidate.entry.id: candidate.cosine for candidate in found}
                assert cosines == pytest.approx(
                    {name: float(vector @ NORTH) for name, vector in there.items()}, abs=5e-4
                )


EN, ES = "[Answer retrieved from an earlier conversation]", "[Respuesta recuperada de conversación anterior]"
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


@pytest.mark.parametrize("name", sorted(KEYED - {"model", "messages"} - _UNSUITING))
@pytest.mark.parametrize("value", [None, 1, "x", {"a": 1}])
def test_every_field_that_reaches_the_model_parts(name: str, value: Any) -> None:
    assert within(having(**{name: value})) != within(BASE)


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
