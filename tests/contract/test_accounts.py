"""What all Accounts do, whatever they read from."""

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.admin.codec import total as added_up
from proxy.storage.accounts import LONGEST_NAME, Accounts, Dimension, Width
from proxy.storage.base import Ledger
from proxy.storage.database import Database
from proxy.storage.pending import DELETIONS, Write
from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.ledger import PostgresLedger
from proxy.storage.postgres.ledger import condense as condense_postgres
from proxy.storage.recollection import Archive
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database as SqliteDatabase
from proxy.storage.sqlite.ledger import SqliteLedger, condense
from proxy.tasks import Tasks
from proxy.types import MANAGED_ROUTE, ArchivedTurn, Bucket, LedgerRow, RowFilter, Sums, TurnCard, Utterance
from proxy.types.quality import COMPARING
from tests import stores
from tests.builders import ledger_row
from tests.examples import examples
from tests.postgres import opened
from tests.sums import sums_of

DAY = 86_400
# The beginning of a day, in the past and in the future: what is long ago is in its hour and day at once.
LONG_AGO, TO_COME = 1_700_006_400.0, 32_503_680_000.0


@dataclass(frozen=True, slots=True)
class Kept:
    accounts: Accounts
    ledger: Ledger
    archive: Archive
    database: Database
    minute: Callable[[Any, float], int]  # adds the next minute to its hour and day

    async def write(self, *rows: LedgerRow) -> None:
        for row in rows:
            self.ledger.append(row)
        await self.ledger.flush()

    async def condense(self, until: float) -> None:
        """As the job in the background does, a minute at a time."""
        for _ in range(9):
            self.database.writer.put(
                Write(1, lambda connection, _: self.minute(connection, until), kind=DELETIONS, scope="")
            )
            await self.database.writer.flush()


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[Kept]:
    database = SqliteDatabase(stores.begun(folder / name) if name else None, Tasks())
    try:
        archive = SqliteArchive(database, DAY)
        yield Kept(SqliteAccounts(database), SqliteLedger(database), archive, database, condense)
    finally:
        await database.close()


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Kept]:
    async with opened(folder) as database:
        yield Kept(
            PostgresAccounts(database),
            PostgresLedger(database),
            PostgresArchive(database, DAY),
            database,
            condense_postgres,
        )


def memory(folder: Path) -> AbstractAsyncContextManager[Kept]:
    return sqlite(folder, name=None)


Backend = Callable[[Path], AbstractAsyncContextManager[Kept]]
BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    async with BACKENDS[request.param](tmp_path) as found:
        yield found


@pytest.fixture
def accounts(kept: Kept) -> Accounts:
    return kept.accounts


def row(number: int, at: float = LONG_AGO, **differing: object) -> LedgerRow:
    """What it costs adds up to the same in any order."""
    return ledger_row(request_id=f"r{number}", at=at, **{"scope": "a/", "cost": 0.25, **differing})


def total(rows: list[LedgerRow]) -> Sums:
    return added_up(map(sums_of, rows))


