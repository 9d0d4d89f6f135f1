"""The process that has a port already: one of ours, with this configuration and storage or another, or a stranger."""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import httpx

from proxy.config import Config, fingerprint
from proxy.storage.base import StorageError
from proxy.storage.folder import SECRET, kept_secret, tenant_secret

SECONDS = 3.0
_ME = "/admin/api/me"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An olvido that serves. The fingerprints are "" if it does not tell us."""

    version: str
    config: str = ""
    storage: str = ""


def look(config: Config, transport: httpx.BaseTransport | None = None) -> Neighbour | None:
    """Asks what listens where `config` would; None if it is no olvido."""
    server = config.server
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.host, server.host)  # noqa: S104 (asked, not bound)
    url = f"http://[{host}]:{server.port}" if ":" in host else f"http://{host}:{server.port}"
    token = config.admin.token
    headers = {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        with httpx.Client(transport=transport, timeout=SECONDS, trust_env=False) as client:
            answer = client.get(f"{url}{_ME}", headers=headers)
            told: Any = answer.json()
    except (httpx.HTTPError, ValueError):
        return None
    if not isinstance(told, dict) or not {"version", "needs_token", "is_admitted"} <= told.keys():
        return None
    return Neighbour(*(str(told.get(name, ""))[:40] for name in ("version", "config", "storage")))


def told(neighbour: Neighbour, config: Config) -> tuple[Literal["ok", "warn"], str]:
    """Says what it is to somebody who asks about `config`."""
    own = version("olvido")
    differs = [f"this is version {own}"] if neighbour.version != own else []
    name = f"olvido {neighbour.version} serves there"
    if not neighbour.config:
        text = f"{name}; it does not accept this configuration's admin.token, so nothing more is known of it"
        return "warn", "; ".join([text, *differs])
    if neighbour.config != fingerprint.of_config(config):
        differs.append("its configuration is another one: restart it to use this one")
    if (storage := _storage(config)) and neighbour.storage != storage:
        differs.append("its storage is another one")
    if differs:
        return "warn", f"{name}, but {'; '.join(differs)}"
    return "ok", f"{name}, with this configuration{' and this storage' if storage else ''}"


def _storage(config: Config) -> str:
    """The fingerprint of the storage that is configured; "" if none is there yet."""
    folder, kind = config.storage.path, config.storage.kind
    try:
        if kind == "sqlite" and (folder / SECRET).exists():
            return fingerprint.of_storage(tenant_secret(folder))
        if kind == "postgres" and folder.exists() and (known := kept_secret(folder)) is not None:
            return fingerprint.of_storage(known)
    except StorageError:
        pass  # which has a row of its own
    return ""
