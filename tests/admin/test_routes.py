"""Who may not: every route, whatever it is."""

from collections.abc import Iterator

import httpx
import pytest

from proxy.admin.routes import API, GUARDED, OPEN, PARAMETERS, ROUTES
from proxy.storage.shared.local import MOST_WRONG
from tests.admin.conftest import TOKEN, Watched, error

PATHS = [(method, path.replace("{session:path}", "a/b").replace("{id}", "x")) for method, path, _ in GUARDED]


def attempts(http: httpx.Client, headers: dict[str, str]) -> Iterator[tuple[str, httpx.Response]]:
    for method, path in PATHS:
        body: dict[str, str] | None = None if method == "GET" else {}
        yield f"{method} {path}", http.request(method, path, json=body, headers=headers)


def test_there_is_no_route_that_is_neither_guarded_nor_known_to_be_open() -> None:
    assert [path for _, path, _ in OPEN] == [f"{API}/me", f"{API}/login", f"{API}/logout"]
    assert len(ROUTES) == len(OPEN) + len(GUARDED)
    assert all(path.startswith(f"{API}/") for _, path, _ in ROUTES)


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


@pytest.mark.parametrize(("method", "path"), sorted(set(PATHS)))
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


KNOWN_PATHS = [(method, path) for method, path, _ in (*GUARDED, *OPEN) if method != "POST"]


@pytest.mark.parametrize(("method", "path"), KNOWN_PATHS)
def test_a_parameter_that_a_route_does_not_know_is_refused(method: str, path: str, watched: Watched) -> None:
    # Passed over, a misspelt filter would show everybody's.
    asked = path.replace("{session:path}", "a/b").replace("{id}", "x")
    known = sorted(PARAMETERS.get(f"{method} {path}", ()))
    answer = watched.http.request(method, asked, params={"sesion": "x", **dict.fromkeys(known, "")})
    assert error(answer) == (400, None)
    assert answer.json()["error"]["param"] == "sesion"
    assert all(name in answer.json()["error"]["message"] for name in known)


def test_every_route_whose_parameters_are_known_is_one() -> None:
    assert set(PARAMETERS) <= {f"{method} {path}" for method, path, _ in GUARDED}


def test_who_is_not_admitted_is_not_told_what_a_route_knows(locked: Watched) -> None:
    assert error(locked.http.get(f"{API}/facts", params={"x": "1"})) == (401, "invalid_api_key")
