import asyncio
import io
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.cli.doctor import (
    Row,
    check_clock,
    check_config,
    check_embedding,
    check_port,
    check_storage,
    check_upstream,
    run,
    table,
)
from proxy.config import Upstream
from proxy.config.storage import Storage
from proxy.storage.folder import SECRET, SECRET_BYTES, tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.database import Database
from proxy.tasks import Tasks
from tests.builders import config

KEY = "sk-0123456789abcdef"
NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


def answering(status: int, **headers: str) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(status, headers=headers))


def upstream(**fields: Any) -> Upstream:
    return Upstream.model_validate({"name": "kimi", "base_url": "https://k.example/v1", **fields})


@pytest.mark.parametrize(
    ("answer", "key", "status", "text"),
    [
        (200, KEY, "ok", "the key is accepted"),
        (200, None, "ok", "reachable without a key"),
        (401, None, "ok", "the client's own key is passed through"),
        (401, KEY, "fail", "refuses the configured key"),
        (403, KEY, "fail", "refuses the configured key"),
        (404, KEY, "warn", "is the base_url right?"),
        (301, KEY, "warn", "redirects"),
        (500, KEY, "warn", "not well"),
        (429, None, "warn", "not well"),
    ],
)
def test_an_upstream_is_judged_by_its_answer(answer: int, key: str | None, status: str, text: str) -> None:
    (row,) = check_upstream(upstream(api_key=key), answering(answer), clock=lambda: NOW)
    assert (row.name, row.status) == ("upstream kimi", status)
    assert row.text.startswith(f"https://k.example/v1: {answer} in ")
    assert text in row.text


@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), (None, None)])
def test_an_upstream_is_asked_for_its_models_with_the_configured_key(key: str | None, sent: str | None) -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200)

    check_upstream(upstream(api_key=key), httpx.MockTransport(handle), clock=lambda: NOW)
    assert [(str(request.url), request.headers.get("authorization")) for request in seen] == [
        ("https://k.example/v1/models", sent)
    ]


def test_an_unreachable_upstream_fails() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    (row,) = check_upstream(upstream(), httpx.MockTransport(handle), clock=lambda: NOW)
    assert (row.status, row.text) == ("fail", "https://k.example/v1 cannot be reached: ConnectError: no route")


@pytest.mark.parametrize(
    ("date", "told"),
    [
        ("Fri, 15 Jan 2027 08:00:30 GMT", None),
        ("Fri, 15 Jan 2027 07:50:00 GMT", "this machine is 600 s ahead of kimi's"),
        ("Fri, 15 Jan 2027 08:10:00 GMT", "this machine is 600 s behind kimi's"),
        ("yesterday", None),
    ],
)
def test_a_clock_that_disagrees_with_the_upstream_is_a_warning(date: str, told: str | None) -> None:
    _, *rows = check_upstream(upstream(), answering(200, date=date), clock=lambda: NOW)
    assert [(row.status, row.text) for row in rows] == ([("warn", told)] if told else [])


@pytest.mark.parametrize(
    ("sections", "text"),
    [
        ({}, "all-MiniLM-L6-v2 at hand"),
        ({"reuse": {"intent": {"enabled": False}}}, "not needed"),
        ({"embedding": {"base_url": "https://e.example/v1", "model": "m"}}, "asked of https://e.example/v1"),
        ({"embedding": {"model": "someone/some-model"}}, "downloaded at the first start"),
    ],
)
def test_what_finds_questions_in_other_words_is_looked_at(sections: dict[str, Any], text: str) -> None:
    row = check_embedding(config(**sections))
    assert row.status == "ok"
    assert text in row.text


def test_a_packaged_model_that_was_altered_fails(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"other weights")
    row = check_embedding(config(), tmp_path / "model.onnx")
    assert (row.name, row.status) == ("embedding", "fail")
    assert "sha256" in row.text


def test_a_multilingual_model_that_was_altered_fails(tmp_path: Path) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(b"other weights")
    row = check_embedding(config(embedding={"model": "multilingual"}), tmp_path / "e5-small-q4.bin")
    assert (row.name, row.status) == ("embedding", "fail")
    assert "is not that of multilingual-e5-small" in row.text


def test_an_exported_model_needs_no_package(tmp_path: Path, embedding_folder: Path) -> None:
    row = check_embedding(config(), packaged=tmp_path / "model.onnx", exports=(tmp_path / "none", embedding_folder))
    assert row.status == "ok"
    assert f"exported in {embedding_folder}" in row.text


@pytest.mark.parametrize(("now", "status"), [(0.0, "fail"), (NOW, "ok")])
def test_a_clock_that_was_never_set_fails(now: float, status: str) -> None:
    assert check_clock(now).status == status


def storage(path: Path) -> list[tuple[str, str]]:
    return [(row.name, row.status) for row in check_storage(Storage(path=path))]


async def test_a_new_database_gives_back_what_is_free_while_it_is_open_and_afterwards(tmp_path: Path) -> None:
    tenant_secret(tmp_path / "olvido")
    database = Database(tmp_path / "olvido" / DATABASE, Tasks())
    assert storage(tmp_path / "olvido")[2:] == [("database", "ok")]
    await database.close()
    assert storage(tmp_path / "olvido")[2:] == [("database", "ok")]


