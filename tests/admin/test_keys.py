"""Keys in the admin API; and what a key sees that has logged in: its own, on whatever route, and nothing else."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import time
from typing import Any

import httpx
import pytest
from msgspec.structs import fields

from proxy.admin.auth import COOKIE
from proxy.admin.routes import API, ROUTES, Route
from proxy.config import key_hash
from proxy.types import Contents, Fact
from tests.admin.conftest import MODEL, TOKEN, Watched, error, started
from tests.contract.test_quality_store import PAIR
from tests.proxied import KEY

ANA, BEN = "sk-the-key-of-ana-1234", "sk-the-key-of-ben-1234"
ADMIN = {"authorization": f"Bearer {TOKEN}"}
KEYS = [{"name": "ana", "key": key_hash(ANA), "team": "design"}, {"name": "ben", "key": key_hash(BEN)}]
# What each says, does and is called: the other must see none of it.
OWN = {"ana": ("saidbyana", "sessionofana"), "ben": ("saidbyben", "sessionofben")}


@dataclass(frozen=True, slots=True)
class Team:
    """A proxy that gives out keys, with something of each key's in every store."""

    proxy: Watched
    tenants: Mapping[str, str]

    def get(self, path: str, key: str, **query: Any) -> httpx.Response:
        return self.proxy.http.get(f"{API}/{path}", params=query, headers={"authorization": f"Bearer {key}"})


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    with ExitStack() as stack:
        watched = started(
            stack,
            auth={"mode": "keys", "keys": KEYS},
            own_key=KEY,
            admin={"token": TOKEN, "show_content": True},
            limits={"keys": {"requests_per_minute": 500}},
        )
        book = watched.services.keys
        tenants = {key.name: book.tenant(key) for key in book.all()}
        for name, key in (("ana", ANA), ("ben", BEN)):
            _fill(watched, name, key, tenants[name])
        yield Team(watched, tenants)


def _fill(watched: Watched, name: str, key: str, tenant: str) -> None:
    said, session = OWN[name]
    asked = {"model": MODEL, "messages": [{"role": "user", "content": said}]}
    headers = {"authorization": f"Bearer {key}", "x-olvido-session": session, "x-olvido-user": f"user-of-{name}"}
    assert watched.http.post("/v1/chat/completions", json=asked, headers=headers).status_code == 200
    scope = f"{tenant}/user-of-{name}"
    watched.wrote(scope, request_id=f"req_of_{name}", session=session, cost=0.25)
    storage, now = watched.services.storage, time()
    fact = Fact(f"f-{name:>016}", "personal", "said", said, "high", "explicit", session, 1, now, now)
    pair = replace(PAIR, scope=scope, request_id=f"req_of_{name}", session=session, at=now, question=said)
    watched.inside.do(lambda: storage.quality.put(pair))
    kept = Contents(scope, f"req_of_{name}", session, now, json.dumps(asked).encode())
    watched.inside.do(lambda: storage.facts.put(scope, [fact]))
    watched.inside.do(lambda: storage.contents.put(kept))
    watched.inside.do(lambda: _flushed(watched))


async def _flushed(watched: Watched) -> None:
    await watched.services.tasks.drain(5.0)
    await watched.services.storage.flush()


def concrete(path: str, name: str) -> str:
    return path.replace("{session:path}", OWN[name][1]).replace("{id}", f"req_of_{name}")


OPEN = [route for route in ROUTES if route.is_open_to_keys]
SHUT = [route for route in ROUTES if route.is_guarded and not route.is_open_to_keys]


def _id(route: Route) -> str:
    return f"{route.method} {route.path}"


