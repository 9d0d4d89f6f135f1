"""OpenAI's error shape, an error for everything the HTTP client raises, and a drawing that is true."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from proxy import errors
from proxy.errors import (
    OlvidoError,
    UpstreamBroken,
    UpstreamError,
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

MAPPED: dict[type[httpx.TransportError], type[UpstreamError]] = {
    httpx.TimeoutException: UpstreamBroken,  # abstract; its kinds follow
    httpx.ConnectTimeout: UpstreamUnreachable,
    httpx.ReadTimeout: UpstreamTimeout,
    httpx.WriteTimeout: UpstreamTimeout,
    httpx.PoolTimeout: UpstreamTimeout,
    httpx.NetworkError: UpstreamBroken,
    httpx.ConnectError: UpstreamUnreachable,
    httpx.ReadError: UpstreamBroken,
    httpx.WriteError: UpstreamBroken,
    httpx.CloseError: UpstreamBroken,
    httpx.ProtocolError: UpstreamBroken,
    httpx.LocalProtocolError: UpstreamBroken,
    httpx.RemoteProtocolError: UpstreamBroken,
    httpx.ProxyError: UpstreamUnreachable,
    httpx.UnsupportedProtocol: UpstreamBroken,
}


def test_every_error_of_the_http_client_is_mapped() -> None:
    assert set(MAPPED) == {kind for kind in below(httpx.TransportError) if kind.__module__ == "httpx"}


@pytest.mark.parametrize(
    ("raised", "ours"), [*MAPPED.items(), (TimeoutError, UpstreamTimeout), (OSError, UpstreamBroken)]
)
def test_what_the_http_client_raises_is_told_as(raised: type[Exception], ours: type[UpstreamError]) -> None:
    error = from_transport(raised("GET https://up.example/v1?key=sk-secret"), "kimi")
    assert type(error) is ours
    assert "'kimi'" in error.message
    assert raised.__name__ in error.message
    assert "secret" not in error.message