async def test_an_old_one_that_cannot_is_told_how_to(tmp_path: Path) -> None:
    tenant_secret(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.execute("CREATE TABLE something (x)")
    await Database(tmp_path / DATABASE, Tasks()).close()
    *_, row = check_storage(Storage(path=tmp_path))
    assert (row.name, row.status) == ("database", "warn")
    command = row.text.partition(": ")[2].removeprefix("python3 -c ").strip('"')
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", command], check=True)
    assert storage(tmp_path)[2:] == [("database", "ok")]
    await Database(tmp_path / DATABASE, Tasks()).close()


def test_a_folder_that_is_not_there_yet_is_left_uncreated(tmp_path: Path) -> None:
    assert storage(tmp_path / "a" / "b") == [("storage", "ok")]
    assert list(tmp_path.iterdir()) == []


def test_a_private_folder_with_its_secret_is_ok(tmp_path: Path) -> None:
    folder = tmp_path / "olvido"
    tenant_secret(folder)
    assert storage(folder) == [("storage", "ok"), ("secret", "ok")]
    assert [path.name for path in folder.iterdir()] == [SECRET]


@pytest.mark.parametrize(
    ("folder_mode", "secret_mode", "size", "expected"),
    [
        (0o700, 0o600, SECRET_BYTES, ["ok", "ok"]),
        (0o755, 0o600, SECRET_BYTES, ["warn", "ok"]),
        (0o700, 0o640, SECRET_BYTES, ["ok", "fail"]),
        (0o700, 0o600, 3, ["ok", "fail"]),
    ],
)
def test_modes_and_the_secret_are_looked_at(
    tmp_path: Path, folder_mode: int, secret_mode: int, size: int, expected: list[str]
) -> None:
    (tmp_path / SECRET).write_bytes(b"x" * size)
    (tmp_path / SECRET).chmod(secret_mode)
    tmp_path.chmod(folder_mode)
    assert [status for _, status in storage(tmp_path)] == expected


def test_a_file_where_the_folder_should_be_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert storage(tmp_path / "file" / "below") == [("storage", "fail")]


@pytest.mark.parametrize("kind", ["memory", "off"])
def test_storage_without_a_folder_is_ok(kind: str) -> None:
    (row,) = check_storage(Storage.model_validate({"kind": kind, "path": "/nowhere"}))
    assert row.status == "ok"


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        other.listen()
        row = check_port(config(server={"port": port}), httpx.MockTransport(lambda _: httpx.Response(404)))
        assert (row.status, "not by olvido" in row.text) == ("fail", True)
    assert check_port(config(server={"port": port})).status == "ok"


@pytest.mark.parametrize("host", ["203.0.113.7", "x" * 300])
def test_an_address_that_is_not_this_machines_fails(host: str) -> None:
    assert check_port(config(server={"host": host}, tenancy="personal", admin={"token": "t" * 40})).status == "fail"


def test_a_terminal_sees_the_status_in_colour_and_nobody_else() -> None:
    rows = [Row("one", "ok", "fine"), Row("two", "fail", "not")]
    plain, coloured = table(rows), table(rows, coloured=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert coloured.count("\x1b") == 4


def test_a_configuration_that_cannot_be_used_fails_with_its_reasons(tmp_path: Path) -> None:
    (tmp_path / "olvido.yaml").write_text("servre: {}")
    row, config = check_config(tmp_path / "olvido.yaml", {})
    assert config is None
    assert row.status == "fail"
    assert "did you mean `server`?" in row.text


def test_a_configuration_that_does_less_than_it_seems_to_is_a_warning_that_says_what(tmp_path: Path) -> None:
    path = tmp_path / "olvido.yaml"
    path.write_text("storage: {kind: postgres, url: '${DB}'}\nlimits: {keys: {requests_per_minute: 5}}\n")
    row, config = check_config(path, {"DB": "postgresql://db/olvido"})
    assert config is not None
    assert row.status == "warn"
    assert "line 2, limits.keys.requests_per_minute: is counted by each machine for itself" in row.text


def test_the_table_is_aligned_and_shows_no_key() -> None:
    rows = [Row("a", "ok", "fine"), Row("longer", "fail", f"first\nsecond {KEY}")]
    assert table(rows) == "ok    a       fine\nfail  longer  first\n              second sk-***\n"


@pytest.mark.parametrize(("answer", "code"), [(200, 0), (500, 0), (401, 1)])
def test_the_exit_code_is_one_exactly_if_something_fails(tmp_path: Path, answer: int, code: int) -> None:
    (tmp_path / "olvido.yaml").write_text(
        f"server: {{port: 0}}\nstorage: {{path: {tmp_path / 'data'}}}\n"
        "upstreams: [{name: kimi, base_url: http://k/v1, api_key: '${KEY}'}]"
    )
    out = io.StringIO()
    result = run(tmp_path / "olvido.yaml", environ={"KEY": KEY}, out=out, transport=answering(answer))
    assert result == code, out.getvalue()
    for name in ("config", "versions", "tokenizer", "clock", "embedding", "storage", "port", "upstream kimi"):
        assert f"  {name} " in out.getvalue()
    assert KEY not in out.getvalue()


def test_without_a_usable_configuration_the_rest_is_still_checked(tmp_path: Path) -> None:
    out = io.StringIO()
    assert run(tmp_path / "none.yaml", environ={}, out=out) == 1
    assert "cannot be read" in out.getvalue()
    assert "ok    tokenizer" in out.getvalue()