def test_these_and_no_other_routes_are_open_to_keys_and_each_is_asked_of_a_scope() -> None:
    assert [_id(route).removeprefix(f"GET {API}/") for route in OPEN] == [
        *(
            "scopes",
            "summary",
            "requests",
            "requests/export",
            "requests/{id}",
            "live",
            "sessions",
            "sessions/{session:path}",
        ),
        *("keys", "facts"),
        *("quality", "quality/pairs", "quality/pairs/{id}"),
    ]
    assert all(route.method == "GET" for route in OPEN)
    assert all("scope" in {field.encode_name for field in fields(route.asked)} for route in OPEN)


@pytest.mark.parametrize("route", SHUT, ids=_id)
def test_every_other_route_is_refused_to_a_key_whatever_it_asks(route: Route, team: Team) -> None:
    for key, name in ((ANA, "ana"), (BEN, "ben")):
        body: dict[str, str] | None = None if route.method in ("GET", "DELETE") else {}
        path = concrete(route.path, name)
        answer = team.proxy.http.request(
            route.method, path, json=body, headers={"authorization": f"Bearer {key}"}, params={"scope": "x/"}
        )
        assert error(answer) == (403, "forbidden")


@pytest.mark.parametrize("route", OPEN, ids=_id)
def test_a_key_sees_its_own_on_every_route_and_nothing_of_another(route: Route, team: Team) -> None:
    if route.path.endswith("live"):
        pytest.skip("a stream: below")
    for name, key, other in (("ana", ANA, "ben"), ("ben", BEN, "ana")):
        answer = team.get(concrete(route.path, name).removeprefix(f"{API}/"), key)
        assert answer.status_code == 200, answer.text
        are_sums = route.path.endswith(("summary", "quality"))
        assert team.tenants[name] in answer.text or "saidby" in answer.text or are_sums
        for foreign in (team.tenants[other], *OWN[other], f"req_of_{other}", f"user-of-{other}"):
            assert foreign not in answer.text
        for scope in (team.tenants[other], f"{team.tenants[other]}/user-of-{other}", "", "/"):
            refused = team.get(concrete(route.path, other).removeprefix(f"{API}/"), key, scope=scope)
            assert refused.status_code in (400, 403)
            assert OWN[other][0] not in refused.text


@pytest.mark.parametrize("path", ["requests/req_of_ben", "sessions/sessionofben"])
def test_what_is_anothers_is_not_there_by_its_name_either(path: str, team: Team) -> None:
    assert team.get(path, ANA).status_code == 404
    assert team.get(path, BEN).status_code == 200


def test_the_sums_of_a_key_are_those_of_its_end_users_and_no_more(team: Team) -> None:
    whole = team.get("summary", TOKEN).json()["totals"]["cost"]
    own = [team.get("summary", key).json()["totals"]["cost"] for key in (ANA, BEN)]
    assert sum(own) == pytest.approx(whole)
    assert min(own) >= 0.25


def test_a_key_is_told_whether_quality_held_of_its_own_answers_and_not_what_all_may_spend(team: Team) -> None:
    for name, key, scope in (("ana", ANA, None), ("ben", BEN, f"{team.tenants['ben']}/user-of-ben")):
        asked = {} if scope is None else {"scope": scope}
        told = team.get("quality", key, **asked).json()
        assert (told["pairs"], told["held"]) == (1, 1)
        assert "max_spend" not in told
        (pair,) = team.get("quality/pairs", key, **asked).json()["pairs"]
        assert pair["request_id"] == f"req_of_{name}"
        assert team.get(f"quality/pairs/req_of_{name}", key, **asked).json()["question"] == OWN[name][0]
    whole = team.get("quality", TOKEN).json()
    assert whole["pairs"] == 2
    assert team.get("quality/pairs/req_of_ben", ANA).status_code == 404


def test_the_live_stream_of_a_key_has_its_own_events(team: Team) -> None:
    scope = f"{team.tenants['ana']}/user-of-ana"
    with team.proxy.http.stream("GET", f"{API}/live", headers={"authorization": f"Bearer {ANA}"}) as stream:
        lines = stream.iter_lines()
        assert any(line.startswith("event: totals") for line in lines)
        team.proxy.wrote(f"{team.tenants['ben']}/", request_id="req_live_ben")
        team.proxy.wrote(scope, request_id="req_live_ana")
        told = next(line for line in lines if "req_live_" in line)
        assert "req_live_ana" in told
        assert "req_live_ben" not in told


