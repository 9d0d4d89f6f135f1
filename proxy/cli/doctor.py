"""The command `olvido doctor`: checks the installation, and prints a row a finding. It changes nothing that stays.

Each check takes what it looks at and returns rows; `run` calls them in order and prints. Reaching the upstreams is the
one thing here that uses the network, because the user asked whether they can be reached.
"""

import errno
import importlib.metadata
import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal, TextIO

import httpx

from proxy.cli import neighbour, servers
from proxy.config import Config, ConfigError, Upstream, checked
from proxy.config.redacting import redact
from proxy.config.source import line_of
from proxy.config.storage import Storage
from proxy.embedding import EmbeddingError
from proxy.embedding.exported import PACKAGES, local_path, read, source_of
from proxy.embedding.service import export_folders
from proxy.observe.logs import RESET, has_colours
from proxy.storage.folder import OTHERS, SECRET, SECRET_BYTES
from proxy.storage.opening import DATABASE

Status = Literal["ok", "warn", "fail"]

_COLOURS: Mapping[Status, str] = {"ok": "\x1b[32m", "warn": "\x1b[33m", "fail": "\x1b[1;31m"}
_LIBRARIES = ("olvido", "starlette", "uvicorn", "httpx", "aiohttp", "msgspec", "pydantic", "tiktoken")
_REACH_SECONDS = 10.0
_SKEW_SECONDS = 60.0  # the provider's clock has a resolution of 1 s, and the answer took its time
_HEADER = 100  # bytes, of an SQLite file
_BUILT = 1_735_689_600.0  # 2025-01-01: a clock before it is not set


@dataclass(frozen=True, slots=True)
class Row:
    """A finding: the part that was models.checked, its status, and an explanation."""

    name: str
    status: Status
    text: str


def run(
    config_path: Path | None,
    *,
    environ: Mapping[str, str] = os.environ,
    out: TextIO | None = None,
    transport: httpx.BaseTransport | None = None,
) -> int:
    """Runs all checks and prints a table. Returns the exit status: 1 if a check fails, else 0."""
    row, config = check_config(config_path, environ)
    rows = [check_versions(), row, check_tokenizer(), check_clock(time.time())]
    if config:
        exports = export_folders(config, environ)
        rows += [check_embedding(config, exports=exports), *check_storage(config.storage)]
        if config.shared is not None:
            rows.append(Row("redis", *servers.redis(config.shared)))
        rows.append(check_port(config))
        for upstream in config.upstreams:
            rows += check_upstream(upstream, transport, clock=time.time)
    screen = out or sys.stdout
    screen.write(table(rows, coloured=has_colours(screen, environ)))
    return int(any(row.status == "fail" for row in rows))


def table(rows: Sequence[Row], *, coloured: bool = False) -> str:
    """Renders rows as aligned text, a row a line; further lines of a text stand below its first. `coloured`: by
    status, for a terminal."""
    width = max((len(row.name) for row in rows), default=0)
    indent = "\n" + " " * (width + 8)
    colours = _COLOURS if coloured else dict.fromkeys(_COLOURS, "")
    reset = RESET if coloured else ""
    return "".join(
        f"{colours[row.status]}{row.status:<4}{reset}  {row.name:<{width}}  "
        f"{redact(row.text).replace(chr(10), indent)}\n"
        for row in rows
    )


def check_config(path: Path | None, environ: Mapping[str, str]) -> tuple[Row, Config | None]:
    """Loads the configuration; returns None with a failing row if it is wrong, and a warning if it should be known that
    it does less than it seems to."""
    found = checked(path, environ)
    if found.config is None or found.problems:
        return Row("config", "fail", str(ConfigError(found.source, list(found.problems)))), None
    told = [str(path) if path else "no file: defaults", *map(line_of, found.cautions)]
    return Row("config", "warn" if found.cautions else "ok", "\n".join(told)), found.config


