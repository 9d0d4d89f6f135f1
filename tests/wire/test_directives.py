"""What a client's headers ask of us."""

import pytest

from proxy.types import Directives
from proxy.wire.directives import RETRIED, is_retry, read_directives


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
        ([("x-olvido-unknown", "1")], Directives()),
        ([("session-id", "b"), ("x-openwebui-chat-id", "a"), ("x-session-id", "c")], Directives(client_session="a")),
        ([("x-session-id", ""), ("helicone-session-id", "h")], Directives(client_session="h")),
        ([("x-openwebui-user-id", "eva")], Directives(user="eva")),
        ([("x-openwebui-user-id", "eva"), ("x-olvido-user", "ana")], Directives(user="ana")),
    ],
)
def test_directives_are_read_from_headers(headers: list[tuple[str, str]], directives: Directives) -> None:
    assert read_directives(tuple(headers)) == directives


@pytest.mark.parametrize(("value", "expected"), [(None, False), ("", False), ("0", False), ("1", True), ("2", True)])
def test_a_retry_is_told_by_the_sdk(value: str | None, expected: bool) -> None:
    assert is_retry(((RETRIED, value),) if value is not None else ()) is expected