def test_an_administrator_sees_all_and_a_tenant_if_he_asks_for_it(team: Team) -> None:
    scopes = [each["scope"] for each in team.get("scopes", TOKEN).json()["scopes"]]
    assert {scope.partition("/")[0] for scope in scopes} >= set(team.tenants.values())
    of_ana = team.get("requests", TOKEN, scope=team.tenants["ana"]).json()["requests"]
    assert {each["scope"] for each in of_ana} == {f"{team.tenants['ana']}/user-of-ana"}


# --- logging in -----------------------------------------------------------------------------------------------------


def logged_in(team: Team, token: str) -> dict[str, str]:
    answer = team.proxy.http.post(f"{API}/login", json={"token": token})
    assert answer.status_code == 204, answer.text
    return {"cookie": f"{COOKIE}={answer.cookies[COOKIE]}", "sec-fetch-site": "same-origin"}


def test_a_key_logs_in_and_is_told_who_it_is(team: Team) -> None:
    cookie = logged_in(team, ANA)
    assert ANA not in cookie["cookie"]
    me = team.proxy.http.get(f"{API}/me", headers=cookie).json()
    assert me["key"]["name"] == "ana"
    assert me["key"]["tenant"] == team.tenants["ana"]
    own = team.proxy.http.get(f"{API}/requests", headers=cookie).json()["requests"]
    assert {each["scope"].partition("/")[0] for each in own} == {team.tenants["ana"]}
    assert team.proxy.http.get(f"{API}/me", headers=logged_in(team, TOKEN)).json()["key"] is None
    assert team.proxy.http.post(f"{API}/logout", headers=cookie).status_code == 204
    assert team.proxy.http.get(f"{API}/requests", headers=cookie).status_code == 401


def test_a_cookie_of_a_key_cannot_be_made_one_of_another_or_of_the_administrator(team: Team) -> None:
    name, _, value = logged_in(team, ANA)["cookie"].partition("=")
    cookie_id, ends, key_id, signature = value.split(".")
    other = next(key.id for key in team.proxy.services.keys.all() if key.name == "ben")
    assert key_id != other
    for made in (f"{cookie_id}.{ends}.{signature}", f"{cookie_id}.{ends}.{other}.{signature}"):
        answer = team.proxy.http.get(f"{API}/requests", headers={"cookie": f"{name}={made}"})
        assert answer.status_code == 401


def test_whoever_has_no_key_of_ours_does_not_get_in(team: Team) -> None:
    assert team.proxy.http.post(f"{API}/login", json={"token": KEY}).status_code == 401


# --- create, list, revoke -------------------------------------------------------------------------------------------


def created(of: Team, **body: Any) -> dict[str, Any]:
    answer = of.proxy.http.post(f"{API}/keys", json=body, headers=ADMIN)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def listed(team: Team) -> dict[str, Any]:
    told = team.proxy.http.get(f"{API}/keys", headers=ADMIN).json()
    return {each["name"]: each for each in told["keys"] if not each["revoked_at"]}


def test_a_key_is_created_told_once_used_and_revoked_with_its_cookie(team: Team) -> None:
    made = created(team, name="carla", team="sales", limits={"dollars_per_day": 2.5})
    key = made.pop("key")
    assert made["limits"]["dollars_per_day"] == 2.5
    assert made["limits"]["requests_per_minute"] == 500
    assert key not in team.proxy.http.get(f"{API}/keys", headers=ADMIN).text
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
    bearing = {"authorization": f"Bearer {key}"}
    assert team.proxy.http.post("/v1/chat/completions", json=asked, headers=bearing).status_code == 200
    cookie = logged_in(team, key)
    revoked = team.proxy.http.delete(f"{API}/keys/{made['id']}", headers=ADMIN)
    assert revoked.status_code == 204
    assert team.proxy.http.post("/v1/chat/completions", json=asked, headers=bearing).status_code == 401
    assert team.proxy.http.get(f"{API}/requests", headers=cookie).status_code == 401
    assert "carla" not in listed(team)
    assert team.proxy.http.delete(f"{API}/keys/{made['id']}", headers=ADMIN).status_code == 404


