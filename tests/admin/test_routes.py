"""Who may not: every route, whatever it is; logging in and out; metrics."""

from collections.abc import Iterator

import httpx
import pytest

from proxy.admin.routes import API, PATHS, ROUTES, Route
from proxy.storage.shared.local import MOST_WRONG
from tests.admin.conftest import TOKEN, Watched, error


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
