"""Reads for administration from PostgreSQL: every one finds its rows by an index."""

from collections.abc import Iterator

import msgspec
import pytest

from proxy.storage.postgres.accounts import STATEMENTS, PostgresAccounts
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.contents import STATEMENTS as CONTENTS
from proxy.storage.postgres.ledger import add_rows
from proxy.types import Utterance
from tests.builders import ledger_row
from tests.postgres import database, plan, processes

VALUES = {
    "scope": "3/", "session": "s3", "before": 1_500, "limit": 50, "request": "r7", "first": 0, "past": 3_600,
    "width": 60, "request_id": "r7", "since": 0.0,
}  # fmt: skip
LISTS = {
    **{f"rows of {whose}": text for whose, text in STATEMENTS.rows.items()},
    **{f"contents of {whose}": text for whose, text in CONTENTS.recent.items()},
    **{f"sums by {by}": text for by, text in STATEMENTS.buckets.items()},
    "a row": STATEMENTS.row,
    "a row of any scope": STATEMENTS.row_of_any,
    "the last row": STATEMENTS.last,
    "sessions": STATEMENTS.sessions,
    "sessions of a scope": STATEMENTS.sessions_of_scope,
    "turns": STATEMENTS.turns,
    "contents": CONTENTS.get,
}


@pytest.fixture(scope="module")
def filled() -> Iterator[Connection]:
    """Enough rows that reading all of them is not what is cheapest anyway."""
    with connect(database()) as connection:
        add_rows(
            connection,
            [
                ledger_row(
                    request_id=f"r{number}", scope=f"{number % 20}/", session=f"s{number % 400}", at=60.0 * number
                )
                for number in range(4_000)
            ],
        )
        connection.execute(
            "INSERT INTO contents (scope_id, session_id, request_id, at, size, headers, body, sent, fates, answer)"
            " SELECT scope_id, session_id, request_id, at, 1, '{}', '', '', '', '' FROM ledger"
        )
        connection.execute(
            "INSERT INTO archive (scope_id, link, session_id, turn, at, utterances, messages)"
            " SELECT scope_id, decode(md5(request_id), 'hex'), session_id, id, at, '[]', '' FROM ledger"
        )
        connection.execute("ANALYZE")
        yield connection


@pytest.mark.parametrize("name", LISTS)
def test_rows_are_found_by_an_index(name: str, filled: Connection) -> None:
    steps = plan(filled, LISTS[name], VALUES)
    for table in ("ledger", "contents", "rollups", "session_sums", "archive"):
        assert f"Seq Scan on {table}" not in steps


async def test_the_words_of_a_turn_may_hold_what_json_in_postgresql_cannot() -> None:
    said = "hi\0\0 \\u0000 \\\0 there"
    utterances = msgspec.json.encode((Utterance("user", said, b"q" * 16),)).decode()
    async with processes(1) as (running,):
        await running.read(
            lambda connection: connection.execute(
                "WITH a AS (INSERT INTO scopes (name) VALUES ('a/') RETURNING id), s AS (INSERT INTO sessions"
                " (scope_id, name) SELECT id, 's' FROM a RETURNING id, scope_id) INSERT INTO archive"
                " (scope_id, link, session_id, turn, at, utterances, messages)"
                " SELECT scope_id, '1', id, 1, 5, %s, '' FROM s",
                (utterances,),
            )
        )
        assert [card.begins for card in await PostgresAccounts(running).turns("a/", "s")] == [said]
