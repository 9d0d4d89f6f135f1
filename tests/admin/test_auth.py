"""Who may administer: a table of what programs, browsers and pages of other sites send."""

from collections.abc import Callable
from time import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.admin.auth import COOKIE, COOKIE_SECONDS, AdminAuthenticator
from proxy.config import Config
from proxy.errors import BadRequest, Forbidden, OlvidoError, TooMany, Unauthorized
from proxy.storage.folder import FileLogouts
from proxy.storage.shared.local import MOST_WRONG, WRONG_SECONDS, LocalThrottle
from proxy.types import Headers
from tests.builders import NOW, config

TOKEN = "an-admin-token-0123456789"
FRIEND = "https://chat.example.com"
LOCAL: Headers = (("host", "127.0.0.1:8484"),)
RIGHT: Headers = (("authorization", f"Bearer {TOKEN}"),)


def opened(settings: Config, clock: Callable[[], float] = time) -> AdminAuthenticator:
    return AdminAuthenticator(settings, LocalThrottle(), FileLogouts(None, clock), clock)


def auth(host: str = "127.0.0.1", token: str | None = None, **server: Any) -> AdminAuthenticator:
    """One whose configuration need not be allowed: what a rule refuses today has to be refused here as well."""
    settings: dict[str, Any] = {"server": {"host": host, **server}, "tenancy": "personal", "admin": {"token": TOKEN}}
    allowed = config(**settings)
    return opened(allowed if token is not None else allowed.model_copy(update={"admin": config().admin}))


async def refusal(auth: AdminAuthenticator, headers: Headers) -> type[OlvidoError] | None:
    try:
        await auth.admit(headers)
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
async def test_with_a_token_only_who_has_it_gets_in(authorization: str | None, host: str, *, admitted: bool) -> None:
    given_: Headers = () if authorization is None else (("authorization", authorization),)
    assert await refusal(auth(host, TOKEN), (*LOCAL, *given_)) is (None if admitted else Unauthorized)


@pytest.mark.parametrize("name", ["x-api-key", "api-key", "cookie", "x-olvido-token"])
async def test_a_token_elsewhere_is_none(name: str) -> None:
    assert await refusal(auth(token=TOKEN), ((name, f"Bearer {TOKEN}"),)) is Unauthorized


@pytest.mark.parametrize(
    "headers",
    [
        (("host", "olvido.example.org"),),
        (("host", "olvido.example.org"), ("origin", "http://olvido.example.org")),
        # Where somebody ends TLS before us, that one tells, or the browser.
        (("host", "olvido.example.org"), ("origin", "https://olvido.example.org"), ("x-forwarded-proto", "https")),
        (("host", "olvido.example.org"), ("origin", "https://olvido.example.org"), ("sec-fetch-site", "same-origin")),
        (("host", "127.0.0.1:8484"), ("origin", "https://olvido.example.org"), ("sec-fetch-site", "same-origin")),
        (("host", "127.0.0.1:8484"), ("origin", FRIEND), ("sec-fetch-site", "cross-site")),
    ],
)
async def test_who_has_it_may_come_from_anywhere(headers: Headers) -> None:
    assert await refusal(auth("0.0.0.0", TOKEN, allowed_origins=[FRIEND]), (*headers, *RIGHT)) is None


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "headers",
    [
        (("origin", "https://elsewhere.example"),),
        (("origin", "https://127.0.0.1:8484"),),
        (("origin", "http://127.0.0.1:8484"), ("x-forwarded-proto", "https")),
        (("origin", "null"),),
        (("sec-fetch-site", "cross-site"),),
        (("sec-fetch-site", "same-site"),),
        (("origin", "https://elsewhere.example"), ("sec-fetch-site", "cross-site")),
        (("origin", FRIEND), ("origin", "https://elsewhere.example")),
    ],
)
@pytest.mark.parametrize("by", ["token", "cookie"])
async def test_but_not_from_a_page_of_another_site(by: str, headers: Headers, method: str) -> None:
    asked = auth("0.0.0.0", TOKEN, allowed_origins=[FRIEND])
    proof = RIGHT if by == "token" else (("cookie", f"{COOKIE}={await asked.login(TOKEN, '10.0.0.1')}"),)
    await asked.admit((*LOCAL, *proof))
    with pytest.raises(Forbidden):
        await asked.admit((*LOCAL, *proof, *headers, ("content-type", "application/json")), method)


async def test_a_refusal_does_not_tell_what_would_have_been_right() -> None:
    with pytest.raises(Unauthorized) as refused:
        await auth(token=TOKEN).admit((("authorization", "Bearer wrong"),))
    assert TOKEN not in refused.value.message
    assert "wrong" not in refused.value.message


