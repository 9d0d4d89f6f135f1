"""OpenAI's error shape, an error for everything the HTTP client raises, and a drawing that is true."""

import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import msgspec
import pytest

from proxy import errors
from proxy.errors import (
    OlvidoError,
    UpstreamBroken,
    UpstreamTimeout,
    UpstreamUnreachable,
    from_transport,
)


def below(kind: type[Any]) -> Iterator[type[Any]]:
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


TREE: list[type[OlvidoError]] = [OlvidoError, *below(OlvidoError)]


@pytest.mark.parametrize("kind", TREE)
def test_every_error_is_told_in_openais_shape(kind: type[OlvidoError]) -> None:
    answer = kind("what happened", param="model", headers=(("retry-after", "3"),)).answer()
    assert isinstance(answer.body, bytes)
    assert msgspec.json.decode(answer.body) == {
        "error": {"message": "what happened", "type": kind.type, "param": "model", "code": kind.code}
    }
    assert answer.status == kind.status
    assert answer.headers == (("content-type", "application/json"), ("retry-after", "3"))


def test_an_error_without_a_parameter_says_null() -> None:
    assert msgspec.json.decode(OlvidoError("x").body())["error"]["param"] is None


# --- the drawing in the module's docstring ---------------------------------------------------------------------------

_LINE = re.compile(r"^(?P<indent>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?:(?P<status>\d{3})  (?P<says>\S+)|status, type, code)$")


def drawn() -> Iterator[tuple[str, str | None, int | None, str | None]]:
    """Name, parent, status, and `type` or `…/code` of each error that the docstring draws."""
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := _LINE.match(line.removeprefix("    ")):
            depth = len(match["indent"])
            path = [step for step in path if step[0] < depth]
            status = int(match["status"]) if match["status"] else None
            yield match["name"], path[-1][1] if path else None, status, match["says"]
            path.append((depth, match["name"]))


def test_the_error_tree_is_as_it_is_drawn() -> None:
    actual = [(kind.__name__, kind.__mro__[1].__name__) for kind in TREE]
    assert sorted((name, parent) for name, parent, _, _ in drawn() if parent) == sorted(actual[1:])
    assert next(drawn())[0] == "OlvidoError"


@pytest.mark.parametrize(("name", "parent", "status", "says"), [row for row in drawn() if row[1]])
def test_status_type_and_code_are_as_drawn(name: str, parent: str, status: int, says: str) -> None:
    kind = getattr(errors, name)
    assert kind.status == status
    if says.startswith("…/"):
        assert kind.code == says.removeprefix("…/")
        assert kind.type == getattr(errors, parent).type
    else:
        assert kind.type == says


def test_no_two_errors_have_the_same_code() -> None:
    codes = [kind.code for kind in TREE]
    assert len(set(codes)) == len(codes)


# --- foreign errors --------------------------------------------------------------------------------------------------

UNREACHABLE = {
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorDNSError,
    aiohttp.ClientProxyConnectionError,
    aiohttp.ClientSSLError,
    aiohttp.ClientConnectorSSLError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.client_exceptions.UnixClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
}
TOO_LATE = {aiohttp.ServerTimeoutError, aiohttp.SocketTimeoutError}
KINDS = {kind for kind in below(aiohttp.ClientError) if kind.__module__.startswith("aiohttp")}


def test_every_error_of_the_http_client_that_means_more_than_a_broken_connection_is_named_here() -> None:
    assert KINDS > UNREACHABLE | TOO_LATE
    assert {kind for kind in KINDS if issubclass(kind, TimeoutError)} == TOO_LATE | {aiohttp.ConnectionTimeoutError}
    assert {kind for kind in KINDS if issubclass(kind, aiohttp.ClientConnectorError)} < UNREACHABLE


@pytest.mark.parametrize(
    "raised", [*sorted(KINDS, key=str), TimeoutError, OSError, ConnectionResetError], ids=lambda kind: kind.__name__
)
def test_what_the_http_client_raises_is_told_as(raised: type[Exception]) -> None:
    # Made without its arguments: only its kind counts.
    error = from_transport(raised.__new__(raised, "GET https://up.example/v1?key=sk-secret"), "kimi")
    late = raised in TOO_LATE or raised is TimeoutError
    assert type(error) is (
        UpstreamUnreachable if raised in UNREACHABLE else UpstreamTimeout if late else UpstreamBroken
    )
    assert "'kimi'" in error.message
    assert raised.__name__ in error.message
    assert "secret" not in error.message
