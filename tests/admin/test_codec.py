"""Query strings, bodies and answers: what is wrong is named."""

from dataclasses import asdict, fields, replace
from typing import Annotated, Any, Literal

import msgspec
import pytest

from proxy.admin.codec import (
    Asked,
    Moment,
    added_up,
    as_json,
    from_body,
    from_query,
    page,
    row_json,
    sums_json,
    total,
    without_body,
)
from proxy.errors import BadRequest, InvalidJson, MissingParameter
from proxy.types import BreakEven, LedgerRow, Sums, Trail
from tests.builders import ledger_row


class Listed(Asked, frozen=True):
    scope: str | None = None
    start: Moment = msgspec.field(default=5.0, name="from")
    by: Literal["", "model", "upstream"] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 50


class Named(Asked, frozen=True):
    name: str
    pinned: bool = False


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", Listed()),
        ("limit=1", Listed(limit=1)),
        ("limit=100&scope=a%2Fb", Listed(limit=100, scope="a/b")),
        ("scope=7", Listed(scope="7")),
        ("scope=null", Listed(scope="null")),
        ("from=0", Listed(start=0.0)),
        ("from=1700000000.1234567", Listed(start=1700000000.1234567)),
        ("by=model", Listed(by="model")),
    ],
)
def test_a_query_is_read_as_its_struct(query: str, asked: Listed) -> None:
    assert from_query(query, Listed) == asked


@pytest.mark.parametrize(
    "given", ["0", "101", "-1", "1.5", "", "x", "%C2%B2", "+1", "1e3", "%201", "9" * 5_000, "1_0", "%D9%A3"]
)
def test_a_number_that_is_none_or_out_of_bounds_is_named(given: str) -> None:
    with pytest.raises(BadRequest, match="limit") as refused:
        from_query(f"limit={given}", Listed)
    assert refused.value.param == "limit"
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("given", ["", "now", "-1", "nan", "inf", "2026-01-01", "9" * 12, "1."])
def test_a_moment_that_is_none_is_named(given: str) -> None:
    with pytest.raises(BadRequest, match="from") as refused:
        from_query(f"from={given}", Listed)
    assert refused.value.param == "from"


@pytest.mark.parametrize(
    ("query", "param", "told"),
    [
        ("limt=5", "limt", "did you mean `limit`? known here: scope, from, by, limit"),
        ("start=5", "start", "known here"),
        ("limit=3&limit=4", "limit", "2 times"),
        ("limit=3&limit=3", "limit", "2 times"),
        ("scope=", "scope", "empty"),
        ("by=", "by", "empty"),
        ("by=modl", "by", "did you mean `model`? known here: model, upstream"),
    ],
)
def test_what_is_unknown_repeated_or_empty_is_refused_with_the_nearest_name(query: str, param: str, told: str) -> None:
    with pytest.raises(BadRequest) as refused:
        from_query(query, Listed)
    assert refused.value.param == param
    assert told in refused.value.message


def test_a_route_that_takes_nothing_says_so() -> None:
    assert from_query("", Asked) == Asked()
    with pytest.raises(BadRequest, match="x: this route takes no parameter"):
        from_query("x=1", Asked)


@pytest.mark.parametrize(
    ("raw", "kind", "param"),
    [
        (b"{", InvalidJson, None),
        (b"\xff", InvalidJson, None),
        (b"[]", BadRequest, None),
        (b"{}", MissingParameter, "name"),
        (b'{"nam": "x"}', BadRequest, "nam"),
        (b'{"name": 7}', BadRequest, "name"),
        (b'{"name": null}', BadRequest, "name"),
        (b'{"name": "x", "pinned": "true"}', BadRequest, "pinned"),
    ],
)
def test_a_body_that_is_none_of_its_struct_is_refused_by_name(raw: bytes, kind: Any, param: str | None) -> None:
    with pytest.raises(kind) as refused:
        from_body(raw, Named)
    assert refused.value.param == param


