"""Logging in and out, and what whoever comes is told before and after."""

from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from proxy.admin.auth import COOKIE
from proxy.admin.routes import API
from proxy.config.builtin_profiles import BUILT_IN
from tests.admin.conftest import TOKEN, Watched, error, started

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
