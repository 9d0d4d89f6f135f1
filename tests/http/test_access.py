"""Who is let in by a key; whose page may ask, as tables: what a browser sends, and what that says."""

from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config import is_loopback, key_hash
from proxy.errors import ForeignHost, ForeignOrigin, Unauthorized
from proxy.http.access import EXPOSED, Authenticator, Kind, OriginPolicy, name_of
from proxy.types import Headers
from tests.builders import config

PORT = 8484
OWN_KEY = {"mode": "keys", "keys": [{"name": "ana", "key": "sha256:" + "a" * 64}]}
FRIEND = "https://chat.example.com"
LISTED: dict[str, Any] = {
    "allowed_origins": [FRIEND, "http://localhost:3000"],
    "allowed_hosts": ["proxy.internal", "tunnel:9000"],
}


def sites(host: str = "127.0.0.1", *, auth: Any = None, **server: Any) -> OriginPolicy:
    return OriginPolicy(config(server={"host": host, **server}, auth=auth or {}))


def outcome(asked: OriginPolicy, kind: Kind, *headers: tuple[str, str], port: int | None = PORT) -> str:
    try:
        asked.check(kind, headers, port)
    except (ForeignHost, ForeignOrigin) as error:
        return error.code
    return "passes"


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("127.0.0.1:8484", "passes"),
        ("localhost:8484", "passes"),
        ("LocalHost:8484", "passes"),
        ("[::1]:8484", "passes"),
        ("127.9.9.9:8484", "passes"),
        ("proxy.internal", "passes"),
        ("Proxy.Internal:1234", "passes"),
        ("tunnel:9000", "passes"),
        ("tunnel:9001", "foreign_host"),
        ("tunnel", "foreign_host"),
        ("localhost", "foreign_host"),  # port 80 is somebody else's
        ("localhost:3000", "foreign_host"),
        ("evil.example:8484", "foreign_host"),
        ("127.0.0.1.evil.example:8484", "foreign_host"),
        ("localhost.evil.example:8484", "foreign_host"),
        ("0.0.0.0:8484", "foreign_host"),
        ("", "foreign_host"),
        ("[::1", "foreign_host"),
        ("localhost:99999", "foreign_host"),
        ("user@localhost:8484", "foreign_host"),
        ("evil.example:8484@localhost:8484", "foreign_host"),
        ("localhost:8484/evil.example", "foreign_host"),  # no browser sends that
    ],
)
@pytest.mark.parametrize("kind", ["api", "numbers", "other"])
def test_on_loopback_it_answers_to_its_own_names(kind: Kind, host: str, told: str) -> None:
    assert outcome(sites(**LISTED), kind, ("host", host)) == told


def test_every_name_that_is_given_must_be_ours() -> None:
    assert outcome(sites(), "api", ("host", "localhost:8484"), ("host", "evil.example")) == "foreign_host"


def test_a_request_without_a_name_is_no_browsers() -> None:
    assert outcome(sites(), "api") == "passes"


def test_a_port_that_is_unknown_is_not_held_against_it() -> None:
    assert outcome(sites(), "api", ("host", "localhost:1"), port=None) == "passes"


@pytest.mark.parametrize("kind", ["api", "numbers", "other"])
def test_elsewhere_any_name_will_do(kind: Kind) -> None:
    assert outcome(sites("0.0.0.0"), kind, ("host", "proxy.example.com")) == "passes"


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({}, "passes"),
        ({"sec-fetch-site": "none"}, "passes"),
        ({"sec-fetch-site": "same-origin"}, "passes"),
        ({"sec-fetch-site": "same-origin", "origin": "http://localhost:8484"}, "passes"),
        ({"origin": "http://localhost:8484"}, "passes"),
        ({"origin": "https://localhost:8484"}, "passes"),  # somebody ends TLS before us
        ({"sec-fetch-site": "cross-site"}, "foreign_origin"),
        ({"sec-fetch-site": "same-site"}, "foreign_origin"),
        ({"sec-fetch-site": "whatever"}, "foreign_origin"),
        ({"sec-fetch-site": "cross-site", "origin": "http://localhost:8484"}, "foreign_origin"),
        ({"sec-fetch-site": "same-origin", "origin": "https://evil.example"}, "foreign_origin"),
        ({"origin": "https://evil.example"}, "foreign_origin"),
        ({"origin": "http://localhost:5173"}, "foreign_origin"),
        ({"origin": "http://127.0.0.1:8484"}, "foreign_origin"),
        ({"origin": "http://localhost"}, "foreign_origin"),
        ({"origin": "null"}, "foreign_origin"),
        ({"origin": ""}, "foreign_origin"),
        ({"origin": "file://"}, "foreign_origin"),
        ({"origin": FRIEND}, "passes"),
        ({"origin": "https://Chat.example.com:443"}, "passes"),
        ({"origin": "http://chat.example.com"}, "foreign_origin"),
        ({"origin": f"{FRIEND}.evil.example"}, "foreign_origin"),
        ({"origin": FRIEND, "sec-fetch-site": "cross-site"}, "passes"),
        ({"origin": "http://localhost:3000", "sec-fetch-site": "same-site"}, "passes"),
    ],
)
@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("kind", ["api", "numbers"])
def test_pages_of_other_sites_are_told_by_what_their_browser_says(
    kind: Kind, bind: str, headers: dict[str, str], told: str
) -> None:
    assert outcome(sites(bind, **LISTED), kind, ("host", "localhost:8484"), *headers.items()) == told