@pytest.mark.parametrize(
    "by",
    [
        "key",
        "cookie that is ended",
        pytest.param("cookie of a key", marks=pytest.mark.long),
        pytest.param("cookie of the administrator", marks=pytest.mark.long),
    ],
)
def test_a_stream_ends_with_what_has_opened_it(by: str, team: Team) -> None:
    """Its next event is for nobody: whoever took a key, or a cookie, would read on for as long as he liked."""
    made = created(team, name=f"streams-{by.replace(' ', '-')}")
    scope, http = f"{made['tenant']}/", team.proxy.http
    token = TOKEN if "admin" in by else made["key"]
    headers = {"authorization": f"Bearer {token}"} if by == "key" else logged_in(team, token)
    with http.stream("GET", f"{API}/live", headers=headers) as stream:
        lines = stream.iter_lines()
        assert any(line.startswith("event: totals") for line in lines)
        team.proxy.wrote(scope, request_id="req_while_it_holds")
        assert any("req_while_it_holds" in line for line in lines)
        if by in ("key", "cookie of a key"):
            assert http.delete(f"{API}/keys/{made['id']}", headers=ADMIN).status_code == 204
        else:
            assert (
                http.post(f"{API}/logout", headers={**headers, "content-type": "application/json"}).status_code == 204
            )
        team.proxy.wrote(scope, request_id="req_of_its_successor")
        with pytest.raises(httpx.RemoteProtocolError):
            assert not any("req_of_its_successor" in line for line in lines)


def test_the_list_tells_names_teams_and_what_each_has_spent_today(team: Team) -> None:
    found = listed(team)
    assert (found["ana"]["team"], found["ana"]["source"]) == ("design", "configured")
    assert found["ana"]["today"]["dollars"] >= 0.25
    assert found["ana"]["today"]["requests"] >= 2
    assert found["ana"]["month"]["dollars"] >= found["ana"]["today"]["dollars"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"name": ""}, 400),
        ({"name": "two words"}, 400),
        ({"name": "ana"}, 409),
        ({"name": "dora", "team": "x" * 65}, 400),
        ({"name": "dora", "limits": {"dollars_per_day": -1}}, 400),
        ({"name": "dora", "limits": {"dollars": 1}}, 400),
        ({"name": "dora", "limits": 5}, 400),
    ],
)
def test_what_is_no_key_is_refused(body: dict[str, Any], status: int, team: Team) -> None:
    assert team.proxy.http.post(f"{API}/keys", json=body, headers=ADMIN).status_code == status
    assert "dora" not in listed(team)


def test_a_key_of_the_configuration_is_not_revoked_here(team: Team) -> None:
    answer = team.proxy.http.delete(f"{API}/keys/{listed(team)['ana']['id']}", headers=ADMIN)
    assert answer.status_code == 409


def test_where_the_upstream_judges_keys_who_has_spent_is_listed_without_a_name(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope, cost=0.5)
    watched.inside.do(lambda: _flushed(watched))
    told = watched.get("keys")
    found = next(each for each in told["keys"] if each["tenant"] == scope.partition("/")[0])
    assert (found["name"], found["source"], told["checks"], told["creates"]) == ("", "client", False, False)
    assert found["today"]["dollars"] >= 0.5
    assert watched.http.post(f"{API}/keys", json={"name": "ana"}).status_code == 409
