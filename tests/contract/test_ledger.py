"""What every Ledger does, whatever it keeps its rows in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.base import Ledger
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types import BreakEven, LedgerRow, RecalledLine, Trail
from tests import stores
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[Ledger]]

# Every value differs from every other and from its default, so that a swapped or forgotten column shows.
ROW = LedgerRow(
    request_id="r1",
    at=1_700_000_000.25,
    scope="a/",
    session="s1",
    model="kimi-k3",
    upstream="kimi",
    source="exact",
    status=206,
    outcome="client_gone",
    stream=True,
    plan="managed",
    plan_reason="folded",
    reuse_reason="hit",
    tokens_original=11,
    tokens_sent=12,
    tokens_cached=13,
    tokens_billed=14,
    tokens_completion=15,
    measured=False,
    cost=0.125,
    cost_saved=0.25,
    total_seconds=1.5,
    upstream_seconds=1.25,
    retries=2,
    intent_reason="guard",
    tokens_busted=16,
    route="/v1/messages",
    mechanisms={"window": 700, "recall": 40},
    trail=Trail(
        limit=4_000,
        turns=9,
        kept=4,
        start=11,
        newest=17,
        recalled=(RecalledLine("s0", 2, "user", 30, 0.75),),
        capped=(12,),
        break_even=BreakEven(2, "economic", 0.1, 1.0, 6, 900, 400, 1.5, 2.5, 0.25, 3.5, 4.5),
        profile="lean",
    ),
    stage_seconds={"parse": 0.001, "exact": 0.002},
)


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[Ledger]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteLedger(database)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[Ledger]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Ledger]:
    async with opened(folder) as database:
        yield PostgresLedger(database)


BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def ledger(backend: Backend, tmp_path: Path) -> AsyncIterator[Ledger]:
    async with backend(tmp_path) as found:
        yield found


class TestLedger:
    async def test_a_row_comes_back_as_it_was(self, ledger: Ledger) -> None:
        other = replace(
            ROW,
            request_id="r2",
            at=ROW.at - 1,
            stream=False,
            measured=True,
            trail=None,
            stage_seconds={},
            mechanisms={},
        )
        ledger.append(other)
        ledger.append(ROW)
        await ledger.flush()
        rows = await ledger.recent("a/")
        assert rows == [ROW, other]
        assert rows[0].stream is True
        assert rows[0].measured is False

    async def test_an_empty_ledger_has_no_rows(self, ledger: Ledger) -> None:
        assert await ledger.recent("a/") == []

    async def test_recent_is_newest_first_and_limited(self, ledger: Ledger) -> None:
        for number, at in enumerate((3.0, 1.0, 5.0, 2.0, 4.0)):  # a short request is written before a long one
            ledger.append(replace(ROW, request_id=str(number), at=at))
        await ledger.flush()
        assert [row.at for row in await ledger.recent("a/", limit=3)] == [4.0, 2.0, 5.0]
        assert await ledger.recent("a/", limit=0) == []
        assert await ledger.recent("a/", limit=-1) == []

    async def test_of_rows_at_the_same_time_the_last_comes_first(self, ledger: Ledger) -> None:
        for number in range(4):
            ledger.append(replace(ROW, request_id=str(number)))
        await ledger.flush()
        assert [row.request_id for row in await ledger.recent("a/", limit=3)] == ["3", "2", "1"]

    async def test_a_second_row_of_a_request_is_ignored(self, ledger: Ledger) -> None:
        ledger.append(ROW)
        ledger.append(replace(ROW, status=500))
        await ledger.flush()
        ledger.append(replace(ROW, status=501))
        await ledger.flush()
        assert await ledger.recent("a/") == [ROW]

    async def test_it_tells_what_the_judge_of_reuse_has_cost_a_scope_since(self, ledger: Ledger) -> None:
        judged = replace(ROW, reuse_reason="judge", at=100.0, cost=0.25)
        ledger.append(judged)
        ledger.append(replace(judged, request_id="r2", at=200.0, cost=0.5))
        ledger.append(replace(judged, request_id="r3", at=300.0, cost=1.0))
        ledger.append(replace(judged, request_id="r4", at=300.0, reuse_reason="verify"))
        ledger.append(replace(judged, request_id="r5", at=300.0, scope="b/"))
        await ledger.flush()
        assert await ledger.judged("a/", 200.0) == 1.5
        assert await ledger.judged("a/", 301.0) == 0
        assert await ledger.judged("c/", 0.0) == 0

    async def test_another_scope_may_use_the_same_request_id(self, ledger: Ledger) -> None:
        theirs = replace(ROW, scope="b/")
        ledger.append(ROW)
        ledger.append(theirs)
        await ledger.flush()
        assert await ledger.recent("a/") == [ROW]
        assert await ledger.recent("b/") == [theirs]


scope_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@pytest.mark.parametrize("name", BACKENDS)
@given(rows=st.lists(st.tuples(scope_names, st.integers(0, 9)), max_size=12), asking=scope_names)
@settings(max_examples=examples(10), deadline=None)
def test_nothing_crosses_a_scope(name: str, rows: list[tuple[str, int]], asking: str) -> None:
    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as ledger:
            for scope, number in rows:
                ledger.append(replace(ROW, scope=scope, request_id=str(number)))
            await ledger.flush()
            for scope in {asking, *(scope for scope, _ in rows)}:
                found = await ledger.recent(scope)
                assert {(row.scope, row.request_id) for row in found} == {(s, str(n)) for s, n in rows if s == scope}

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_sqlite_keeps_its_rows_when_it_is_opened_again(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as ledger:
        ledger.append(ROW)
    async with sqlite(tmp_path) as ledger:
        assert await ledger.recent("a/") == [ROW]


async def test_off_keeps_nothing() -> None:
    ledger: Ledger = SqliteLedger(stores.nothing())
    ledger.append(ROW)
    await ledger.flush()
    assert await ledger.recent("a/") == []
    await ledger.flush()