def test_what_is_open_to_links_from_anywhere_asks_for_the_name_alone() -> None:
    asked = sites()
    assert outcome(asked, "other", ("host", "localhost:8484"), ("sec-fetch-site", "cross-site")) == "passes"
    assert outcome(asked, "other", ("host", "evil.example:8484")) == "foreign_host"


def test_a_key_of_ours_is_proof_enough_where_one_is_asked_for() -> None:
    asked = sites(auth=OWN_KEY)
    foreign: Headers = (("host", "evil.example"), ("origin", "https://evil.example"))
    assert outcome(asked, "api", *foreign) == "passes"
    assert outcome(asked, "numbers", *foreign) == "foreign_host"


# --- what a page may read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auth", [None, OWN_KEY])
def test_a_browser_that_asks_first_is_told_what_its_page_may(auth: Any) -> None:
    asked = sites(auth=auth, **LISTED)
    wanted: Headers = (
        ("origin", FRIEND),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type,x-stainless-os"),
        ("access-control-request-private-network", "true"),
    )
    answer = asked.preflight(wanted)
    told = dict(answer.headers)
    assert (answer.status, answer.body) == (204, b"")
    assert "POST" in told["access-control-allow-methods"]
    assert told["access-control-allow-headers"] == "authorization,content-type,x-stainless-os"
    assert told["access-control-allow-private-network"] == "true"
    said = dict(asked.cors_headers(wanted))
    assert (said["access-control-allow-origin"], said["vary"]) == (FRIEND, "origin")
    assert set(EXPOSED) == set(said["access-control-expose-headers"].split(", "))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8484"},
        {"sec-fetch-site": "cross-site"},
    ],
)
@pytest.mark.parametrize("auth", [None, OWN_KEY])
def test_and_one_whose_page_may_nothing_is_told_nothing(auth: Any, headers: dict[str, str]) -> None:
    asked = sites(auth=auth, **LISTED)
    foreign: Headers = (("host", "localhost:8484"), *headers.items())
    with pytest.raises(ForeignOrigin):
        asked.preflight(foreign)
    assert asked.cors_headers(foreign) == (("vary", "origin"),)


@pytest.mark.parametrize("headers", [{}, {"origin": "http://localhost:8484"}, {"sec-fetch-site": "same-origin"}])
@pytest.mark.parametrize("auth", [None, OWN_KEY])
def test_who_is_no_page_of_another_site_is_told_the_methods(auth: Any, headers: dict[str, str]) -> None:
    answer = sites(auth=auth, **LISTED).preflight((("host", "localhost:8484"), *headers.items()))
    assert answer.status == 204
    assert dict(answer.headers) == {"allow": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}


def test_where_no_page_may_answers_do_not_speak_of_it() -> None:
    assert sites().cors_headers((("origin", FRIEND),)) == ()


def test_what_is_no_list_of_headers_is_not_said_back() -> None:
    asked = sites(**LISTED)
    answer = asked.preflight((("origin", FRIEND), ("access-control-request-headers", 'a"b<c>')))
    assert "access-control-allow-headers" not in dict(answer.headers)


