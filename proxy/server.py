"""The process that serves: uvicorn with our limits, the socket that it listens on, its open files and garbage."""

import errno
import gc
import logging
import resource
import socket
from contextlib import suppress
from typing import Any

import uvicorn

from proxy.app import create_app
from proxy.config import Config
from proxy.http.connection import Guarded
from proxy.services import COLLECTING

log = logging.getLogger(__name__)

BACKLOG = 4096
FEW_FILES = 4_096  # open files: fewer are too few for two thousand streams
OWN_FILES = 64  # of the process itself: databases, model, logs


def _is_news(record: logging.LogRecord) -> bool:
    """False for uvicorn's log of an answer that we broke off on purpose, and have logged with its reason."""
    return record.msg != "ASGI callable returned without completing response."


def server(
    config: Config, app: Any = None, *, kind: type[uvicorn.Server] = uvicorn.Server, farewell: float = 0.0
) -> uvicorn.Server:
    """Returns a server for `config`, of one process, not started. `farewell`: see Guarded."""
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    limits = config.server
    guarded = type(
        "Guarded",
        (Guarded,),
        {
            "max_head_bytes": limits.max_header_kb * 1024,
            "head_seconds": limits.header_timeout,
            "farewell": farewell,
        },
    )
    return kind(
        uvicorn.Config(
            app or create_app(config),
            host=limits.host,
            port=limits.port,
            http=guarded,
            ws="none",
            lifespan="on",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=limits.keep_alive,  # type: ignore[arg-type]  # a fraction of a second is fine too
            timeout_graceful_shutdown=max(1, round(limits.drain)),
        )
    )


def prepare() -> None:
    """Readies this process for serving: open files, garbage collection."""
    _allow_open_files()
    # What is loaded by now lives as long as the process, and need not be looked through for garbage again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTING)


def _allow_open_files() -> None:
    """A stream is two sockets, and the usual soft limit of 1,024 files is reached by 500 of them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most != resource.RLIM_INFINITY and most < FEW_FILES:
        log.warning(
            "few open files are allowed: raise the hard limit (ulimit -Hn, LimitNOFILE)",
            extra={"files": most, "streams_at_once": max(0, (most - OWN_FILES) // 2)},
        )


def listen(config: Config) -> socket.socket:
    """Returns the listening socket, so that the port is known before serving starts. Raises OSError if it is taken."""
    family = socket.AF_INET6 if ":" in config.server.host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.server.host, config.server.port))
        sock.listen(BACKLOG)  # from now on connections wait until it serves
    except OSError:
        sock.close()
        raise
    sock.set_inheritable(True)
    return sock


def listener(config: Config) -> socket.socket | None:
    """Returns the listening socket, and logs where clients find it; None, with a line that says why, if it cannot."""
    try:
        sock = listen(config)
    except OSError as error:
        host, port = config.server.host, config.server.port
        log.error(why_not(error, host, port), extra={"host": host, "port": port})  # noqa: TRY400 (it needs no traceback)
        return None
    url = base_url(sock)
    log.info("point your SDK's base_url at %s", url)
    log.info("what happens is shown at %s/ui", url.removesuffix("/v1"))
    return sock


def why_not(error: OSError, host: str, port: int) -> str:
    """Returns a sentence that says why it cannot listen, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use: choose another one with --port; `olvido doctor` tells whether olvido has it"
    if error.errno == errno.EACCES:
        return f"port {port} is not for this user to open: choose one above 1023 with --port"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: choose another one with --host"
    return f"cannot listen on {host}:{port}: {error.strerror or error}"


def base_url(sock: socket.socket) -> str:
    """Returns the base URL for SDKs."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 (what is shown for it)
    return f"http://{shown}:{port}/v1"
