"""Whether quality held, over HTTP, as whoever runs the proxy sees it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from time import time
from typing import Any

import pytest

from proxy.types.quality import Comparison
from tests.admin.started import started
from tests.admin.test_facts import Proxy, error
from tests.contract.test_quality_store import MEASURES, PAIR

QUALITY = "/admin/api/quality"


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Proxy, ...]]:
    """One that compares, one that does not, and one that shows nothing of what is said."""
    with ExitStack() as stack:
        yield (
            started(Proxy, stack, quality={"share": 0.5, "max_spend": 2.0}),
            started(Proxy, stack),
            started(Proxy, stack, quality={"share": 0.5}, admin={"show_content": False}),
        )


def put(proxy: Proxy, request: str, *, scope: str, held: bool = True, **differing: Any) -> None:
    comparison = Comparison(held, "alike" if held else "numbers", MEASURES)
    made = replace(PAIR, request_id=request, scope=scope, at=time() - 60, comparison=comparison)
    proxy.inside.do(lambda: proxy.services.storage.quality.put(replace(made, **differing)))


def get(proxy: Proxy, path: str = "", **query: Any) -> Any:
    answer = proxy.http.get(f"{QUALITY}{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_share_has_its_interval_and_its_number_of_pairs(running: tuple[Proxy, ...]) -> None:
    proxy, *_ = running
    for number in range(9):
        put(proxy, f"a{number}", scope="share/")
    put(proxy, "a9", scope="share/", held=False)
    put(proxy, "old", scope="share/", held=False, at=time() - 40 * 86_400)
    told = get(proxy, scope="share/")
    assert (told["pairs"], told["held"], told["share"]) == (10, 9, 0.9)
    assert (round(told["low"], 3), round(told["high"], 3)) == (0.596, 0.982)
    assert round(told["cost"], 6) == 0.03
    whole = get(proxy)
    assert (whole["is_on"], whole["sampled"], whole["max_spend"], whole["judge"]) == (True, 0.5, 2.0, None)
    assert whole["spent_today"] == 0


def test_pairs_come_page_by_page_and_those_that_have_not_held_alone(running: tuple[Proxy, ...]) -> None:
    proxy, *_ = running
    for number in range(3):
        put(proxy, f"b{number}", scope="pages/", held=number != 1)
    first = get(proxy, "/pairs", scope="pages/", limit=2)
    assert [each["request_id"] for each in first["pairs"]] == ["b2", "b1"]
    rest = get(proxy, "/pairs", scope="pages/", limit=2, before=first["next"])
    assert ([each["request_id"] for each in rest["pairs"]], rest["next"]) == (["b0"], None)
    lost = get(proxy, "/pairs", scope="pages/", only="lost")["pairs"]
    assert [(each["request_id"], each["reason"]) for each in lost] == [("b1", "numbers")]
    assert "managed" not in lost[0]


def test_a_pair_shows_both_answers_only_where_contents_are_shown(running: tuple[Proxy, ...]) -> None:
    proxy, _, hidden = running
    put(proxy, "c1", scope="one/")
    told = get(proxy, "/pairs/c1", scope="one/")
    assert (told["has_texts"], told["managed"], told["original"]) == (True, PAIR.managed, PAIR.original)
    assert told["measures"]["similarity"] == MEASURES.similarity
    put(hidden, "c1", scope="one/")
    told = get(hidden, "/pairs/c1", scope="one/")
    assert told["has_texts"] is False
    assert "managed" not in told


def test_what_was_not_compared_is_not_there(running: tuple[Proxy, ...]) -> None:
    proxy, off, _ = running
    put(proxy, "d1", scope="mine/")
    assert error(proxy.http.get(f"{QUALITY}/pairs/d1", params={"scope": "yours/"}))[0] == 404
    assert error(proxy.http.get(QUALITY, params={"from": 10, "to": 5}))[0] == 400
    told = get(off)
    assert (told["is_on"], told["share"], "max_spend" in told) == (False, None, False)