class TestSums:
    @pytest.mark.parametrize("day", [LONG_AGO, TO_COME])
    @pytest.mark.parametrize("width", get_args(Width))
    async def test_a_bucket_adds_up_what_begins_in_it(self, kept: Kept, width: Width, day: float) -> None:
        inside = [row(1, day), row(2, day + width / 2, tokens_sent=7), row(3, day + width - 0.5, cost=1.5)]
        await kept.write(*inside, row(4, day - 0.5), row(5, day + width))
        assert await kept.accounts.buckets(day, day + 1, width) == [Bucket(day, "", total(inside))]

    @pytest.mark.parametrize("condensed", [0, 1, 59, 60, 90, 3_600, DAY, 2 * DAY])
    @pytest.mark.parametrize("width", get_args(Width))
    async def test_it_makes_no_difference_what_was_condensed(self, kept: Kept, width: Width, condensed: int) -> None:
        times = (0, 59, 60, 61, 3_599, 3_600, 7_200, DAY - 1, DAY)
        rows = [row(number, TO_COME + at) for number, at in enumerate(times)]
        await kept.write(*rows)
        before = await kept.accounts.buckets(TO_COME, TO_COME + 2 * DAY, width)
        assert added_up(bucket.sums for bucket in before) == total(rows)
        await kept.condense(TO_COME + condensed)
        assert await kept.accounts.buckets(TO_COME, TO_COME + 2 * DAY, width) == before
        late = [row(10, TO_COME + 30), row(11, TO_COME + DAY - 1), row(12, TO_COME + DAY)]
        await kept.write(*late)
        after = await kept.accounts.buckets(TO_COME, TO_COME + 2 * DAY, width)
        assert [bucket.at for bucket in after] == [bucket.at for bucket in before]
        assert added_up(bucket.sums for bucket in after) == total([*rows, *late])

    @pytest.mark.parametrize(
        ("start", "end", "found"),
        [
            (0, 180, [0, 60, 120]), (0, 121, [0, 60, 120]), (0, 120, [0, 60]), (1, 180, [60, 120]), (60, 61, [60]),
            (61, 100, []), (-DAY, DAY, [0, 60, 120]), (180, DAY, []), (-DAY, 0, []), (60, 60, []), (120, 60, []),
        ],
    )  # fmt: skip
    async def test_buckets_that_begin_in_the_span_are_told_and_no_other(
        self, kept: Kept, start: float, end: float, found: list[float]
    ) -> None:
        await kept.write(*(row(number, LONG_AGO + 60 * number + 5) for number in range(3)))
        buckets = await kept.accounts.buckets(LONG_AGO + start, LONG_AGO + end, 60)
        assert [bucket.at - LONG_AGO for bucket in buckets] == found

    async def test_however_long_the_span_is_empty_buckets_are_left_out(self, kept: Kept) -> None:
        await kept.write(row(1), row(2, LONG_AGO + 600))
        assert len(await kept.accounts.buckets(0, 1e12, 60)) == 2

    @pytest.mark.parametrize(
        ("by", "names"),
        [
            ("", [""]), ("model", ["m", "n", "other"]), ("upstream", ["up", "vp"]),
            ("source", ["exact", "intent", "upstream"]), ("plan", ["managed", "untouched"]),
            ("route", ["/v1/chat/completions", "/v1/messages", "other"]),
        ],
    )  # fmt: skip
    async def test_sums_are_told_by_name(self, kept: Kept, by: Dimension, names: list[str]) -> None:
        rows = [
            row(1), row(2, model="n"), row(3, source="exact"), row(4, source="intent", upstream="vp"),
            row(5, plan="managed"), row(6, model="invented", status=404), row(7, model="m" * (LONGEST_NAME + 1)),
            row(8, status=500), row(9, route="/v1/messages", cost=2.0, model="n"), row(10, route="other", status=404),
        ]  # fmt: skip
        await kept.write(*rows)
        buckets = await kept.accounts.buckets(LONG_AGO, LONG_AGO + 60, 60, by=by)
        assert [bucket.name for bucket in buckets] == names
        if by == "model":
            others = {"invented": "other", "m" * (LONGEST_NAME + 1): "other"}
            mine = [total([each for each in rows if others.get(each.model, each.model) == name]) for name in names]
        else:
            mine = [total([each for each in rows if by == "" or getattr(each, by) == name]) for name in names]
        assert [bucket.sums for bucket in buckets] == mine

    async def test_a_request_that_was_written_twice_counts_once(self, kept: Kept) -> None:
        await kept.write(row(1), row(1, cost=5.0))
        await kept.write(row(1, cost=7.0), row(2))
        (bucket,) = await kept.accounts.buckets(LONG_AGO, LONG_AGO + 60, 60)
        assert bucket.sums == total([row(1), row(2)])
        (card,) = await kept.accounts.sessions()
        assert card.sums == bucket.sums

    async def test_what_has_only_passed_through_is_no_conversation(self, kept: Kept) -> None:
        await kept.write(row(1, session="unmanaged", route="/v1/messages"), row(2), row(3, route="/v1/messages"))
        assert [(card.session, card.sums.unmanaged) for card in await kept.accounts.sessions()] == [("s", 1)]
        assert len(await kept.accounts.sessions(scope="a/")) == 1
        assert [scope for scope, _ in await kept.accounts.scopes()] == ["a/"]

    async def test_a_scope_has_its_own_sums_and_all_have_theirs(self, kept: Kept) -> None:
        mine, theirs = [row(1), row(2)], [row(1, scope="b/", cost=3.0)]
        await kept.write(*mine, *theirs)
        for scope, rows in (("a/", mine), ("b/", theirs), (None, [*mine, *theirs])):
            for width in get_args(Width):
                (bucket,) = await kept.accounts.buckets(LONG_AGO, LONG_AGO + 60, width, scope)
                assert bucket.sums == total(rows)
        assert await kept.accounts.buckets(LONG_AGO, LONG_AGO + 60, 60, "c/") == []

    async def test_of_nothing_there_is_nothing(self, accounts: Accounts) -> None:
        for by in get_args(Dimension):
            assert await accounts.buckets(0, 2 * DAY, 3_600, by=by) == []
        assert await accounts.scopes() == []
        assert await accounts.rows() == []
        assert await accounts.row("r1") is None
        assert await accounts.last() == 0
        assert await accounts.sessions() == []
        assert await accounts.turns("a/", "s") == []


