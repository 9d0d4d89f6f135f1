"""Safe rollout, in front of an upstream: what is held back says so, and what has returned stays returned."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.config.model import Context
from proxy.context.rollout import LEAST_MANAGED
from proxy.demo.app import CHAT_MODELS
from proxy.keys.book import KeyBook
from proxy.pipeline.rollout import Rollout
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.returns import SqliteReturns
from proxy.tasks import Tasks
from proxy.types import Directives, Identity, Scope
from tests.builders import TENANT, config, ledger_row
from tests.proxied import KEY, Upstream, in_front_of, run_upstream
from tests.servers import eventually, proxy_app, run_app
from tests.stores import AtOnce

SCOPE = f"{TENANT}/"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


@contextmanager
def proxied(upstream: Upstream, **sections: Any) -> Iterator[httpx.Client]:
    with (
        run_app(proxy_app(in_front_of(upstream, **sections))) as url,
        httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=120) as http,
    ):
        yield http


def asked(http: httpx.Client, session: str = "s", text: str = "How are you?", **more: Any) -> httpx.Response:
    body = {"model": CHAT_MODELS[0], "messages": [{"role": "user", "content": text}], **more}
    answer = http.post("/v1/chat/completions", json=body, headers={"x-olvido-session": session})
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.parametrize(
    ("context", "plan"),
    [
        ({}, "untouched"),
        ({"canary": 0}, "untouched;canary"),
        ({"rules": [{"model": f"{CHAT_MODELS[0][:3]}*", "mode": "meter"}]}, "untouched;rule"),
        ({"rules": [{"model": "another", "mode": "off"}]}, "untouched"),
    ],
)
def test_what_is_held_back_says_why(upstream: Upstream, context: dict[str, Any], plan: str) -> None:
    with proxied(upstream, context=context) as http:
        assert asked(http).headers["x-olvido-plan"] == plan


def test_a_session_that_is_reported_wrong_returns_to_pass_through_and_says_so(upstream: Upstream) -> None:
    with proxied(upstream) as http:
        assert asked(http, temperature=0).headers["x-olvido-source"] == "upstream"
        told = http.post("/olvido/sessions/s/report", json={})
        assert (told.status_code, told.json()) == (200, {"session": "s", "mode": "meter", "returned": True})
        assert http.post("/olvido/sessions/s/report").json()["returned"] is False
        again = asked(http, temperature=0)
        assert again.headers["x-olvido-plan"] == "untouched;returned=reported"
        assert again.headers["x-olvido-source"] == "upstream"  # no answer from memory either
        assert asked(http, "t").headers["x-olvido-plan"] == "untouched"
        assert 'olvido_returned_conversations_total{reason="reported"} 1.0' in http.get("/metrics").text

        def is_told() -> bool:
            rows = http.get("/admin/api/requests", params={"session": "s"}).json()["requests"]
            return any(row["plan_reason"] == "returned=reported" for row in rows)

        eventually(is_told)


def test_only_a_session_of_the_key_can_be_reported(upstream: Upstream) -> None:
    with proxied(upstream) as http:
        asked(http)
        assert http.post("/olvido/sessions/unknown/report").status_code == 404
        other = {"authorization": "Bearer sk-of-somebody-else"}
        assert http.post("/olvido/sessions/s/report", headers=other).status_code == 404
        assert http.post("/olvido/sessions/s/report", content=b"{").status_code == 400


def test_what_has_returned_stays_so_over_a_restart(upstream: Upstream, tmp_path: Path) -> None:
    kept = {"storage": {"kind": "sqlite", "path": str(tmp_path)}}
    with proxied(upstream, **kept) as http:
        asked(http)
        assert http.post("/olvido/sessions/s/report").json()["returned"]
    with proxied(upstream, **kept) as http:
        assert asked(http).headers["x-olvido-plan"].startswith("untouched;returned=reported")


def rollout(database: AtOnce, tasks: Tasks, told: list[str]) -> Rollout:
    keys = KeyBook(config(), b"s" * 32)
    stores = SqliteReturns(database), SqliteAccounts(database)
    return Rollout(Context(), keys, *stores, tasks, on_return=told.append)


def of(session: str) -> Identity:
    return Identity(Scope(TENANT), session, "header", ())


async def test_a_conversation_that_turns_dearer_than_pass_through_returns_and_no_other_does() -> None:
    database, tasks, told = AtOnce(), Tasks(), list[str]()
    ledger, found = SqliteLedger(database), rollout(database, tasks, told)
    said = [("dear", -0.2)] * 2 * LEAST_MANAGED + [("cheap", -0.01)] * (LEAST_MANAGED - 1) + [("cheap", 0.5)]
    said += [("advance", -0.6)] * LEAST_MANAGED + [("advance", 0.1)] * LEAST_MANAGED + [("advance", -0.1)]
    for number, (session, saved) in enumerate(said):
        row = ledger_row(
            request_id=f"r{number}", scope=SCOPE, session=session, plan="managed", cost=1.0, cost_saved=saved,
            mechanisms={"recall": 40},
        )  # fmt: skip
        ledger.append(row)
        found.heard(row)
        await tasks.drain(5.0)
    assert told == ["dearer"]
    assert found.applies
    assert found.directed(Directives(), of("dear"), "m").held == "returned=dearer"
    assert found.directed(Directives(), of("cheap"), "m").mode == "on"
    assert found.directed(Directives(), of("advance"), "m").mode == "on"  # a third dearer still, but paying back
    assert found.directed(Directives(), of("dear"), "m", fits=False).mode == "on"  # nobody would take it whole
    found.drop(SCOPE)
    assert not found.applies


async def test_what_another_process_returns_is_seen_by_the_next_look() -> None:
    database, tasks = AtOnce(), Tasks()
    one, other = rollout(database, tasks, []), rollout(database, tasks, [])
    assert one.give_back(SCOPE, "s", "reported")
    assert not one.give_back(SCOPE, "s", "dearer")
    assert not other.applies
    await other.look()
    assert other.directed(Directives(), of("s"), "m").held == "returned=reported"
