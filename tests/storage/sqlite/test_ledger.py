"""A batch of rows and what it adds up to. That rows come back as they were: tests/contract/test_ledger.py."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.observe.metrics import Metrics
from proxy.storage.sqlite import ledger as module
from proxy.storage.sqlite.connection import migrate
from proxy.storage.sqlite.ledger import RECENT, add_rows, condense
from proxy.storage.stores.ledger import MECHANISMS, SUMS, numbered
from proxy.types import UNANSWERED, LedgerRow, Sums
from tests.builders import ledger_row
from tests.examples import examples


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def requests(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT coalesce(sum(requests), 0) FROM session_sums").fetchone()
    return int(count)


def recent_rows(scope: str, connection: sqlite3.Connection) -> list[LedgerRow]:
    return [numbered(row)[1] for row in connection.execute(RECENT, {"scope": scope, "limit": 99})]


def test_what_is_known_already_is_in_the_sums_once(connection: sqlite3.Connection) -> None:
    rows = [ledger_row(request_id=f"r{number}", scope="a/") for number in range(3)]
    for batch in (rows[:2], rows, [rows[0], rows[0]]):
        add_rows(connection, batch)
        assert requests(connection) == len(recent_rows("a/", connection))
    assert requests(connection) == 3


def test_a_batch_that_fails_leaves_neither_rows_nor_sums(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    with pytest.raises(sqlite3.IntegrityError):
        add_rows(connection, [ledger_row(scope="a/"), ledger_row(scope="a/", request_id="r2", cost=float("nan"))])
    connection.execute("ROLLBACK")
    assert (requests(connection), recent_rows("a/", connection)) == (0, [])


def test_a_conversation_is_known_to_its_rows_whoever_met_it_first(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO scopes (id, name) VALUES (7, 'a/')")
    connection.execute("INSERT INTO sessions VALUES (8, 7, 's')")
    add_rows(connection, [ledger_row(scope="a/"), ledger_row(scope="b/")])
    found = connection.execute("SELECT scope_id, session_id FROM ledger ORDER BY id").fetchall()
    assert found[0] == (7, 8)
    assert found[1][0] != 7
    assert found[1][1] != 8


def test_of_requests_that_nobody_answered_the_newest_rows_are_kept_and_the_sums_of_all(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNANSWERED_ROWS", 5)
    theirs = [ledger_row(request_id=f"r{number}", scope=UNANSWERED, session=UNANSWERED) for number in range(20)]
    mine = [ledger_row(request_id=f"r{number}", scope="a/") for number in range(20)]
    for pair in zip(theirs, mine, strict=True):
        add_rows(connection, pair)
    assert recent_rows(UNANSWERED, connection) == theirs[:-6:-1]
    assert len(recent_rows("a/", connection)) == 20
    assert requests(connection) == 40


DAY = 86_400
amounts = st.integers(0, 9_999)
rows = st.builds(
    ledger_row,
    source=st.sampled_from(["upstream", "exact", "intent"]),
    outcome=st.sampled_from(["complete", "client_gone", "upstream_broken", "upstream_error", "our_error"]),
    status=st.sampled_from([200, 0, 400, 503]),
    plan=st.sampled_from(["untouched", "managed", "over-budget", "fail-open"]),
    tokens_original=amounts,
    tokens_sent=amounts,
    tokens_cached=amounts,
    tokens_billed=amounts,
    tokens_completion=amounts,
    tokens_busted=amounts,
    measured=st.booleans(),
    cost=amounts.map(lambda cents: cents / 128),
    cost_saved=st.integers(0, 999).map(lambda cents: cents / 128),
    total_seconds=st.sampled_from([0.5, 2.0]),
    mechanisms=st.dictionaries(st.sampled_from(MECHANISMS), amounts.map(lambda tokens: tokens + 1)),
)


def counted(metrics: Metrics, name: str, **labels: str) -> float:
    samples = (sample for family in metrics.registry.collect() for sample in family.samples if sample.name == name)
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def summed(rows: Sequence[LedgerRow]) -> Sums:
    """What they add up to in the database, each as another request."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        add_rows(connection, [replace(row, request_id=f"r{number}") for number, row in enumerate(rows)])
        (found,) = connection.execute(
            f"SELECT {', '.join(f'coalesce(sum({name}), 0)' for name in SUMS)} FROM session_sums"
        )
    return Sums(*found)