# --- without one ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "olvido.example.org", "10.0.0.1"])
@pytest.mark.parametrize("headers", [LOCAL, (*LOCAL, *RIGHT), (("host", "localhost"), ("sec-fetch-site", "none"))])
async def test_without_a_token_nobody_gets_in_where_others_can_reach_us(host: str, headers: Headers) -> None:
    assert await refusal(auth(host), headers) is Forbidden


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
async def test_without_a_token_we_answer_to_this_machines_own_name_only(host: str | None, *, admitted: bool) -> None:
    given_: Headers = () if host is None else (("host", host),)
    assert await refusal(auth(), given_) is (None if admitted else Forbidden)


@pytest.mark.parametrize(
    ("host", "origin", "admitted"),
    [
        ("127.0.0.1:8484", "http://127.0.0.1:8484", True),
        ("localhost:8484", "http://localhost:8484", True),
        ("[::1]:8484", "http://[::1]:8484", True),
        ("localhost", "http://localhost", True),
        ("127.0.0.1:8484", "https://evil.com", False),
        ("127.0.0.1:8484", "https://127.0.0.1:8484", False),
        ("127.0.0.1:8484", "ftp://127.0.0.1:8484", False),
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
async def test_without_a_token_no_page_of_another_site_gets_in(host: str, origin: str, *, admitted: bool) -> None:
    assert await refusal(auth(), (("host", host), ("origin", origin))) is (None if admitted else Forbidden)


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
async def test_a_browser_says_whose_request_it_is(site: str | None, *, admitted: bool) -> None:
    given_: Headers = () if site is None else (("sec-fetch-site", site),)
    assert await refusal(auth(), (*LOCAL, *given_)) is (None if admitted else Forbidden)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_a_private_address_is_any_that_only_this_machine_reaches(host: str) -> None:
    assert await refusal(auth(host), LOCAL) is None


async def test_a_token_that_nobody_asked_for_does_no_harm() -> None:
    assert await refusal(auth(), (*LOCAL, *RIGHT)) is None


# --- the cookie of a browser ------------------------------------------------------------------------------------------


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def guarded(clock: Clock, token: str = TOKEN) -> AdminAuthenticator:
    return opened(config(admin={"token": token}), clock)


def with_cookie(value: str, *more: tuple[str, str]) -> Headers:
    return (*LOCAL, ("cookie", f"theme=dark; {COOKIE}={value}; other=1"), *more)


OWN = (("sec-fetch-site", "same-origin"), ("content-type", "application/json"))


async def verdict(auth: AdminAuthenticator, headers: Headers, method: str = "GET") -> type[OlvidoError] | None:
    try:
        await auth.admit(headers, method)
    except OlvidoError as error:
        return type(error)
    return None


async def test_who_has_the_token_gets_a_cookie_that_says_so_for_twelve_hours() -> None:
    clock = Clock()
    auth = guarded(clock)
    headers = with_cookie(await auth.login(TOKEN, "10.0.0.1"))
    assert await verdict(auth, headers) is None
    clock.now = NOW + COOKIE_SECONDS - 1
    assert await verdict(auth, headers) is None
    clock.now = NOW + COOKIE_SECONDS
    assert await verdict(auth, headers) is Unauthorized


async def test_the_cookie_is_known_to_every_process_with_this_token_and_to_none_with_another() -> None:
    clock = Clock()
    cookie = await guarded(clock).login(TOKEN, "")
    assert await verdict(guarded(clock), with_cookie(cookie)) is None
    assert await verdict(guarded(clock, f"{TOKEN}-changed"), with_cookie(cookie)) is Unauthorized


async def test_no_two_cookies_are_the_same_and_none_holds_the_token() -> None:
    auth = guarded(Clock())
    cookies = {await auth.login(TOKEN, "") for _ in range(20)}
    assert len(cookies) == 20
    assert not any(TOKEN in cookie for cookie in cookies)


async def test_one_of_several_cookies_of_this_name_is_enough() -> None:
    # Another program of this machine may have set its own: cookies know no ports.
    auth = guarded(Clock())
    right = await auth.login(TOKEN, "")
    assert await verdict(auth, (("cookie", f"{COOKIE}=x"), ("cookie", f"{COOKIE}={right}"))) is None
    assert await verdict(auth, (("cookie", f"{COOKIE}=x;{COOKIE}={right}"),)) is None


@pytest.mark.parametrize(
    "forge",
    [
        lambda _: "",
        lambda _: "x",
        lambda _: TOKEN,
        lambda right: right + "0",
        lambda right: right[:-1],
        lambda right: right.upper(),
        lambda right: f"{'0' * 32}.{right.split('.', 1)[1]}",  # another id
        lambda right: ".".join((right.split(".")[0], str(int(NOW) + 10 * COOKIE_SECONDS), right.split(".")[2])),
        lambda right: ".".join((*right.split(".")[:2], "0" * 64)),
        lambda right: right.replace(".", ".+", 1),
        lambda right: right.replace(".", ". ", 1),
        lambda right: right.replace(".", ".\u0663", 1),  # a digit elsewhere
    ],
)
async def test_a_cookie_that_was_changed_is_none(forge: Any) -> None:
    auth = guarded(Clock())
    assert await verdict(auth, with_cookie(forge(await auth.login(TOKEN, "")))) is Unauthorized


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT"])
@pytest.mark.parametrize(
    ("headers", "admitted"),
    [
        (OWN, True),
        ((("origin", "http://127.0.0.1:8484"), ("content-type", "application/json; charset=utf-8")), True),
        # Behind a proxy that gives us another name than the browser knows; a page cannot say this of itself.
        ((("origin", "https://olvido.example.org"), *OWN), True),
        ((), False),
        ((("content-type", "application/json"),), False),
        ((("sec-fetch-site", "same-origin"),), False),
        ((("sec-fetch-site", "same-origin"), ("content-type", "text/plain")), False),
        ((("sec-fetch-site", "same-origin"), ("content-type", "text/plain; application/json")), False),
        ((("sec-fetch-site", "same-site"), ("content-type", "application/json")), False),
        ((("sec-fetch-site", "none"), ("content-type", "application/json")), False),
        ((("sec-fetch-site", "cross-site"), ("content-type", "application/json")), False),
        ((("origin", "https://evil.com"), ("content-type", "application/json")), False),
        ((("origin", "http://127.0.0.1:3000"), ("content-type", "application/json")), False),
        ((("origin", "null"), ("content-type", "application/json")), False),
    ],
)
async def test_by_cookie_only_our_own_page_changes_anything(headers: Headers, method: str, *, admitted: bool) -> None:
    auth = guarded(Clock())
    assert await verdict(auth, with_cookie(await auth.login(TOKEN, ""), *headers), method) is (
        None if admitted else Forbidden
    )


async def test_the_token_itself_needs_no_such_proof() -> None:
    assert await verdict(guarded(Clock()), (*LOCAL, *RIGHT), "DELETE") is None


@pytest.mark.parametrize("given", ["", "wrong-wrong-wrong-wrong", TOKEN.upper(), f"{TOKEN} ", "ñandú", "\ud800"])
async def test_a_wrong_token_gets_no_cookie(given: str) -> None:
    with pytest.raises(Unauthorized) as refused:
        await guarded(Clock()).login(given, "10.0.0.1")
    assert TOKEN not in refused.value.message


async def test_without_a_token_there_is_nothing_to_log_in_with() -> None:
    with pytest.raises(BadRequest, match=r"admin\.token"):
        await auth().login("anything", "10.0.0.1")


async def test_who_guesses_has_to_wait_and_who_has_the_right_one_never() -> None:
    clock = Clock()
    auth = guarded(clock)
    for _ in range(MOST_WRONG):
        with pytest.raises(Unauthorized):
            await auth.login("wrong", "10.0.0.1")
    with pytest.raises(TooMany) as refused:
        await auth.login("wrong", "10.0.0.1")
    assert dict(refused.value.headers) == {"retry-after": str(round(WRONG_SECONDS) + 1)}
    assert await auth.login(TOKEN, "10.0.0.1")
    with pytest.raises(Unauthorized):
        await auth.login("wrong", "10.0.0.2")
    clock.now += WRONG_SECONDS
    with pytest.raises(Unauthorized):
        await auth.login("wrong", "10.0.0.1")


def bearer(token: str) -> Headers:
    return (*LOCAL, ("authorization", f"Bearer {token}"))


async def test_who_guesses_by_header_is_limited_as_who_guesses_by_the_form() -> None:
    clock = Clock()
    auth = guarded(clock)
    for _ in range(MOST_WRONG):
        with pytest.raises(Unauthorized):
            await auth.admit(bearer("wrong"), "GET", "10.0.0.1")
    with pytest.raises(TooMany) as refused:
        await auth.admit(bearer("wrong"), "GET", "10.0.0.1")
    assert dict(refused.value.headers) == {"retry-after": str(round(WRONG_SECONDS) + 1)}
    with pytest.raises(TooMany):
        await auth.login("wrong", "10.0.0.1")
    await auth.admit(bearer(TOKEN), "GET", "10.0.0.1")  # the owner, who shares the address
    await auth.admit(with_cookie(await auth.login(TOKEN, "10.0.0.1")), "GET", "10.0.0.1")
    clock.now += WRONG_SECONDS
    with pytest.raises(Unauthorized):
        await auth.admit(bearer("wrong"), "GET", "10.0.0.1")


@pytest.mark.parametrize("headers", [LOCAL, (*LOCAL, ("authorization", "Basic eA==")), (*LOCAL, ("cookie", "a=b"))])
async def test_who_gives_no_token_guesses_none(headers: Headers) -> None:
    auth = guarded(Clock())
    for _ in range(2 * MOST_WRONG):
        with pytest.raises(Unauthorized):
            await auth.admit(headers, "GET", "10.0.0.1")
    await auth.admit(bearer(TOKEN), "GET", "10.0.0.1")


async def test_who_leaves_ends_the_cookie_and_all_copies_of_it() -> None:
    auth = guarded(Clock())
    mine, others = await auth.login(TOKEN, ""), await auth.login(TOKEN, "")
    await auth.logout(with_cookie(mine))
    assert await verdict(auth, with_cookie(mine)) is Unauthorized
    assert await verdict(auth, with_cookie(others)) is None


async def test_nobody_ends_what_is_not_a_cookie_of_ours() -> None:
    auth = guarded(Clock())
    right = await auth.login(TOKEN, "")
    await auth.logout(with_cookie(right[:-1] + ("0" if right[-1] != "0" else "1")))
    assert await verdict(auth, with_cookie(right)) is None


# --- metrics ----------------------------------------------------------------------------------------------------------

METRICS_TOKEN = "a-metrics-token-0123456789"
OWN_METRICS = {"metrics_token": METRICS_TOKEN}


@pytest.mark.parametrize(
    ("host", "admin", "is_open", "token", "admitted"),
    [
        ("127.0.0.1", {}, False, None, True),
        ("127.0.0.1", {"token": TOKEN}, False, None, True),
        ("127.0.0.1", {"token": TOKEN}, False, "wrong", True),
        ("127.0.0.1", OWN_METRICS, False, None, False),  # who sets one wants it asked for
        ("127.0.0.1", OWN_METRICS, False, METRICS_TOKEN, True),
        ("0.0.0.0", {"token": TOKEN}, False, None, False),
        ("0.0.0.0", {"token": TOKEN}, False, "wrong", False),
        ("0.0.0.0", {"token": TOKEN}, False, TOKEN, True),
        ("0.0.0.0", {"token": TOKEN}, True, None, True),
        ("0.0.0.0", {"token": TOKEN, **OWN_METRICS}, False, None, False),
        ("0.0.0.0", {"token": TOKEN, **OWN_METRICS}, False, METRICS_TOKEN, True),
        ("0.0.0.0", {"token": TOKEN, **OWN_METRICS}, False, TOKEN, True),
        ("0.0.0.0", {}, False, None, False),
    ],
)
async def test_numbers_are_told_to_who_has_a_token_for_them_or_where_none_is_needed(
    host: str, admin: dict[str, str], token: str | None, *, is_open: bool, admitted: bool
) -> None:
    auth = opened(config(server={"host": host, "open_metrics": is_open}, admin=admin), Clock())
    headers: Headers = LOCAL if token is None else bearer(token)
    if admitted:
        await auth.admit_metrics(headers)
    else:
        with pytest.raises(Unauthorized):
            await auth.admit_metrics(headers)


async def test_the_token_of_the_numbers_opens_nothing_else() -> None:
    auth = opened(config(server={"host": "0.0.0.0"}, admin={"token": TOKEN, **OWN_METRICS}), Clock())
    assert await refusal(auth, bearer(METRICS_TOKEN)) is Unauthorized


async def test_who_guesses_for_the_numbers_is_limited_too() -> None:
    auth = opened(config(server={"host": "0.0.0.0"}, admin={"token": TOKEN}), Clock())
    for _ in range(MOST_WRONG):
        with pytest.raises(Unauthorized):
            await auth.admit_metrics(bearer("wrong"), "10.0.0.1")
    with pytest.raises(TooMany):
        await auth.admit_metrics(bearer("wrong"), "10.0.0.1")
    await auth.admit_metrics(bearer(TOKEN), "10.0.0.1")


# --- whatever comes ---------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["host", "origin", "sec-fetch-site", "authorization", "cookie"])
ODD = st.text(alphabet="127.0localhost[]:@/?#\\%é \x00", max_size=20)


@given(st.lists(st.tuples(NAMES, ODD | st.text(st.characters(max_codepoint=255)))))
async def test_nothing_odd_gets_in_or_fails(headers: list[tuple[str, str]]) -> None:
    assert await refusal(auth(token=TOKEN), tuple(headers)) in (Unauthorized, Forbidden)
    assert await refusal(auth(), (("host", "evil.com"), *headers)) is Forbidden
    assert await refusal(auth(), (*LOCAL, ("origin", "https://evil.com"), *headers)) is Forbidden
    assert await refusal(auth(), (*LOCAL, *headers)) in (None, Forbidden)
