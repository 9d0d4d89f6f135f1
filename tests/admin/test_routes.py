"""Who may not: every route, whatever it is; logging in and out; metrics."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter, time

import httpx
import pytest

from proxy.admin.auth import COOKIE
from proxy.admin.routes import API, PATHS, ROUTES, LagMeter, Route, refresh
from proxy.config.profiles import BUILT_IN
from proxy.storage.shared.local import MOST_WRONG
from tests.admin.conftest import TOKEN, Watched, error, started
from tests.builders import body, user
from tests.proxied import Upstream, ask, in_front_of, run_upstream, serving, total


def concrete(path: str) -> str:
    return path.replace("{session:path}", "a/b").replace("{id}", "x")


GUARDED = [(route.method, concrete(route.path)) for route in ROUTES if route.is_guarded]


OPEN = ("me", "login", "logout")


def attempts(http: httpx.Client, headers: dict[str, str]) -> Iterator[tuple[str, httpx.Response]]:
    for method, path in GUARDED:
        body: dict[str, str] | None = None if method == "GET" else {}
        yield f"{method} {path}", http.request(method, path, json=body, headers=headers)


def test_there_is_no_route_that_is_neither_guarded_nor_known_to_be_open() -> None:
    assert [route.path for route in ROUTES if not route.is_guarded] == [f"{API}/{name}" for name in OPEN]
    assert all(route.path.startswith(f"{API}/") for route in ROUTES)
    assert sum(len(path.methods) for path in PATHS.values()) == len(ROUTES)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": "olvido_admin=x"},
        {"cookie": f"olvido_admin={TOKEN}"},
    ],
)
def test_where_a_token_is_wanted_no_route_answers_without_it(headers: dict[str, str], locked: Watched) -> None:
    told = {route: error(answer) for route, answer in attempts(locked.http, headers)}
    assert told == dict.fromkeys(told, (401, "invalid_api_key"))
    assert len(told) == len(GUARDED)


def test_nor_to_one_that_is_guessed_at_though_its_owner_gets_in_from_there(locked: Watched) -> None:
    # From an address of its own: it has to wait afterwards.
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.77")
    with httpx.Client(base_url=locked.http.base_url, transport=elsewhere, trust_env=False) as http:
        told = [error(answer) for _, answer in attempts(http, {"authorization": "Bearer sk-a-clients-key"})]
        assert told[:MOST_WRONG] == [(401, "invalid_api_key")] * MOST_WRONG
        assert set(told[MOST_WRONG:]) == {(429, "rate_limit_exceeded")}
        assert http.get(f"{API}/me", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert locked.http.get(f"{API}/scopes", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"host": "evil.com:8484"}, {"origin": "https://evil.com"}, {"sec-fetch-site": "cross-site"}]
)
def test_where_none_is_wanted_no_route_answers_a_page_of_another_site(
    headers: dict[str, str], watched: Watched
) -> None:
    told = {route: error(answer) for route, answer in attempts(watched.http, headers)}
    assert told == dict.fromkeys(told, (403, "foreign_host" if "host" in headers else "forbidden"))


@pytest.mark.parametrize(("method", "path"), sorted(set(GUARDED)))
def test_no_preflight_succeeds_and_no_other_site_is_let_read(method: str, path: str, watched: Watched) -> None:
    asked = {"origin": "https://evil.com", "access-control-request-method": method}
    answer = watched.http.request("OPTIONS", path, headers=asked)
    assert method in answer.headers["allow"].split(", ")
    assert not any(name.startswith("access-control-") for name in answer.headers)


@pytest.mark.parametrize("path", ["scopes", "summary", "requests", "sessions", "me"])
def test_what_is_told_is_kept_by_nobody_and_read_by_no_other_site(path: str, watched: Watched) -> None:
    answer = watched.http.get(f"{API}/{path}")
    assert answer.status_code == 200
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("application/json", "no-store")
    assert not any(name.startswith("access-control-") for name in answer.headers)


def test_the_page_is_there_and_leads_to_nothing_without_admission(locked: Watched) -> None:
    root = locked.http.get("/", follow_redirects=True)
    assert (root.status_code, root.url.path, root.headers["content-type"]) == (200, "/ui", "text/html; charset=utf-8")
    assert locked.http.get("/ui/", follow_redirects=True).url.path == "/ui"
    again = locked.http.get("/ui", headers={"if-none-match": root.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "default-src 'none'" in root.headers["content-security-policy"]
    for name in ("nothing.js", "..%2f..%2fpyproject.toml", "%2e%2e/%2e%2e/pyproject.toml"):
        assert error(locked.http.get(f"/ui/{name}")) == (404, "unknown_url")
    assert error(locked.http.post("/ui")) == (404, "unknown_url")


QUERIED = [route for route in ROUTES if route.method in ("GET", "DELETE")]


@pytest.mark.parametrize("route", QUERIED, ids=lambda route: f"{route.method} {route.path}")
def test_a_parameter_that_a_route_does_not_know_is_refused(route: Route, watched: Watched) -> None:
    # Passed over, a misspelt filter would show everybody's.
    known = route.asked.__struct_encode_fields__
    params = {"sesion": "x", **dict.fromkeys(known, "")}
    answer = watched.http.request(route.method, concrete(route.path), params=params)
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == "sesion"
    assert all(name in answer.json()["error"]["message"] for name in known)


@pytest.mark.parametrize("query", ["limit=3&limit=4", "scope=", "status="])
def test_nor_is_one_that_comes_twice_or_says_nothing(query: str, watched: Watched) -> None:
    answer = watched.http.get(f"{API}/facts?{query}")
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == query.partition("=")[0]


def test_nor_is_one_beside_a_body(watched: Watched) -> None:
    answer = watched.http.post(f"{API}/facts/restore", params={"scope": "x"}, json={"scope": "x"})
    assert (error(answer), answer.json()["error"]["param"]) == ((400, None), "scope")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method, path)
        for path, known in PATHS.items()
        for method in ("GET", "POST", "PUT", "DELETE", "TRACE")
        if method not in known.methods
    ],
)
def test_a_method_that_a_route_does_not_have_is_told_with_those_that_it_has(
    method: str, path: str, watched: Watched
) -> None:
    methods = PATHS[path].methods
    answer = watched.http.request(method, concrete(path))
    assert error(answer) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == {*methods, *(["HEAD"] if "GET" in methods else [])}


def test_who_is_not_admitted_is_not_told_what_a_route_knows(locked: Watched) -> None:
    assert error(locked.http.get(f"{API}/facts", params={"x": "1"})) == (401, "invalid_api_key")


OWN = {"sec-fetch-site": "same-origin", "content-type": "application/json"}


@pytest.fixture
def cookie(locked: Watched) -> str:
    answer = locked.http.post(f"{API}/login", json={"token": TOKEN})
    locked.http.cookies.clear()
    return f"{COOKIE}={answer.cookies[COOKIE]}"


def test_before_admission_only_the_version_is_told_and_that_a_token_is_wanted(locked: Watched) -> None:
    told = locked.get("me")
    assert told.keys() == {"version", "needs_token", "is_admitted"}
    assert (told["needs_token"], told["is_admitted"]) == (True, False)


@pytest.mark.parametrize("headers", [{"origin": "https://evil.com"}, {"sec-fetch-site": "cross-site"}])
def test_a_page_of_another_site_is_not_told_more_where_no_token_is_wanted(
    headers: dict[str, str], watched: Watched
) -> None:
    told = watched.http.get(f"{API}/me", headers=headers).json()
    assert told.keys() == {"version", "needs_token", "is_admitted"}
    assert told["is_admitted"] is False


def test_after_it_all_that_the_page_needs_to_know(watched: Watched) -> None:
    told = watched.get("me")
    assert (told["needs_token"], told["is_admitted"], told["show_content"]) == (False, True, True)
    assert (told["profile"], told["profile_with_tools"], told["upstreams"]) == ("lean", "agent", ["demo"])
    assert told["profiles"]["lean"]["window"]["tokens"] == 1_200
    assert set(told["profiles"]) == set(BUILT_IN)
    assert isinstance(told["now"], float)


def test_the_token_gets_a_cookie_that_gets_in(locked: Watched) -> None:
    answer = locked.http.post(f"{API}/login", json={"token": TOKEN})
    locked.http.cookies.clear()
    assert (answer.status_code, answer.content) == (204, b"")
    (set_,) = answer.headers.get_list("set-cookie")
    value, *attributes = set_.split("; ")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=43200", "SameSite=Strict"]
    told = locked.http.get(f"{API}/me", headers={"cookie": value}).json()
    assert (told["is_admitted"], told["show_content"]) == (True, False)
    assert locked.http.get(f"{API}/scopes", headers={"cookie": value}).status_code == 200


def test_the_cookie_never_goes_to_an_upstream(locked: Watched) -> None:
    # A browser sends it where it got it: no path is named, so it is that of the admin API.
    locked.http.post(f"{API}/login", json={"token": TOKEN})
    paths = {path: locked.http.build_request("GET", path).headers.get("cookie") for path in (f"{API}/me", "/v1/models")}
    kept = [each for each in locked.http.cookies.jar if each.name == COOKIE]
    locked.http.cookies.clear()
    assert [(each.path, each.path_specified) for each in kept] == [(API, False)]
    assert paths[f"{API}/me"] is not None
    assert paths["/v1/models"] is None


@pytest.mark.parametrize(("proto", "secure"), [("https", True), ("https, http", True), ("http", False), (None, False)])
def test_behind_https_the_cookie_stays_there(proto: str | None, locked: Watched, *, secure: bool) -> None:
    headers = {} if proto is None else {"x-forwarded-proto": proto}
    answer = locked.http.post(f"{API}/login", json={"token": TOKEN}, headers=headers)
    locked.http.cookies.clear()
    assert answer.headers["set-cookie"].endswith("; Secure") == secure


def test_by_cookie_nothing_is_changed_by_another_page(cookie: str, locked: Watched) -> None:
    def report(**headers: str) -> httpx.Response:
        return locked.http.post(f"{API}/reuse/x/wrong", headers={"cookie": cookie, **headers})

    assert error(report(**OWN)) == (404, "unknown_url")  # it got through: there is no such entry
    assert error(report()) == (403, "forbidden")
    assert error(report(**{**OWN, "sec-fetch-site": "same-site"})) == (403, "forbidden")
    assert error(report(**{**OWN, "content-type": "text/plain"})) == (403, "forbidden")


def test_logging_out_takes_the_cookie_away(locked: Watched) -> None:
    answer = locked.http.post(f"{API}/logout")
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith(f"{COOKIE}=; Max-Age=0;")


def test_a_copy_of_the_cookie_is_of_no_use_afterwards(locked: Watched) -> None:
    copies = [_entered(locked) for _ in range(2)]
    locked.http.post(f"{API}/logout", headers={"cookie": copies[0]})
    told = [locked.http.get(f"{API}/scopes", headers={"cookie": copy}).status_code for copy in copies]
    assert told == [401, 200]


def test_nor_after_a_restart(tmp_path: Path) -> None:
    def statuses(cookie: str | None) -> tuple[str, int]:
        with ExitStack() as stack:
            running = started(stack, admin={"token": TOKEN}, storage={"path": str(tmp_path)})
            if cookie is None:
                cookie = _entered(running)
                running.http.post(f"{API}/logout", headers={"cookie": cookie})
            return cookie, running.http.get(f"{API}/scopes", headers={"cookie": cookie}).status_code

    copy, status = statuses(None)
    assert (status, statuses(copy)) == (401, (copy, 401))


def _entered(locked: Watched) -> str:
    answer = locked.http.post(f"{API}/login", json={"token": TOKEN})
    locked.http.cookies.clear()
    return answer.headers["set-cookie"].split(";")[0]


@pytest.mark.parametrize("route", ["login", "logout"])
def test_no_page_of_another_site_logs_in_or_out(route: str, locked: Watched) -> None:
    for headers in ({"origin": "https://evil.com"}, {"sec-fetch-site": "cross-site"}):
        answer = locked.http.post(f"{API}/{route}", json={"token": TOKEN}, headers=headers)
        assert error(answer) == (403, "forbidden")
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"token": "wrong"}, 401, "token"),
        ({"token": ""}, 401, "token"),
        ({}, 400, "token"),
        ({"token": 7}, 400, "token"),
        ({"token": TOKEN, "user": "root"}, 400, "user"),
        ([TOKEN], 400, None),
    ],
)
def test_what_is_no_login_is_told_so(body: object, status: int, param: str | None, locked: Watched) -> None:
    answer = locked.http.post(f"{API}/login", json=body)
    assert error(answer)[0] == status
    assert answer.json()["error"]["param"] == param
    assert "set-cookie" not in answer.headers
    assert TOKEN not in answer.text


def test_where_no_token_is_wanted_there_is_nothing_to_log_in_with(watched: Watched) -> None:
    assert error(watched.http.post(f"{API}/login", json={"token": TOKEN}))[0] == 400


STATED = body(user("From now on, call me Captain Ana."), model="demo-chat")


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


async def test_facts_are_told_by_what_may_become_of_them(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream)) as services:
        await refresh(services)
        assert total(services, "olvido_facts") == total(services, "olvido_memory_scopes") == 0
        await ask(services, STATED)  # years ago
        (fact,) = services.library.held().facts
        lately = replace(fact, id="f-0123456789abcdef", last_confirmed_at=time())
        services.library.learn("another", await services.library.shelf("another"), [lately])
        await refresh(services)
        assert total(services, "olvido_facts", status="stale") == total(services, "olvido_facts", status="active") == 1
        assert total(services, "olvido_facts") == total(services, "olvido_memory_scopes") == 2


async def test_an_upstream_is_told_of_before_it_has_failed(upstream: Upstream) -> None:
    async with serving(in_front_of(upstream)) as services:
        await refresh(services)
        names = ("olvido_upstream_retries_total", "olvido_upstream_fallbacks_total", "olvido_upstream_breaker_open")
        told = {
            sample.name
            for family in services.metrics.registry.collect()
            for sample in family.samples
            if sample.labels == {"upstream": "demo"}
        }
        assert told >= set(names)
        assert all(total(services, name) == 0 for name in names)


async def test_an_upstream_that_is_left_alone_is_told_of_until_it_answers(upstream: Upstream) -> None:
    settings = in_front_of(upstream, upstream={"breaker": {"failures": 1, "open_seconds": 60}})
    async with serving(settings) as services:
        (asked,) = services.router.upstreams
        asked.breaker.failure()
        await refresh(services)
        assert total(services, "olvido_upstream_breaker_open", upstream="demo") == 1
        asked.breaker.success()
        await refresh(services)
        assert total(services, "olvido_upstream_breaker_open", upstream="demo") == 0


# --- how late the event loop is ---


INTERVAL = 0.005
HELD_UP = 0.05


class Beats:
    def __init__(self) -> None:
        self.late: list[float] = []
        self.next: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, late: float) -> None:
        self.late.append(late)
        heard, self.next = self.next, asyncio.get_running_loop().create_future()
        heard.set_result(None)


async def test_it_goes_on_until_it_is_stopped() -> None:
    beats = Beats()
    pulse = LagMeter(beats, INTERVAL)
    pulse.start()
    for _ in range(3):
        await beats.next
    pulse.stop()
    pulse.stop()
    count = len(beats.late)
    await asyncio.sleep(3 * INTERVAL)
    assert len(beats.late) == count >= 3
    assert min(beats.late) >= 0


async def test_whatever_holds_the_loop_up_makes_it_late_by_as_much() -> None:
    beats = Beats()
    pulse = LagMeter(beats, INTERVAL)
    pulse.start()
    until = perf_counter() + HELD_UP
    while perf_counter() < until:
        pass
    await beats.next
    pulse.stop()
    assert beats.late[0] >= HELD_UP - 2 * INTERVAL
