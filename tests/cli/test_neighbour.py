"""What has the port already, as the doctor tells it."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.cli.doctor import check_port
from proxy.cli.neighbour import Neighbour, look, told
from proxy.config import fingerprint
from proxy.storage.folder import tenant_secret
from tests.builders import config
from tests.e2e.running import run_proxy

ME = {"version": "9.9", "needs_token": True, "is_admitted": False}


def answering(body: Any, status: int = 200, asked: list[httpx.Request] | None = None) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return (
            httpx.Response(status, json=body) if not isinstance(body, bytes) else httpx.Response(status, content=body)
        )

    return httpx.MockTransport(answer)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (ME, Neighbour("9.9")),
        ({**ME, "is_admitted": True, "config": "c", "storage": "s"}, Neighbour("9.9", "c", "s")),
        ({"version": "9.9"}, None),
        ([], None),
        (b"<html>", None),
        ({"version": "x" * 1_000, "needs_token": False, "is_admitted": False}, Neighbour("x" * 40)),
    ],
)
def test_an_olvido_is_known_by_what_it_tells(body: Any, found: Neighbour | None) -> None:
    assert look(config(), answering(body)) == found


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://127.0.0.1:8484"), ("0.0.0.0", "http://127.0.0.1:8484"), ("::", "http://[::1]:8484")],
)
def test_it_is_asked_where_this_configuration_would_serve_with_its_token(host: str, url: str) -> None:
    asked: list[httpx.Request] = []
    settings = config(server={"host": host}, admin={"token": "t" * 40}, tenancy="personal")
    look(settings, answering(ME, asked=asked))
    assert str(asked[0].url) == f"{url}/admin/api/me"
    assert asked[0].headers["authorization"] == f"Bearer {'t' * 40}"


def test_what_does_not_answer_is_none_of_ours() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    assert look(config(), httpx.MockTransport(refuse)) is None


OWN = version("olvido")


@pytest.mark.parametrize(
    ("differing", "status", "text"),
    [
        ({}, "ok", f"olvido {OWN} serves there, with this configuration and this storage"),
        ({"version": "9.9"}, "warn", f"olvido 9.9 serves there, but this is version {OWN}"),
        ({"config": "other"}, "warn", "its configuration is another one: restart it to use this one"),
        ({"storage": "other"}, "warn", "its storage is another one"),
        ({"config": "", "storage": ""}, "warn", "does not accept this configuration's admin.token"),
    ],
)
def test_it_is_told_with_what_differs(differing: dict[str, str], status: str, text: str, tmp_path: Path) -> None:
    settings = config(storage={"path": tmp_path})
    same = {
        "version": OWN,
        "config": fingerprint.of_config(settings),
        "storage": fingerprint.of_storage(tenant_secret(tmp_path)),
    }
    found = told(Neighbour(**{**same, **differing}), settings)
    assert found[0] == status
    assert text in found[1]


def test_where_nothing_was_kept_yet_nothing_is_said_of_the_storage(tmp_path: Path) -> None:
    settings = config(storage={"path": tmp_path / "none"})
    found = told(Neighbour(OWN, fingerprint.of_config(settings), "s"), settings)
    assert found == ("ok", f"olvido {OWN} serves there, with this configuration")
    assert not (tmp_path / "none").exists()


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_a_proxy_that_serves_is_recognised(workers: int, tmp_path: Path) -> None:
    from proxy.config import load

    place = {"server": {"workers": workers}, "upstreams": [{"name": "up", "base_url": "http://127.0.0.1:1/v1"}]}
    with run_proxy(place, tmp_path) as proxy:
        port = int(proxy.url.rpartition(":")[2])
        same = load(tmp_path / "olvido.yaml", {}, port=port)
        row = check_port(same)
        assert (row.status, row.text) == (
            "ok",
            f"127.0.0.1:{port}: olvido {OWN} serves there, with this configuration and this storage",
        )
        other = same.model_copy(update={"tenancy": "shared"})
        assert (check_port(other).status, "another one" in check_port(other).text) == ("warn", True)
