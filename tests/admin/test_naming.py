"""Names of scopes: of their key, or an alias."""

from contextlib import ExitStack

import httpx
import pytest

from proxy.admin.naming import LONGEST
from tests.admin.conftest import API, Watched, error, started


def named(watched: Watched, scope: str) -> tuple[str | None, str | None]:
    (told,) = [each for each in watched.get("scopes")["scopes"] if each["scope"] == scope]
    return told["key"], told["alias"]


def put(watched: Watched, **body: object) -> httpx.Response:
    return watched.http.post(f"{API}/scopes", json=body)


def test_a_scope_can_be_given_a_name_and_another_and_none(watched: Watched) -> None:
    scope = watched.scope()
    watched.wrote(scope)
    assert named(watched, scope) == (None, None)
    for alias in ("Ana's   laptop", "El portátil de Ana"):
        assert put(watched, scope=scope, alias=alias).status_code == 204
        assert named(watched, scope) == (None, " ".join(alias.split()))
    assert put(watched, scope=scope, alias=None).status_code == 204
    assert named(watched, scope) == (None, None)


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"alias": "x"}, 400, "scope"), ({"scope": "nobody/", "alias": "x"}, 404, None),
        ({"scope": "s/", "alias": "x" * (LONGEST + 1)}, 400, "alias"),
        ({"scope": "s/", "alias": "\x1b[31m"}, 400, "alias"),
        ({"scope": "s/", "alias": 5}, 400, "alias"), ({"scope": "s/", "name": "x"}, 400, "name"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(watched: Watched, body: dict[str, object], status: int, param: str | None) -> None:
    answer = put(watched, **body)
    assert error(answer)[0] == status
    assert answer.json()["error"]["param"] == param


@pytest.mark.long  # a proxy of its own
def test_the_scope_of_an_own_key_has_the_name_of_the_key() -> None:
    with ExitStack() as stack:
        keys = [{"name": "marketing", "key": "a-key-of-marketing"}]
        watched = started(stack, auth={"mode": "keys", "keys": keys}, admin={"token": "an-admin-token-0123456789"})
        watched.http.headers["authorization"] = "Bearer an-admin-token-0123456789"
        tenant = watched.services.authenticator.tenant((("authorization", "Bearer a-key-of-marketing"),))
        watched.wrote(f"{tenant}/ana")
        assert named(watched, f"{tenant}/ana") == ("marketing", None)