def test_a_body_is_read_as_its_struct() -> None:
    assert from_body(b'{"name": "", "pinned": true}', Named) == Named("", pinned=True)


@pytest.mark.parametrize(
    ("found", "listed", "after"), [([], [], None), ([1, 2], [1, 2], None), ([1, 2, 3], [1, 2], "2")]
)
def test_a_page_names_its_last_line_if_there_are_more(found: list[int], listed: list[int], after: str | None) -> None:
    assert page(found, 2, str) == (listed, after)


def test_an_answer_is_json_that_nobody_keeps() -> None:
    answer = as_json({"a": 1}, 201)
    assert (answer.status, answer.body) == (201, b'{"a":1}')
    assert ("cache-control", "no-store") in answer.headers
    assert without_body(("x", "y")).headers[0] == ("x", "y")


DECIDED = BreakEven(
    leave=3, reason="economic", cached=0.25, write=1.0, turns=9, standing=4_000, folded=1_000, advance=10.0,
    carried=20.0, regret=0.01, baseline=100.0, spent=80.0,
)  # fmt: skip
TRAIL = Trail(limit=4_000, turns=9, kept=6, start=7, newest=19, shift="phrase", break_even=DECIDED, profile="lean")


def test_every_field_of_a_row_is_told_and_its_number() -> None:
    row = ledger_row(mechanisms={"window": 5}, trail=TRAIL)
    line = msgspec.json.decode(msgspec.json.encode(row_json(7, row, whole=True)))
    assert set(line) == {each.name for each in fields(LedgerRow)} | {"number"}
    assert (line["number"], line["mechanisms"]) == (7, {"window": 5})
    assert line["trail"] == {**asdict(TRAIL), "recalled": [], "capped": [], "markers": []}


@pytest.mark.parametrize(
    ("trail", "small"),
    [
        (None, None),
        (TRAIL, {"turns": 9, "kept": 6, "shift": "phrase", "break_even": {"leave": 3, "reason": "economic"}}),
        (replace(TRAIL, break_even=None), {"turns": 9, "kept": 6, "shift": "phrase", "break_even": None}),
    ],
)
def test_in_a_list_the_trail_is_told_in_a_few_words(trail: Trail | None, small: object) -> None:
    assert row_json(7, ledger_row(trail=trail))["trail"] == small


def test_what_follows_from_sums_is_told_with_them() -> None:
    sums = Sums(
        requests=10, reused_exact=2, reused_intent=1, tokens_original=1_000, tokens_sent=400, tokens_reused=50,
        cost=1.0, saved_exact=0.5, saved_intent=0.25, saved_context=2.0, added_context=0.5, memory=0.25, quality=0.125,
    )  # fmt: skip
    line = sums_json(sums)
    assert {name: line[name] for name in line if name not in asdict(sums)} == {
        "tokens_saved": 650,
        "dollars_saved": 1.875,
        "hit_rate_exact": 0.2,
        "hit_rate_intent": 0.1,
        "passthrough_cost": 2.875,
    }
    assert {name: line[name] for name in asdict(sums)} == asdict(sums)


def test_of_nothing_every_rate_is_none() -> None:
    assert set(sums_json(Sums()).values()) == {0}


def test_what_memory_has_cost_is_told_where_a_model_has_helped_it() -> None:
    assert sums_json(Sums(memory=0.5))["memory"] == 0.5
    assert "memory" not in sums_json(Sums())


def test_memory_that_came_to_more_than_it_left_out_is_a_loss_and_told_as_one() -> None:
    assert sums_json(Sums(cost=1.0, added_context=0.25))["dollars_saved"] == -0.25


def test_sums_are_added_up_by_key() -> None:
    one, two = Sums(requests=1, cost=0.5), Sums(requests=2, tokens_sent=7)
    both = Sums(requests=3, cost=0.5, tokens_sent=7)
    assert added_up([("a", one), ("b", one), ("a", two)]) == {"a": both, "b": one}
    assert (total([one, two, two]), total([])) == (replace(both, requests=5, tokens_sent=14), Sums())