class TestRows:
    async def test_rows_come_by_number_newest_first_a_page_at_a_time(self, kept: Kept) -> None:
        rows = [row(number, LONG_AGO - number) for number in range(5)]
        await kept.write(*rows)
        first = await kept.accounts.rows(limit=2)
        assert [each for _, each in first] == [rows[4], rows[3]]
        second = await kept.accounts.rows(before=first[-1][0], limit=2)
        assert [each for _, each in second] == [rows[2], rows[1]]
        numbers = [number for number, _ in (*first, *second)]
        assert numbers == sorted(numbers, reverse=True)
        assert await kept.accounts.last() == numbers[0]
        assert await kept.accounts.rows(limit=0) == []

    @pytest.mark.parametrize(
        ("whose", "found"),
        [
            ({}, ["r4", "r3", "r2", "r1"]), ({"scope": "a/"}, ["r3", "r2", "r1"]), ({"scope": "b/"}, ["r4"]),
            ({"scope": "a/", "session": "s"}, ["r3", "r1"]), ({"session": "s"}, ["r4", "r3", "r1"]),
            ({"scope": "b/", "session": "t"}, []), ({"scope": "c/"}, []), ({"session": "u"}, []),
        ],
    )  # fmt: skip
    async def test_rows_of_a_scope_or_a_session_are_told_apart(
        self, kept: Kept, whose: dict[str, Any], found: list[str]
    ) -> None:
        await kept.write(row(1), row(2, session="t"), row(3), row(4, scope="b/"))
        assert [each.request_id for _, each in await kept.accounts.rows(**whose)] == found

    @pytest.mark.parametrize(
        ("like", "found"),
        [
            (RowFilter(), [9, 8, 7, 6, 5, 4, 3, 2, 1]), (RowFilter(model="n"), [2]),
            (RowFilter(plan="managed"), [4, 3]), (RowFilter(plan="untouched"), [7, 6, 2, 1]),
            (RowFilter(source="exact"), [5]), (RowFilter(dearer=True), [4]),
            (RowFilter(failed=True), [9, 7, 6]), (RowFilter(failed=False, unmanaged=True), [8]),
            (RowFilter(unmanaged=True), [9, 8]), (RowFilter(unmanaged=False, failed=True), [7, 6]),
            (RowFilter(route="/v1/messages"), [8]), (RowFilter(since=LONG_AGO + 5, until=LONG_AGO + 7), [6, 5]),
            (RowFilter(since=LONG_AGO + 5, failed=False, unmanaged=False), [5]),
        ],
    )  # fmt: skip
    async def test_rows_can_be_filtered(self, kept: Kept, like: RowFilter, found: list[int]) -> None:
        differing: list[dict[str, Any]] = [
            {}, {"model": "n"}, {"plan": "managed", "cost_saved": 1.0}, {"plan": "managed", "cost_saved": -1e-6},
            {"source": "exact", "plan": "managed"}, {"status": 400}, {"outcome": "upstream_broken"},
            {"route": "/v1/messages", "cost_saved": -1e-12}, {"route": "other", "status": 500},
        ]  # fmt: skip
        rows = [row(number, LONG_AGO + number, **each) for number, each in enumerate(differing, 1)]
        await kept.write(*rows, row(10, scope="b/"))
        numbered = await kept.accounts.rows(scope="a/", like=like)
        assert [int(each.request_id[1:]) for _, each in numbered] == found
        newest, oldest = numbered[0][0], numbered[-1][0]
        assert [number for number, _ in await kept.accounts.rows(scope="a/", like=like, first=newest)] == [newest]
        assert (await kept.accounts.rows(like=like, before=oldest + 1, first=oldest, limit=9)) == numbered[-1:]
        assert await kept.accounts.rows(session="s", like=like, before=oldest) == []

    async def test_a_moment_is_found_among_the_numbers(self, kept: Kept) -> None:
        assert await kept.accounts.number_at(LONG_AGO) in (0, 1)
        times = [*range(0, 40, 2), 40, 40, 40, 50]
        await kept.write(*(row(number, LONG_AGO + at) for number, at in enumerate(times)))
        numbers = [number for number, _ in await kept.accounts.rows()][::-1]
        for at in range(-1, 60):
            place = sum(each < at for each in times)
            expected = numbers[place] if place < len(numbers) else numbers[-1] + 1
            told = await kept.accounts.number_at(LONG_AGO + at)
            assert told == expected or (place == 0 and told <= expected)

    async def test_a_row_is_found_by_its_request(self, kept: Kept) -> None:
        mine, theirs = row(1), row(2, scope="b/", mechanisms={"window": 9})
        await kept.write(mine, theirs)
        assert await kept.accounts.row("r2") == theirs
        assert await kept.accounts.row("r2", "b/") == theirs
        assert await kept.accounts.row("r2", "a/") is None
        assert await kept.accounts.row("r3") is None

    @pytest.mark.parametrize(
        ("start", "end", "found"),
        [(0, 9, ["r1", "r3", "r4"]), (1, 2, ["r3", "r4"]), (2, 2, ["r4"]), (3, 9, []), (-9, 0.5, ["r1"])],
    )
    async def test_rows_of_a_session_come_by_time(self, kept: Kept, start: float, end: float, found: list[str]) -> None:
        theirs = [row(1), row(4, LONG_AGO + 2), row(3, LONG_AGO + 1)]
        others = [row(5, session="t"), row(6, scope="b/")]
        await kept.write(*theirs, *others)
        rows = await kept.accounts.between("a/", "s", LONG_AGO + start, LONG_AGO + end)
        assert [each.request_id for each in rows] == found

    async def test_a_session_is_added_up_until_a_moment(self, kept: Kept) -> None:
        managed: dict[str, Any] = {"plan": "managed", "mechanisms": {"window": 9, "recall": 4}}
        theirs = [
            row(1, cost_saved=0.5, **managed),
            row(2, LONG_AGO + 1, cost_saved=-0.25, **managed),
            row(3, LONG_AGO + 2, source="exact", tokens_sent=0, cost=0.0, cost_saved=0.75),
        ]
        await kept.write(*theirs, row(4, session="t"), row(5, scope="b/"))
        for until, many in ((-1, 0), (0, 1), (1.5, 2), (2, 3)):
            assert await kept.accounts.until("a/", "s", LONG_AGO + until) == total(theirs[:many])
        assert await kept.accounts.until("a/", "u", TO_COME) == Sums()


