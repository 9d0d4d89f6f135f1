"""Which headers pass up, which come back, and what is ours and stays here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.headers import (
    HOP_BY_HOP,
    KEYS,
    RETRIED,
    decode,
    get,
    is_retry,
    named_by_connection,
    read_directives,
    to_client,
    to_upstream,
)
from proxy.types import Directives, Headers

PASSED_ON = [
    ("openai-organization", "org"),
    ("openai-project", "proj"),
    ("x-client-request-id", "mine"),
    ("idempotency-key", "once"),
    ("user-agent", "OpenAI/Python"),
    ("content-type", "application/json"),
    ("x-stainless-lang", "python"),
    ("cookie", "a=b"),
]
PASSED_BACK = [
    ("x-request-id", "req_9"),
    ("openai-processing-ms", "12"),
    ("openai-version", "2020-10-01"),
    ("x-ratelimit-remaining-tokens", "7"),
    ("retry-after", "3"),
    ("retry-after-ms", "2500"),
    ("x-should-retry", "false"),
    ("content-type", "application/json"),
    ("set-cookie", "a=b"),
    ("set-cookie", "c=d"),
]
OURS = ["x-olvido-session", "x-olvido-user", "x-olvido-mode", "x-olvido-cache", "x-olvido-anything"]


@pytest.mark.parametrize("managed", [True, False])
@pytest.mark.parametrize("header", PASSED_ON)
def test_the_clients_headers_go_up(header: tuple[str, str], managed: bool) -> None:
    assert header in to_upstream((header,), authorization=None, managed=managed)


@pytest.mark.parametrize("length", [True, False])
def test_the_upstreams_headers_come_back_in_order(length: bool) -> None:
    assert to_client(PASSED_BACK, length=length) == tuple(PASSED_BACK)


@pytest.mark.parametrize("managed", [True, False])
@pytest.mark.parametrize("name", [*OURS, *sorted(HOP_BY_HOP), "host", "expect"])
def test_what_is_ours_or_of_one_connection_does_not_go_up(name: str, managed: bool) -> None:
    assert name not in dict(to_upstream(((name, "x"),), authorization=None, managed=managed))


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("name", [*OURS, *sorted(HOP_BY_HOP), "X-Olvido-Source", "Transfer-Encoding"])
def test_nor_does_it_come_back(name: str, length: bool) -> None:
    assert to_client([(name, "x"), ("etag", "e")], length=length) == (("etag", "e"),)


@pytest.mark.parametrize(
    "connection",
    [
        [("connection", "x-secret, x-trace")],
        [("connection", "keep-alive,X-Secret ,x-trace")],
        [("connection", "x-secret"), ("connection", "X-Trace")],
    ],
)
def test_what_connection_names_passes_in_neither_direction(connection: list[tuple[str, str]]) -> None:
    headers = (*connection, ("x-secret", "1"), ("x-trace", "2"), ("x-other", "3"))
    assert ("x-other", "3") in (up := to_upstream(headers, authorization=None, managed=False))
    assert {"x-secret", "x-trace"}.isdisjoint(dict(up))
    assert to_client(headers, length=False) == (("x-other", "3"),)


def test_connection_without_names_names_nothing_that_is_there() -> None:
    assert named_by_connection((("accept", "*/*"),)) == frozenset()
    headers = (("connection", ""), ("accept", "*/*"))
    assert to_upstream(headers, authorization=None, managed=False) == [("accept", "*/*")]


@pytest.mark.parametrize("managed", [True, False])
@pytest.mark.parametrize("name", sorted(KEYS))
def test_a_configured_key_replaces_the_clients_wherever_it_stands(name: str, managed: bool) -> None:
    sent = to_upstream(((name, "Bearer theirs"), ("x", "y")), authorization="Bearer ours", managed=managed)
    assert sent.count(("authorization", "Bearer ours")) == 1
    assert "theirs" not in str(sent)
    assert ("x", "y") in sent


def test_a_clients_cookie_is_nothing_to_an_upstream_with_its_own_key() -> None:
    cookie = ("cookie", "a=b")
    assert cookie in to_upstream((cookie,), authorization=None, managed=True)
    assert cookie not in to_upstream((cookie,), authorization="Bearer ours", managed=True)


@pytest.mark.parametrize("name", sorted(KEYS))
def test_without_one_the_clients_own_is_passed(name: str) -> None:
    assert (name, "theirs") in to_upstream(((name, "theirs"),), authorization=None, managed=True)


@pytest.mark.parametrize(
    ("managed", "given", "sent"),
    [
        (True, [("accept-encoding", "gzip, br")], [("accept-encoding", "identity")]),
        (True, [], [("accept-encoding", "identity")]),
        (True, [("content-length", "12")], [("accept-encoding", "identity")]),
        (False, [("accept-encoding", "gzip, br")], [("accept-encoding", "gzip, br")]),
        (False, [], []),
        (False, [("content-length", "12")], [("content-length", "12")]),
        (False, [("connection", "content-length"), ("content-length", "12")], [("content-length", "12")]),
    ],
)
def test_length_and_coding_are_the_clients_own_unless_the_body_may_change(
    managed: bool, given: list[tuple[str, str]], sent: list[tuple[str, str]]
) -> None:
    assert to_upstream(tuple(given), authorization=None, managed=managed) == sent


def test_an_answer_that_is_read_in_passing_is_asked_for_without_a_coding_and_the_rest_stays() -> None:
    given = (("accept-encoding", "gzip, br"), ("content-length", "12"))
    assert to_upstream(given, authorization=None, managed=False, plain=True) == [
        ("content-length", "12"),
        ("accept-encoding", "identity"),
    ]


@pytest.mark.parametrize(("length", "kept"), [(True, (("content-length", "12"),)), (False, ())])
def test_the_answers_length_is_kept_when_its_body_passes_as_it_is(length: bool, kept: Headers) -> None:
    assert to_client([("Content-Length", "12")], length=length) == kept


def test_which_pages_may_read_an_answer_is_not_for_the_upstream_to_say() -> None:
    given = [("Access-Control-Allow-Origin", "*"), ("access-control-allow-credentials", "true"), ("x-a", "1")]
    assert to_client(given, length=True) == (("x-a", "1"),)


def test_headers_are_decoded_as_the_bytes_they_are() -> None:
    headers = decode([(b"x-name", b"Jos\xe9"), (b"x-name", b"second")])
    assert headers == (("x-name", "Jos\xe9"), ("x-name", "second"))
    assert get(headers, "x-name") == "Jos\xe9"
    assert get(headers, "x-other") is None


_names = st.sampled_from(
    ["accept", "x-olvido-cache", "x-olvidos", "connection", "te", "x-a", "host", "content-length", "authorization"]
) | st.text("abcx-", min_size=1, max_size=6)
_values = st.sampled_from(["x-a", "close, X-A", "authorization", "1", ""])
header_lists = st.lists(st.tuples(_names, _values), max_size=8).map(tuple)


@given(header_lists, st.sampled_from([None, "Bearer ours"]), st.booleans())
def test_nothing_is_made_up_on_the_way_up(headers: Headers, authorization: str | None, managed: bool) -> None:
    sent = to_upstream(headers, authorization=authorization, managed=managed)
    added = [("accept-encoding", "identity")] * managed + [("authorization", authorization)] * bool(authorization)
    kept = sent[: len(sent) - len(added)]
    assert sent[len(kept) :] == added
    assert [each for each in headers if each in kept] == kept
    assert not any(name.startswith("x-olvido-") or name in HOP_BY_HOP for name, _ in sent)


@given(header_lists, st.booleans())
def test_nothing_is_made_up_on_the_way_back(headers: Headers, length: bool) -> None:
    got = to_client([(name.title(), value) for name, value in headers], length=length)
    assert tuple(each for each in headers if each in got) == got
    assert not any(name.startswith("x-olvido-") or name in HOP_BY_HOP for name, _ in got)


# --- what the client asks of us ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "directives"),
    [
        ([], Directives()),
        ([("accept", "*/*")], Directives()),
        ([("x-olvido-mode", "meter")], Directives(mode="meter")),
        ([("x-olvido-mode", "METER")], Directives(mode="meter")),
        ([("x-olvido-mode", "off")], Directives(mode="off", lookup=False, store=False, remember=False)),
        ([("x-olvido-mode", "on")], Directives()),
        ([("x-olvido-mode", "sideways")], Directives()),
        ([("x-olvido-cache", "on")], Directives(opted_in=True)),
        ([("x-olvido-cache", "off")], Directives(lookup=False, store=False)),
        ([("x-olvido-cache", "refresh")], Directives(lookup=False, opted_in=True)),
        ([("x-olvido-cache", "maybe")], Directives()),
        ([("cache-control", "no-store")], Directives(lookup=False, store=False, remember=False)),
        ([("cache-control", "no-cache")], Directives(lookup=False)),
        ([("cache-control", "No-Cache, max-age=0")], Directives(lookup=False)),
        ([("cache-control", "max-age=60")], Directives()),
        (
            [("cache-control", "no-store"), ("cache-control", "max-age=0")],
            Directives(lookup=False, store=False, remember=False),
        ),
        (
            [("x-olvido-cache", "on"), ("cache-control", "no-store")],
            Directives(lookup=False, store=False, remember=False, opted_in=True),
        ),
        ([("x-olvido-session", "s"), ("x-olvido-user", "ana")], Directives(session="s", user="ana")),
        ([("x-olvido-session", ""), ("x-olvido-user", "")], Directives()),
        ([("x-olvido-session-end", "1")], Directives(ends=True)),
        ([("x-olvido-session-end", "true")], Directives(ends=True)),
        ([("x-olvido-session-end", "0")], Directives()),
        ([("x-olvido-unknown", "1")], Directives()),
        ([("session-id", "b"), ("x-openwebui-chat-id", "a"), ("x-session-id", "c")], Directives(client_session="a")),
        ([("x-session-id", ""), ("helicone-session-id", "h")], Directives(client_session="h")),
        ([("x-claude-code-session-id", "s")], Directives(client_session="s")),
        (
            [("x-claude-code-session-id", "s"), ("x-claude-code-agent-id", "a")],
            Directives(client_session="s/a"),
        ),
        ([("x-claude-code-agent-id", "a")], Directives()),
        ([("x-openwebui-user-id", "eva")], Directives(user="eva")),
        ([("x-openwebui-user-id", "eva"), ("x-olvido-user", "ana")], Directives(user="ana")),
    ],
)
def test_directives_are_read_from_headers(headers: list[tuple[str, str]], directives: Directives) -> None:
    assert read_directives(tuple(headers)) == directives


@pytest.mark.parametrize(("value", "expected"), [(None, False), ("", False), ("0", False), ("1", True), ("2", True)])
def test_a_retry_is_told_by_the_sdk(value: str | None, expected: bool) -> None:
    assert is_retry(((RETRIED, value),) if value is not None else ()) is expected