def check_versions() -> Row:
    """Lists the versions of Python and of the libraries; fails if one is missing."""
    found = [f"python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            return Row("versions", "fail", f"the package {name} is not installed")
    return Row("versions", "ok", ", ".join(found))


def check_tokenizer() -> Row:
    """Loads the tokenizer and encodes a sentence."""
    try:
        from proxy.tokens import load_tokenizer  # noqa: PLC0415 (its failure to import is one of the findings)

        count = len(load_tokenizer().encode("¿Cuánto cuesta olvidar?"))
    except (ImportError, OSError, ValueError) as error:
        return Row("tokenizer", "fail", f"the token ranks cannot be loaded: {error}")
    return Row("tokenizer", "ok", f"ranks at hand, no download needed ({count} tokens in the test sentence)")


def check_embedding(config: Config, packaged: Path | None = None, exports: Sequence[Path] = ()) -> Row:
    """Checks that the embedding model is at hand and unaltered. `packaged`: the file of a packaged one, if not in its
    package. `exports`: folders that may hold its export, which needs neither."""
    if not config.reuse.intent.enabled:
        return Row("embedding", "ok", "not needed: reuse by intent is off")
    if config.embedding.base_url is not None:
        return Row("embedding", "ok", f"asked of {config.embedding.base_url}")
    model = config.embedding.model
    source = source_of(model)
    for export in (folder / source.folder for folder in exports):
        if read(export, source):
            return Row("embedding", "ok", f"{model}, exported in {export}")
    package = PACKAGES.get(model)
    if package is None:
        where = "in its folder" if local_path(model) else "by its name, downloaded at the first start"
        return Row("embedding", "ok", f"{model}, {where}")
    try:
        package.read(packaged)
    except EmbeddingError as error:
        return Row("embedding", "fail", f"{error}; without it no question is answered by intent")
    return Row("embedding", "ok", f"{package.model} at hand, no download needed; exported at the first start")


def check_clock(now: float) -> Row:
    """Checks that the machine's clock was set. `now`: unix seconds."""
    text = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < _BUILT:
        return Row("clock", "fail", f"{text}: the clock is not set; nothing stored would expire when it should")
    return Row("clock", "ok", text)


def check_storage(storage: Storage) -> list[Row]:
    """Checks the storage folder: there or creatable, writable, private; and the secret and the database in it, or the
    database that machines share."""
    if storage.kind == "postgres":
        assert storage.url is not None
        return [_check_folder(storage.path), Row("postgresql", *servers.postgres(storage.url.get_secret_value()))]
    if storage.kind != "sqlite":
        kept = "nothing is kept" if storage.kind == "off" else "kept until the process ends"
        return [Row("storage", "ok", kept)]
    row = _check_folder(folder := storage.path)
    if row.status == "fail" or not folder.exists():
        return [row]
    return [row, _check_secret(folder / SECRET), *_check_database(folder / DATABASE)]


def _check_folder(folder: Path) -> Row:
    try:
        above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not above.is_dir():
            return Row("storage", "fail", f"{above} is not a folder")
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        return Row("storage", "fail", f"{folder} cannot be written: {error.strerror}")
    if above != folder:
        return Row("storage", "ok", f"{folder} will be created")
    if _open_to_others(folder):
        return Row("storage", "warn", f"{folder} can be read by other users of this machine: chmod 700 {folder}")
    return Row("storage", "ok", f"{folder} is writable and private")


def _check_secret(path: Path) -> Row:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return Row("secret", "ok", "will be made at the first start")
    except OSError as error:
        return Row("secret", "fail", f"{path} cannot be looked at: {error.strerror}")
    if _open_to_others(path):
        return Row("secret", "fail", f"{path} can be read by other users of this machine: chmod 600 {path}")
    if size != SECRET_BYTES:
        return Row("secret", "fail", f"{path} has {size} bytes instead of {SECRET_BYTES}: restore it from a backup")
    return Row("secret", "ok", f"{path} is private")


def _check_database(path: Path) -> list[Row]:
    """Checks that the database can give free pages back to the disk, which one that was made long ago cannot: its
    header says so."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Row("database", "fail", f"{path} cannot be read: {error.strerror}")]
    if len(header) < _HEADER or int.from_bytes(header[64:68], "big"):  # else it is about to be made
        return [Row("database", "ok", f"{path} gives back what is free")]
    change = (
        f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('PRAGMA auto_vacuum = 2'); c.execute('VACUUM')"
    )
    told = f"{path} never becomes smaller, whatever leaves it. To change that, with olvido stopped:"
    return [Row("database", "warn", f'{told} python3 -c "{change}"')]


def _open_to_others(path: Path) -> bool:
    return bool(path.stat().st_mode & OTHERS)


def check_port(config: Config, transport: httpx.BaseTransport | None = None) -> Row:
    """Checks that the server's port is free, or that it is our own proxy that has it."""
    server = config.server
    address = f"{server.host}:{server.port}"
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            # As the server does: connections of an earlier run that are still closing do not hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
            probe.listen(1)
    except (OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            return _taken(config, address, transport)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a host name"
        return Row("port", "fail", f"{address}: {reason}")
    return Row("port", "ok", f"{address} is free")


def _taken(config: Config, address: str, transport: httpx.BaseTransport | None) -> Row:
    if (found := neighbour.look(config, transport)) is None:
        return Row("port", "fail", f"{address} is in use, and not by olvido: choose another one with --port")
    status, text = neighbour.told(found, config)
    return Row("port", status, f"{address}: {text}")


def check_upstream(upstream: Upstream, transport: httpx.BaseTransport | None, clock: Callable[[], float]) -> list[Row]:
    """Asks an upstream for its models: reachable, how fast, key accepted, clocks agree. `clock`: unix seconds."""
    name = f"upstream {upstream.name}"
    key = upstream.api_key.get_secret_value() if upstream.api_key else None
    headers = {"authorization": f"Bearer {key}"} if key else {}
    started = time.perf_counter()
    try:
        with httpx.Client(transport=transport, timeout=_REACH_SECONDS) as client:
            answer = client.get(f"{upstream.base_url}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # the last: a malformed proxy in the environment
        return [Row(name, "fail", f"{upstream.base_url} cannot be reached: {type(error).__name__}: {error}")]
    status, text = _judged(answer.status_code, has_key=key is not None)
    milliseconds = 1_000 * (time.perf_counter() - started)
    rows = [Row(name, status, f"{upstream.base_url}: {answer.status_code} in {milliseconds:.0f} ms, {text}")]
    skew = _skew(answer.headers.get("date"), clock())
    if abs(skew) > _SKEW_SECONDS:
        ahead = "ahead of" if skew > 0 else "behind"
        rows.append(Row("clock", "warn", f"this machine is {abs(skew):.0f} s {ahead} {upstream.name}'s"))
    return rows


def _judged(status: int, *, has_key: bool) -> tuple[Status, str]:
    match status:
        case 401 | 403 if has_key:
            return "fail", "reachable, but it refuses the configured key"
        case 401 | 403:
            return "ok", "reachable; the client's own key is passed through"
        case 404 | 405:
            return "warn", "reachable, but it lists no models there: is the base_url right?"
        case _ if 200 <= status < 300:
            return "ok", "reachable, the key is accepted" if has_key else "reachable without a key"
        case _ if 300 <= status < 400:
            return "warn", "reachable, but it redirects, which the proxy does not follow"
        case _:
            return "warn", "reachable, but it is not well"


def _skew(date: str | None, now: float) -> float:
    """Seconds that `now` is ahead of an HTTP date; 0 if there is none."""
    try:
        return now - parsedate_to_datetime(date).timestamp() if date else 0.0
    except (ValueError, OverflowError):
        return 0.0