class TestSessions:
    async def test_sessions_come_latest_first_a_page_at_a_time(self, kept: Kept) -> None:
        rows = [row(number, LONG_AGO + number, session=f"s{number}") for number in range(4)]
        again = row(9, LONG_AGO + 100, session="s0")
        await kept.write(*rows)
        await kept.write(again)
        first = await kept.accounts.sessions(limit=2)
        assert [(card.session, card.first_at, card.last_at) for card in first] == [
            ("s0", LONG_AGO, again.at), ("s3", LONG_AGO + 3, LONG_AGO + 3)
        ]  # fmt: skip
        assert first[0].sums == total([rows[0], again])
        second = await kept.accounts.sessions(before=first[-1].last_at)
        assert [card.session for card in second] == ["s2", "s1"]
        assert await kept.accounts.sessions(limit=0) == []

    async def test_scopes_may_name_their_sessions_alike(self, kept: Kept) -> None:
        await kept.write(row(1), row(2, LONG_AGO + 1, scope="b/", cost=9.0))
        mine, theirs = [await kept.accounts.sessions(scope=scope) for scope in ("a/", "b/")]
        assert [(card.scope, card.session, card.sums.cost) for card in (*mine, *theirs)] == [
            ("a/", "s", 0.25), ("b/", "s", 9.0)
        ]  # fmt: skip
        assert await kept.accounts.sessions() == [*theirs, *mine]
        assert await kept.accounts.sessions(scope="c/") == []

    async def test_a_session_lasts_from_its_first_request_to_its_last_in_whatever_order_they_end(
        self, kept: Kept
    ) -> None:
        for number, at in enumerate((5.0, 1.0, 9.0, 3.0)):
            await kept.write(row(number, at))
        (card,) = await kept.accounts.sessions()
        assert (card.first_at, card.last_at, card.sums.requests) == (1.0, 9.0, 4)

    async def test_scopes_come_latest_first(self, kept: Kept) -> None:
        await kept.write(row(1, 5.0), row(2, 7.0, scope="b/"), row(3, 6.0, scope="c/"), row(4, 8.0, session="t"))
        assert await kept.accounts.scopes() == [("a/", 8.0), ("b/", 7.0), ("c/", 6.0)]
        assert await kept.accounts.scopes(limit=1) == [("a/", 8.0)]
        assert await kept.accounts.scopes(before=8.0) == [("b/", 7.0), ("c/", 6.0)]
        assert await kept.accounts.scopes(limit=1, before=7.0) == [("c/", 6.0)]

    async def test_a_tenant_has_what_all_its_scopes_have_and_nothing_of_another(self, kept: Kept) -> None:
        tenant, other = "a" * 32, "b" * 32
        told = [
            row(1, LONG_AGO, scope=f"{tenant}/", session="one"),
            row(2, LONG_AGO + 10, scope=f"{tenant}/ana", session="two"),
            row(3, LONG_AGO + 20, scope=f"{other}/", session="two"),
            row(4, LONG_AGO + DAY, scope=f"{tenant}/ana", session="two"),
        ]
        await kept.write(*told)
        accounts, own = kept.accounts, [told[3], told[1], told[0]]
        assert [each for _, each in await accounts.rows(scope=tenant)] == own
        assert [each for _, each in await accounts.rows(scope=tenant, limit=1)] == own[:1]
        assert [each for _, each in await accounts.rows(scope=tenant, session="two")] == own[:2]
        assert await accounts.rows(scope="c" * 32) == []
        assert [(card.scope, card.session) for card in await accounts.sessions(scope=tenant)] == [
            (f"{tenant}/ana", "two"),
            (f"{tenant}/", "one"),
        ]
        assert [scope for scope, _ in await accounts.scopes(tenant=tenant)] == [f"{tenant}/ana", f"{tenant}/"]
        assert await accounts.scopes(before=LONG_AGO, tenant=tenant) == []
        for width in get_args(Width):
            found = await accounts.buckets(LONG_AGO, LONG_AGO + 2 * DAY, width, tenant)
            assert added_up(each.sums for each in found) == total(own)
            by_model = await accounts.buckets(LONG_AGO, LONG_AGO + 2 * DAY, width, tenant, "model")
            assert added_up(each.sums for each in by_model) == total(own)
        assert await accounts.row("r2", tenant) == told[1]
        assert await accounts.row("r3", tenant) is None
        assert await accounts.row("r3", other) == told[2]

    async def test_a_conversation_is_known_by_its_first_question(self, kept: Kept) -> None:
        def said(number: int, session: str, at: float, *texts: str) -> ArchivedTurn:
            link = bytes([number]) * 16
            roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
            told = tuple(Utterance(role, text, link) for role, text in zip(roles, texts, strict=False))
            return ArchivedTurn(link, b"", session, number, at, b"[]", told)

        long = "¿cuánto? " * 40
        turns = [
            said(2, "s", 9.0, "second"), said(1, "s", 5.0, long, "well"), said(3, "t", 6.0, "not nul: \\u0000"),
            said(4, "u", 7.0),
        ]  # fmt: skip
        for turn in turns:
            kept.archive.add("a/", turn, None)
        kept.archive.add("b/", said(5, "s", 1.0, "another's"), None)
        await kept.archive.flush()
        asked = [("a/", "s"), ("a/", "t"), ("a/", "u"), ("b/", "s"), ("a/", "x"), ("x/", "s")]
        assert await kept.accounts.questions(asked) == {
            ("a/", "s"): long[:120], ("a/", "t"): "not nul: \\u0000", ("b/", "s"): "another's"
        }  # fmt: skip
        assert await kept.accounts.questions([]) == {}

    async def test_turns_of_all_branches_are_told_oldest_first(self, kept: Kept) -> None:
        said = "¿cuánto? " * 40
        asked = Utterance("user", said, b"q" * 16)
        turns = [
            ArchivedTurn(b"1" * 16, b"", "s", 1, 5.0, b"[]", (asked, Utterance("assistant", "9", b"1" * 16))),
            ArchivedTurn(b"2" * 16, b"1" * 16, "s", 2, 6.0, b"[]", ()),
            ArchivedTurn(b"3" * 16, b"1" * 16, "s", 2, 7.0, b"[]", (Utterance("assistant", "ay", b"3" * 16),)),
        ]
        for turn in (*turns[::-1], replace(turns[0], link=b"4" * 16, session="t")):
            kept.archive.add("a/", turn, None)
        await kept.archive.flush()
        cards = await kept.accounts.turns("a/", "s")
        assert cards == [
            TurnCard(b"1" * 16, b"", 1, 5.0, said[:120]),
            TurnCard(b"2" * 16, b"1" * 16, 2, 6.0, ""),
            TurnCard(b"3" * 16, b"1" * 16, 2, 7.0, ""),
        ]
        assert await kept.accounts.turns("a/", "s", limit=2) == cards[1:]
        assert await kept.accounts.turns("b/", "s") == []


