"""Query strings, bodies and answers: what is wrong is named."""

from typing import Any

import pytest

from proxy.admin import form
from proxy.call import Call
from proxy.errors import BadRequest
from proxy.tasks import Tasks


async def _never() -> Any:
    raise AssertionError


async def _nothing(_: Any) -> None: ...


def query(text: str) -> form.Query:
    scope = {"method": "GET", "raw_path": b"/", "query_string": text.encode(), "headers": []}
    return form.Query(Call(scope, _never, _nothing, Tasks()))


@pytest.mark.parametrize(
    ("text", "limit"),
    [("", 50), ("limit=1", 1), ("limit=100", 100), ("limit=007", 7), ("limit=3&limit=5", 3), ("other=x", 50)],
)
def test_a_number_is_read_or_the_usual_one(text: str, limit: int) -> None:
    assert query(text).whole("limit", 50, most=100) == limit


@pytest.mark.parametrize(
    "given", ["0", "101", "-1", "1.5", "", "x", "%C2%B2", "+1", "1e2", "%201", "9" * 5_000, "1_0", "%D9%A3"]
)
def test_a_number_that_is_none_or_out_of_bounds_is_named(given: str) -> None:
    with pytest.raises(BadRequest, match="limit is a number from 1 to 100") as refused:
        query(f"limit={given}").whole("limit", 50, most=100)
    assert refused.value.param == "limit"


@pytest.mark.parametrize(
    ("given", "moment"), [("0", 0.0), ("1700000000", 1.7e9), ("1700000000.1234567", 1700000000.1234567)]
)
def test_a_moment_is_read(given: str, moment: float) -> None:
    assert query(f"from={given}").moment("from", 5.0) == moment
    assert query("").moment("from", 5.0) == 5.0


@pytest.mark.parametrize("given", ["", "now", "-1", "nan", "inf", "1e9", "2026-01-01", "9" * 12, "1."])
def test_a_moment_that_is_none_is_named(given: str) -> None:
    with pytest.raises(BadRequest, match="unix seconds") as refused:
        query(f"from={given}").moment("from", 5.0)
    assert refused.value.param == "from"


def test_one_of_several_is_read_and_the_first_one_is_usual() -> None:
    assert [query(text).choice("by", ("", "model")) for text in ("", "by=", "by=model")] == ["", "", "model"]
    with pytest.raises(BadRequest, match="by is one of model") as refused:
        query("by=Model").choice("by", ("", "model"))
    assert refused.value.param == "by"


def test_a_field_of_a_form_that_nobody_filled_in_is_none() -> None:
    given = query("scope=&session=a%2Fb")
    assert (given.word("scope"), given.get("scope"), given.word("session"), given.word("x")) == (None, "", "a/b", None)


def test_an_answer_is_json_that_nobody_keeps() -> None:
    answer = form.answered({"a": 1}, 201)
    assert (answer.status, answer.body) == (201, b'{"a":1}')
    assert ("cache-control", "no-store") in answer.headers
    assert form.done(("x", "y")).headers[0] == ("x", "y")