@given(st.text(max_size=40))
def test_no_name_passes_that_is_not_this_machines(host: str) -> None:
    asked = sites()
    try:
        asked.check("api", (("host", host),), PORT)
    except ForeignHost:
        return
    assert is_loopback(name_of(host))


@given(st.text(max_size=40), st.sampled_from(["none", "same-origin", "cross-site", None]))
def test_whatever_a_header_holds_it_is_answered(origin: str, site: str | None) -> None:
    headers: Headers = (("host", "localhost:8484"), ("origin", origin))
    more: Headers = () if site is None else (("sec-fetch-site", site),)
    assert outcome(sites(), "api", *headers, *more) in ("passes", "foreign_origin")


# --- keys -----------------------------------------------------------------------------------------------------------

SECRET = b"s" * 32


def gate(*keys: tuple[str, str]) -> Authenticator:
    if not keys:
        return Authenticator(config(), SECRET)
    listed = [{"name": name, "key": key_hash(key)} for name, key in keys]
    return Authenticator(config(auth={"mode": "keys", "keys": listed}), SECRET)


def bearing(key: str) -> Headers:
    return (("authorization", f"Bearer {key}"),)


def test_a_tenant_is_a_hash_that_the_key_cannot_be_told_from() -> None:
    tenant = gate().tenant(bearing("sk-secret"))
    assert len(tenant) == 32
    assert tenant == tenant.lower() == f"{int(tenant, 16):032x}"
    assert tenant != blake2b(b"key:sk-secret", digest_size=16).hexdigest()
    assert tenant != Authenticator(config(), b"t" * 32).tenant(bearing("sk-secret"))
    assert tenant == gate().tenant(bearing("sk-secret"))


@pytest.mark.parametrize(
    "headers",
    [
        (("authorization", "Bearer sk-1"),),
        (("authorization", "bearer  sk-1 "),),
        (("api-key", "sk-1"),),
        (("x-api-key", "sk-1"),),
        (("authorization", "Bearer "), ("api-key", "sk-1")),
        (("authorization", "Basic dTpw"), ("x-api-key", "sk-1")),
        (("authorization", "sk-1"),),
    ],
)
def test_one_key_is_one_tenant_wherever_it_stands(headers: Headers) -> None:
    assert gate().tenant(headers) == gate().tenant(bearing("sk-1"))


@pytest.mark.parametrize(
    "name", ["api-key", "x-api-key", "x-goog-api-key", "ocp-apim-subscription-key", "helicone-auth"]
)
def test_who_has_the_same_dummy_and_another_key_is_another_tenant(name: str) -> None:
    for dummy in ((), bearing("dummy")):
        tenants = {gate().tenant((*dummy, *key)) for key in ((), ((name, "k-1"),), ((name, "k-2"),))}
        assert len(tenants) == 3
    assert gate().tenant((*bearing("a"), *bearing("b"))) != gate().tenant(bearing("a"))


@given(st.lists(st.text(st.characters(max_codepoint=255), max_size=6), unique_by=str.strip, min_size=2))
def test_no_two_keys_are_one_tenant(keys: list[str]) -> None:
    tenants = [gate().tenant((("x-api-key", key.strip()),)) for key in keys]
    assert len(set(tenants)) == len(tenants)


ANA, EVA = "ana-key-0123456789", "eva-key-0123456789"


def test_with_own_keys_only_those_get_in() -> None:
    guarded = gate(("ana", ANA), ("eva", EVA))
    assert guarded.tenant(bearing(ANA)) != guarded.tenant(bearing(EVA))
    assert guarded.tenant((("x-api-key", EVA),)) == guarded.tenant(bearing(EVA))


@pytest.mark.parametrize(
    "headers",
    [(), bearing("no"), bearing(""), bearing(ANA + "x"), bearing(ANA[:-1]), bearing(key_hash(ANA)), bearing("\xe9")],
)
def test_and_nobody_else_does(headers: Headers) -> None:
    with pytest.raises(Unauthorized) as caught:
        gate(("ana", ANA)).tenant(headers)
    assert ANA not in caught.value.message


def test_a_key_that_is_changed_keeps_its_tenant() -> None:
    assert gate(("ana", ANA)).tenant(bearing(ANA)) == gate(("ana", EVA)).tenant(bearing(EVA))


def test_a_name_is_not_taken_for_a_key() -> None:
    assert gate((ANA, ANA)).tenant(bearing(ANA)) != gate().tenant(bearing(ANA))