@pytest.mark.long
@given(st.lists(rows, max_size=8))
@settings(max_examples=examples(20))
def test_sums_and_metrics_agree_to_the_token(written: list[LedgerRow]) -> None:
    metrics = Metrics()
    for row in written:
        metrics.recorded(row)
    sums = summed(written)

    def tokens(kind: str, **labels: str) -> float:
        return counted(metrics, "olvido_tokens_total", kind=kind, **labels)

    assert counted(metrics, "olvido_requests_total") == sums.requests
    assert counted(metrics, "olvido_requests_total", source="exact") == sums.reused_exact
    assert counted(metrics, "olvido_requests_total", source="intent") == sums.reused_intent
    for kind, count in (("managed", sums.managed), ("over-budget", sums.over_budget), ("fail-open", sums.failed_open)):
        assert counted(metrics, "olvido_plans_total", kind=kind) == count
    assert tokens("original") == sums.tokens_original + sums.tokens_reused_prompt
    assert tokens("sent") == sums.tokens_sent
    assert tokens("sent", measured="true") == sums.tokens_measured
    assert tokens("cached") == sums.tokens_cached
    assert tokens("billed") == sums.tokens_billed
    assert tokens("completion") == sums.tokens_completion
    saved = [counted(metrics, "olvido_saved_tokens_total", mechanism=each) for each in ("exact", "intent")]
    assert sum(saved) == sums.tokens_reused
    assert counted(metrics, "olvido_cost_dollars_total") == sums.cost
    for mechanism, dollars in (
        ("exact", sums.saved_exact), ("intent", sums.saved_intent), ("context", sums.saved_context)
    ):  # fmt: skip
        assert counted(metrics, "olvido_saved_cost_dollars_total", mechanism=mechanism) == dollars
    assert counted(metrics, "olvido_added_cost_dollars_total") == sums.added_context
    for mechanism in MECHANISMS:
        assert counted(metrics, "olvido_context_tokens_total", mechanism=mechanism) == getattr(sums, mechanism)
    assert counted(metrics, "olvido_prefix_busted_tokens_total") == sums.tokens_busted
    assert counted(metrics, "olvido_overhead_seconds_sum") == sums.overhead_seconds


@pytest.mark.parametrize(
    ("status", "outcome", "is_error"),
    [
        (200, "complete", 0), (200, "client_gone", 0), (0, "client_gone", 0), (200, "upstream_broken", 1),
        (429, "upstream_error", 1), (503, "client_gone", 1), (0, "our_error", 1), (502, "our_error", 1),
    ],
)  # fmt: skip
def test_an_error_is_an_answer_that_is_one_or_never_came(status: int, outcome: str, is_error: int) -> None:
    assert summed([ledger_row(status=status, outcome=outcome)]).errors == is_error


def test_what_was_added_is_not_taken_from_what_was_saved() -> None:
    changed = {"mechanisms": {"recall": 3}}
    sums = summed([ledger_row(cost_saved=dollars, **changed) for dollars in (0.5, -0.25)])
    assert (sums.saved_context, sums.added_context, sums.recall) == (0.5, 0.25, 6)
    assert summed([ledger_row(cost_saved=0.5)]).saved_context == 0


@pytest.mark.parametrize("table", ["rollups", "session_sums"])
def test_every_sum_has_a_column_of_its_kind(connection: sqlite3.Connection, table: str) -> None:
    columns = {name: kind for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")}
    kinds = {each.name: "REAL" if isinstance(each.default, float) else "INTEGER" for each in fields(Sums)}
    assert {name: kind for name, kind in columns.items() if name in SUMS} == kinds


WRITTEN = [
    ledger_row(
        request_id=f"r{number}", at=1_700_000_000.0 + 1_000 * number, scope=f"{number % 2}/", session=f"s{number % 3}",
        source=("upstream", "exact")[number % 2], model=("m", "n")[number % 4 // 2], cost=0.25,
        mechanisms={"window": 5} if number % 2 else {},
    )
    for number in range(10)
]  # fmt: skip


def test_minutes_are_condensed_one_after_the_other_and_once(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE rollup_progress SET condensed = 0")
    start = 1_700_006_400.0
    add_rows(connection, [replace(WRITTEN[0], request_id=str(at), at=start + at) for at in (0, 5, 60, 3_600, 9_999)])

    def told(width: int) -> list[int]:
        summed = "SELECT sum(requests) FROM rollups WHERE width = ? AND scope_id = 0 GROUP BY at ORDER BY at"
        return [count for (count,) in connection.execute(summed, (width,))]

    assert (told(60), told(3_600), told(DAY)) == ([2, 1, 1, 1], [], [])
    assert condense(connection, start + 59) == 0
    assert [condense(connection, start + 3_660) for _ in range(5)] == [1, 1, 1, 0, 0]
    assert (told(3_600), told(DAY)) == ([3, 1], [4])
    assert condense(connection, start + DAY) == 1
    assert condense(connection, start + DAY) == 0
    assert (told(60), told(3_600), told(DAY)) == ([2, 1, 1, 1], [3, 1, 1], [5])
    assert condense(connection, start) == 0  # another clock is behind
    add_rows(connection, [replace(WRITTEN[0], request_id="late", at=start + 60)])
    assert condense(connection, start + DAY) == 0
    assert (told(60), told(3_600), told(DAY)) == ([2, 2, 1, 1], [4, 1, 1], [6])
