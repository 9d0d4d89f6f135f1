"""What would have been with other numbers: over requests that went through a real proxy."""

import asyncio
import functools
import json
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from time import time
from typing import Any

import httpx
import numpy as np
import pytest

from proxy.admin.parts import Worker
from proxy.admin.what_if import MOST_CHANGES, MOST_REQUESTS, CrossLoopEmbedder, changed
from proxy.embedding import EmbeddingOff, EmbeddingUnavailable, Vectors
from proxy.errors import BadRequest
from proxy.types import Contents
from tests.admin.conftest import API, MODEL, TOKEN, Watched, error
from tests.builders import Said, assistant, body, config, system, user
from tests.replay.logs import conversation, requests
from tests.servers import eventually

ROUTE = f"{API}/what-if"


def said(watched: Watched, turns: int = 14) -> str:
    """A conversation, request by request; its scope once all of it is written down."""
    person = watched.scope()[33:]
    sent = list(requests(conversation("en", turns)))
    for told in sent:
        raw, headers = body(*told, model=MODEL), {"x-olvido-user": person}
        answer = watched.client.post("/v1/chat/completions", content=raw, headers=headers)
        assert answer.status_code == 200
    request = answer.headers["x-olvido-request"]
    eventually(lambda: watched.http.get(f"{API}/requests/{request}").status_code == 200)
    eventually(lambda: watched.get(f"requests/{request}")["has_content"])
    scope: str = watched.get(f"requests/{request}")["request"]["scope"]
    eventually(lambda: len(watched.get("requests", scope=scope)["requests"]) == len(sent))
    return scope


@pytest.fixture(scope="module")
def scope(watched: Watched) -> str:
    return said(watched)


def asked(watched: Watched, **body: Any) -> Any:
    answer = watched.http.post(ROUTE, json={"profile": "lean", **body}, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_without_a_change_all_would_have_been_the_same(scope: str, watched: Watched) -> None:
    told = asked(watched, scope=scope)
    assert (told["requests"], told["without"]) == (15, 0)
    assert told["before"] == told["after"]
    assert len(told["rows"]) == 15
    assert all(row["sent_before"] == row["sent_after"] for row in told["rows"])


def test_a_smaller_window_sends_less_and_every_request_says_how_much(scope: str, watched: Watched) -> None:
    told = asked(watched, scope=scope, changes={"budget": 600, "window.tokens": 200, "pressure": 0.5, "recall.cap": 0})
    before, after = told["before"], told["after"]
    assert before["original"] == after["original"] == sum(row["original"] for row in told["rows"])
    assert after["sent"] == sum(row["sent_after"] for row in told["rows"]) < before["sent"] <= before["original"]
    assert before["passthrough_cost"] == after["passthrough_cost"] > 0
    assert after["cost"] == pytest.approx(sum(row["cost_after"] for row in told["rows"]))
    last = told["rows"][-1]
    assert last["kept_after"] < last["kept_before"]
    assert last.keys() == {
        *("request_id", "at", "session", "original", "sent_before", "sent_after", "kept_before", "kept_after"),
        *("cost_before", "cost_after"),
    }
    assert [row["at"] for row in told["rows"]] == sorted(row["at"] for row in told["rows"])


def test_the_last_ones_are_taken_and_those_whose_contents_are_gone_are_counted(scope: str, watched: Watched) -> None:
    assert asked(watched, scope=scope, last=4)["requests"] == 4
    session = watched.get("requests", scope=scope)["requests"][0]["session"]
    watched.wrote(scope, session=session)  # a row without contents
    told = asked(watched, scope=scope, session=session, last=5)
    assert (told["requests"], told["without"]) == (4, 1)
    assert asked(watched, scope="nobody/")["requests"] == 0


def test_nothing_is_written_by_it(scope: str, watched: Watched) -> None:
    before = watched.get("requests", scope=scope)
    facts = watched.get("facts", scope=scope)
    asked(watched, scope=scope, changes={"budget": 600, "window.tokens": 200})
    assert watched.get("requests", scope=scope) == before
    assert watched.get("facts", scope=scope) == facts


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({}, "profile"),
        ({"profile": "leen"}, "profile"),
        ({"profile": 7}, "profile"),
        ({"profile": "lean", "changes": {"window.tokns": 5}}, "window.tokns"),
        ({"profile": "lean", "changes": []}, "changes"),
        ({"profile": "lean", "last": 0}, "last"),
        ({"profile": "lean", "last": MOST_REQUESTS + 1}, "last"),
        ({"profile": "lean", "last": "all"}, "last"),
        ({"profile": "lean", "scope": 7}, "scope"),
        ({"profile": "lean", "budget": 7}, "budget"),
    ],
)
def test_what_is_no_question_is_refused_by_name(given: dict[str, Any], param: str, watched: Watched) -> None:
    answer = watched.http.post(ROUTE, json=given)
    assert error(answer)[0] == 400
    assert answer.json()["error"]["param"] == param