def is_of_a_client(row: LedgerRow) -> bool:
    return row.route == MANAGED_ROUTE and row.reuse_reason not in COMPARING


def possible(row: LedgerRow) -> LedgerRow:
    """Of what is passed through, and of answers that are compared, nothing is reused, left out or added."""
    untouched = replace(row, source="upstream", mechanisms={}, tokens_busted=0)
    if row.route != MANAGED_ROUTE:
        return replace(untouched, reuse_reason="miss")
    return replace(untouched, cost_saved=0.0) if row.reuse_reason in COMPARING else row


amounts = st.integers(0, 10_000)
rows = st.builds(
    ledger_row,
    request_id=st.integers(0, 30).map(str),
    at=st.floats(LONG_AGO, LONG_AGO + DAY).map(lambda at: round(at, 3)),
    scope=st.sampled_from(["a/", "b/"]),
    session=st.sampled_from(["s", "t"]),
    model=st.sampled_from(["m", "n"]),
    source=st.sampled_from(["upstream", "exact", "intent"]),
    outcome=st.sampled_from(["complete", "client_gone", "upstream_broken", "upstream_error", "our_error"]),
    status=st.sampled_from([200, 0, 429]),
    plan=st.sampled_from(["untouched", "managed", "over-budget", "fail-open"]),
    reuse_reason=st.sampled_from(["miss", "judge", "memory", "quality"]),
    route=st.sampled_from([MANAGED_ROUTE, MANAGED_ROUTE, "/v1/messages"]),
    tokens_original=amounts,
    tokens_sent=amounts,
    tokens_completion=amounts,
    tokens_busted=amounts,
    measured=st.booleans(),
    cost=amounts.map(lambda cents: cents / 128),  # adds up to the same in any order
    cost_saved=st.integers(-999, 999).map(lambda cents: cents / 128),
    total_seconds=st.sampled_from([0.5, 2.0]),
    mechanisms=st.dictionaries(st.sampled_from(["window", "recall", "elided"]), amounts),
).map(possible)


@pytest.mark.parametrize("name", BACKENDS)
@given(batches=st.lists(st.lists(rows, max_size=12), max_size=3))
@settings(max_examples=examples(15))
def test_every_view_adds_up_to_the_ledger(name: str, batches: list[list[LedgerRow]]) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with BACKENDS[name](Path(folder)) as kept:
                for batch in batches:
                    await kept.write(*batch)
                for scope in ("a/", "b/", None):
                    written = [each for _, each in await kept.accounts.rows(scope=scope)]
                    for width in get_args(Width):
                        for by in get_args(Dimension):
                            buckets = await kept.accounts.buckets(LONG_AGO, LONG_AGO + DAY + 1, width, scope, by)
                            assert added_up(bucket.sums for bucket in buckets) == total(written)
                    cards = await kept.accounts.sessions(scope=scope)
                    kinds = {(each.scope, each.session) for each in written if is_of_a_client(each)}
                    listed = [each for each in written if (each.scope, each.session) in kinds]
                    assert added_up(card.sums for card in cards) == total(listed)

    import asyncio

    asyncio.run(play())


async def test_off_tells_nothing() -> None:
    accounts: Accounts = SqliteAccounts(stores.nothing())
    await TestSums().test_of_nothing_there_is_nothing(accounts)
