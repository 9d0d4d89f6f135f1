"""Retries of an SDK: the tries that belong together, and those that do not."""

from typing import Any

import pytest

from proxy.admin.attempts import LONGEST_WAIT, attempts, first_of_each, grouped
from proxy.types import Contents, LedgerRow
from tests.builders import NOW, ledger_row

FAILED: dict[str, Any] = {"status": 503, "outcome": "upstream_error", "total_seconds": 1.0}


def row(number: int, after: float = 0.0, **differing: Any) -> LedgerRow:
    return ledger_row(request_id=f"r{number}", at=NOW + after, **differing)


def contents(number: int, body: bytes = b"{}", **headers: str) -> Contents:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Contents("s/", f"r{number}", "s", NOW, body, headers=named)


def names(groups: list[list[LedgerRow]]) -> list[list[str]]:
    return [[each.request_id for each in group] for group in groups]


@pytest.mark.parametrize(
    ("first", "then", "are_one"),
    [
        ({}, {}, True),
        ({"status": 200, "outcome": "complete"}, {}, False),
        ({"status": 400}, {}, False),
        ({"status": 401}, {}, False),
        ({"status": 408}, {}, True),
        ({"status": 409}, {}, True),
        ({"status": 429}, {}, True),
        ({"status": 500, "outcome": "our_error"}, {}, True),
        ({"status": 200, "outcome": "upstream_broken"}, {}, True),
        ({"status": 200, "outcome": "client_gone"}, {}, True),  # its time was up
        ({"status": 0}, {}, True),
        ({}, {"after": 1.0 + LONGEST_WAIT + 0.1}, False),
        ({"total_seconds": 600.0, "outcome": "client_gone"}, {"after": 601.0}, True),
        ({"total_seconds": 9.0, "outcome": "client_gone"}, {"after": 8.5}, True),  # written once the client has gone
        ({}, {"model": "another"}, False),
        ({}, {"stream": True}, False),
        ({}, {"session": "another"}, False),
        ({}, {"scope": "another/"}, False),
    ],
)
def test_a_try_follows_a_failure_that_sdks_try_again(
    first: dict[str, Any], then: dict[str, Any], *, are_one: bool
) -> None:
    rows = [row(1, **{**FAILED, **first}), row(2, **{"after": 2.0, **then})]
    assert names(grouped(rows)) == ([["r1", "r2"]] if are_one else [["r1"], ["r2"]])


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        (contents(1), contents(2), True),
        (contents(1), contents(2, b"[]"), False),
        (contents(1), contents(2, x_stainless_retry_count="0"), False),  # a new request of the same words
        (contents(1), contents(2, x_stainless_retry_count="1"), True),
        (contents(1), contents(2, b"[]", x_stainless_retry_count="1"), False),
        (None, contents(2, x_stainless_retry_count="1"), True),
        (None, contents(2), True),
        (contents(1), None, True),
    ],
)
def test_bodies_and_the_sdks_own_count_decide_where_they_are_kept(
    one: Contents | None, other: Contents | None, *, are_one: bool
) -> None:
    kept = {each.request_id: each for each in (one, other) if each is not None}
    assert (len(grouped([row(1, **FAILED), row(2, 2.0)], kept)) == 1) is are_one


def test_tries_are_told_oldest_first_from_each_of_them() -> None:
    rows = [row(1, **FAILED), row(2, 2.0, **FAILED), row(3, 5.0), row(4, 9.0)]
    for each in rows[:3]:
        told = attempts(each, rows, {})
        assert [(one.request_id, one.status) for one in told] == [("r1", 503), ("r2", 503), ("r3", 200)]
    assert attempts(rows[3], rows, {}) == ()
    assert attempts(row(5), rows, {}) == ()
    assert first_of_each(rows) == {"r1": "r1", "r2": "r1", "r3": "r1"}


def test_requests_that_are_under_way_beside_it_do_not_part_its_tries() -> None:
    rows = [row(1, **FAILED), row(2, 0.5, model="another"), row(3, 2.0)]
    assert names(grouped(rows)) == [["r1", "r3"], ["r2"]]
