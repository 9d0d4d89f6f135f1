"""Who may administer: a table of what programs, browsers and pages of other sites send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.admin.access import Door
from proxy.errors import Forbidden, OlvidoError, Unauthorized
from proxy.types import Headers
from tests.builders import config

TOKEN = "an-admin-token-0123456789"
LOCAL: Headers = (("host", "127.0.0.1:8484"),)
RIGHT: Headers = (("authorization", f"Bearer {TOKEN}"),)


def door(host: str = "127.0.0.1", token: str | None = None) -> Door:
    """One whose configuration need not be allowed: what a rule refuses today has to be refused here as well."""
    settings: dict[str, Any] = {"server": {"host": host}, "tenancy": "personal", "admin": {"token": TOKEN}}
    allowed = config(**settings)
    return Door(allowed if token is not None else allowed.model_copy(update={"admin": config().admin}))


def refusal(door: Door, headers: Headers) -> type[OlvidoError] | None:
    try:
        door.admit(headers)
    except OlvidoError as error:
        return type(error)
    return None


# --- with a token -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize(
    ("authorization", "admitted"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", True),
        (f"BEARER   {TOKEN} ", True),
        (None, False),
        ("", False),
        ("Bearer", False),
        ("Bearer ", False),
        (TOKEN, False),
        (f"Basic {TOKEN}", False),
        (f"Token {TOKEN}", False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        (f"Bearer {TOKEN.upper()}", False),
        (f"Bearer {TOKEN} {TOKEN}", False),
        (f"Bearer {TOKEN},", False),
        ("Bearer ñandú", False),
        ("Bearer \x00", False),
        ("Bearer None", False),
    ],
)
def test_with_a_token_only_who_has_it_gets_in(authorization: str | None, host: str, *, admitted: bool) -> None:
    given_: Headers = () if authorization is None else (("authorization", authorization),)
    assert refusal(door(host, TOKEN), (*LOCAL, *given_)) is (None if admitted else Unauthorized)


@pytest.mark.parametrize("name", ["x-api-key", "api-key", "cookie", "x-olvido-token"])
def test_a_token_elsewhere_is_none(name: str) -> None:
    assert refusal(door(token=TOKEN), ((name, f"Bearer {TOKEN}"),)) is Unauthorized


@pytest.mark.parametrize(
    "headers",
    [
        (("host", "olvido.example.org"),),
        (("host", "olvido.example.org"), ("origin", "https://olvido.example.org")),
        (("host", "127.0.0.1:8484"), ("origin", "https://elsewhere.example"), ("sec-fetch-site", "cross-site")),
    ],
)
def test_who_has_it_may_come_from_anywhere(headers: Headers) -> None:
    # No page of another site has it, and no browser adds it on its own.
    assert refusal(door("0.0.0.0", TOKEN), (*headers, *RIGHT)) is None


def test_a_refusal_does_not_tell_what_would_have_been_right() -> None:
    with pytest.raises(Unauthorized) as refused:
        door(token=TOKEN).admit((("authorization", "Bearer wrong"),))
    assert TOKEN not in refused.value.message
    assert "wrong" not in refused.value.message


# --- without one ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "olvido.example.org", "10.0.0.1"])
@pytest.mark.parametrize("headers", [LOCAL, (*LOCAL, *RIGHT), (("host", "localhost"), ("sec-fetch-site", "none"))])
def test_without_a_token_nobody_gets_in_where_others_can_reach_us(host: str, headers: Headers) -> None:
    assert refusal(door(host), headers) is Forbidden


@pytest.mark.parametrize(
    ("host", "admitted"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8484", True),
        ("127.8.9.10:8484", True),
        ("localhost", True),
        ("localhost:8484", True),
        ("LocalHost:8484", True),
        ("[::1]", True),
        ("[::1]:8484", True),
        ("[0:0:0:0:0:0:0:1]:8484", True),
        # A page that has its own name lead to this machine (DNS rebinding) is known by that name.
        ("evil.com", False),
        ("evil.com:8484", False),
        ("127.0.0.1.evil.com:8484", False),
        ("localhost.evil.com", False),
        ("evil-localhost", False),
        ("localhost@evil.com", False),
        ("127.0.0.1:8484@evil.com", False),
        ("evil.com#127.0.0.1", False),
        ("evil.com/127.0.0.1", False),
        ("evil.com?@127.0.0.1", False),
        ("127.0.0.1, evil.com", False),
        ("0.0.0.0:8484", False),  # reaches this machine from its own browsers, and is nobody's name
        ("[::]", False),
        ("192.168.1.5", False),
        ("[fe80::1]", False),
        ("::1", False),
        ("[::1", False),
        ("[evil", False),
        ("2130706433", False),
        ("127.1", False),
        ("0177.0.0.1", False),
        (":8484", False),
        ("", False),
        (None, False),
    ],
)
def test_without_a_token_we_answer_to_this_machines_own_name_only(host: str | None, *, admitted: bool) -> None:
    given_: Headers = () if host is None else (("host", host),)
    assert refusal(door(), given_) is (None if admitted else Forbidden)


@pytest.mark.parametrize(
    ("host", "origin", "admitted"),
    [
        ("127.0.0.1:8484", "http://127.0.0.1:8484", True),
        ("localhost:8484", "http://localhost:8484", True),
        ("[::1]:8484", "http://[::1]:8484", True),
        ("localhost", "http://localhost", True),
        ("127.0.0.1:8484", "https://evil.com", False),
        ("127.0.0.1:8484", "http://127.0.0.1.evil.com:8484", False),
        ("127.0.0.1:8484", "http://evil.com@127.0.0.1:8484", False),
        # What another program of this machine serves is another site, even where a browser does not say so.
        ("127.0.0.1:8484", "http://127.0.0.1:3000", False),
        ("127.0.0.1:8484", "http://127.0.0.1", False),
        ("127.0.0.1:8484", "http://localhost:8484", False),
        # A sandboxed frame, a file, a redirect, a page that tells nothing.
        ("127.0.0.1:8484", "null", False),
        ("127.0.0.1:8484", "", False),
        ("127.0.0.1:8484", "file://", False),
        ("127.0.0.1:8484", "chrome-extension://abcdef", False),
        ("127.0.0.1:8484", "http://[evil", False),
        ("127.0.0.1:8484", "127.0.0.1:8484", False),
        ("127.0.0.1:8484", "http://127.0.0.1:8484 http://evil.com", False),
    ],
)
def test_without_a_token_no_page_of_another_site_gets_in(host: str, origin: str, *, admitted: bool) -> None:
    assert refusal(door(), (("host", host), ("origin", origin))) is (None if admitted else Forbidden)


@pytest.mark.parametrize(
    ("site", "admitted"),
    [
        (None, True),  # no browser
        ("none", True),  # the user typed it
        ("same-origin", True),
        ("same-site", False),
        ("cross-site", False),
        ("", False),
        ("something-new", False),
    ],
)
def test_a_browser_says_whose_request_it_is(site: str | None, *, admitted: bool) -> None:
    given_: Headers = () if site is None else (("sec-fetch-site", site),)
    assert refusal(door(), (*LOCAL, *given_)) is (None if admitted else Forbidden)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_private_address_is_any_that_only_this_machine_reaches(host: str) -> None:
    assert refusal(door(host), LOCAL) is None


def test_a_token_that_nobody_asked_for_does_no_harm() -> None:
    assert refusal(door(), (*LOCAL, *RIGHT)) is None


# --- whatever comes ---------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["host", "origin", "sec-fetch-site", "authorization"])
ODD = st.text(alphabet="127.0localhost[]:@/?#\\%é \x00", max_size=20)


@given(st.lists(st.tuples(NAMES, ODD | st.text(st.characters(max_codepoint=255)))))
def test_nothing_odd_gets_in_or_fails(headers: list[tuple[str, str]]) -> None:
    assert refusal(door(token=TOKEN), tuple(headers)) is Unauthorized
    assert refusal(door(), (("host", "evil.com"), *headers)) is Forbidden
    assert refusal(door(), (*LOCAL, ("origin", "https://evil.com"), *headers)) is Forbidden
    assert refusal(door(), (*LOCAL, *headers)) in (None, Forbidden)