def test_where_nothing_is_kept_it_is_told_why(locked: Watched) -> None:
    answer = locked.http.post(ROUTE, json={"profile": "lean"}, headers={"authorization": f"Bearer {TOKEN}"})
    assert error(answer) == (409, "conflict")
    assert "admin.show_content" in answer.json()["error"]["message"]


@pytest.mark.long
def test_one_at_a_time_requests_go_on_and_it_ends_when_the_client_goes(watched: Watched) -> None:
    scope, long = watched.scope(), "The harbour of the old town has forty moorings and a lighthouse. " * 40
    told: list[Said] = [system("Be brief.")]
    for number in range(60):
        told += [user(f"{number}. {long}"), assistant(f"({number}) {long}")]
    for number in range(MOST_REQUESTS):
        row = watched.wrote(scope, at=time())
        raw = body(*told, user(f"{number}?"), model=MODEL)
        said = Contents(scope, row.request_id, row.session, row.at, raw)
        watched.inside.do(functools.partial(watched.services.storage.contents.put, said))

    address = httpx.URL(watched.http.base_url)
    leaving = HTTPConnection(address.host, address.port)
    question = json.dumps({"profile": "lean", "scope": scope, "last": MOST_REQUESTS})
    leaving.request("POST", ROUTE, question)
    eventually(lambda: watched.admin.worker.is_busy)
    assert error(watched.http.post(ROUTE, json={"profile": "lean"})) == (409, "conflict")
    assert watched.client.post("/v1/chat/completions", content=body(user("hi"), model=MODEL)).status_code == 200
    assert watched.admin.worker.is_busy
    leaving.close()
    eventually(lambda: not watched.admin.worker.is_busy)


# --- other numbers in a profile, held to the configuration's own rules ---


def test_numbers_are_named_by_their_path_and_the_rest_stays() -> None:
    before = config()
    after = changed(before, "lean", {"window.tokens": 2_000, "budget": "economic", "recall.cap": 0})
    lean = after.profiles["lean"]
    assert (lean.window.tokens, lean.budget, lean.recall.cap) == (2_000, "economic", 0)
    assert lean.window.turns == before.profiles["lean"].window.turns
    assert before.profiles["lean"].window.tokens == 1_200
    assert after.context == before.context
    assert changed(before, "lean", {}) == before


@pytest.mark.parametrize(
    ("name", "profile", "with_tools"),
    [("lean", "lean", "agent"), ("agent", "lean", "agent"), ("balanced", "balanced", "agent")],
)
def test_a_profile_that_no_request_has_takes_the_place_of_that_of_plain_chats(
    name: str, profile: str, with_tools: str
) -> None:
    after = changed(config(), name, {}).context
    assert (after.profile, after.profile_with_tools) == (profile, with_tools)


@pytest.mark.parametrize(
    ("changes", "param", "told"),
    [
        ({"window.tokns": 5}, "window.tokns", "did you mean `tokens`"),
        ({"windw.tokens": 5}, "windw", "did you mean `window`"),
        ({"window.tokens": -1}, "window.tokens", "greater than or equal to 0"),
        ({"window.tokens": "many"}, "window.tokens", "expected"),
        ({"window.tokens": None}, "window.tokens", "expected"),
        ({"window.turns": 1}, "window", "min_turns"),
        ({"window": 5}, "window", "expected"),
        ({"budget": 0}, "budget", "greater than or equal to 1"),
        ({"budget": 100}, "changes", "above the budget 100"),
        ({"budget.more": 1}, "budget.more", "leads nowhere"),
        ({"fold": "never"}, "fold", "economic"),
        ({"base": "agent"}, "base", "none of them"),
        ({"": 5}, "", "unknown"),
        ({f"x{number}": 1 for number in range(MOST_CHANGES + 1)}, "changes", "More than"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(changes: dict[str, Any], param: str, told: str) -> None:
    with pytest.raises(BadRequest) as refused:
        changed(config(), "lean", changes)
    assert told in refused.value.message
    assert refused.value.param == (param or refused.value.param)


def test_a_profile_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(BadRequest, match="lean, balanced, agent") as refused:
        changed(config(), "leen", {})
    assert refused.value.param == "profile"


class Home(EmbeddingOff):
    """An embedder that works on its own event loop only."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        assert asyncio.get_running_loop() is self._loop
        if not texts:
            raise EmbeddingUnavailable("nothing")
        return np.ones((len(texts), 2), np.float32)

    async def close(self) -> None:
        self.closed = True


async def test_an_embedder_is_lent_to_another_event_loop() -> None:
    home = Home()
    lent = CrossLoopEmbedder(home, asyncio.get_running_loop())

    async def work(_: Callable[[], None]) -> tuple[int, ...]:
        lent.start()
        with pytest.raises(EmbeddingUnavailable):
            await lent.embed([])
        vectors = await lent.embed(["a", "b"])
        await lent.close()
        return vectors.shape

    assert await Worker().run(work) == (2, 2)
    assert (lent.state, lent.version, lent.detail) == (
        home.state,
        home.version,
        home.detail,
    )
    assert not home.closed
