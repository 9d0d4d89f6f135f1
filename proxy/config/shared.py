"""The section `shared` of the configuration: the Redis whose memory several processes share. Absent: each has its own.

Whether there is one is said by the file alone: a variable REDIS_URL in the environment, which may be another
program's, connects nothing. `shared: {}` says that there is one, and leaves to the environment where.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, SecretStr, WithJsonSchema

from proxy.config.settings import Period, Section, setting

_SCHEMES = {"redis", "rediss", "unix"}
_TLS = {"ssl_cert_reqs", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
_QUERY = {"db", "username", "password", *_TLS}  # that a URL may have

# What a file may say itself: a URL whose password, if it has one, comes from the environment.
_PLAIN = r"(rediss?|unix)://([^@:/?\s{}]*(:\$\{[A-Za-z_][A-Za-z0-9_]*\})?@)?[^@\s{}]*"
_IN_FILE = rf"^({_PLAIN}|\$\{{[A-Za-z_][A-Za-z0-9_]*(:-((rediss?|unix)://[^@\s{{}}]*)?)?\}})$"


def _redis_url(secret: SecretStr) -> SecretStr:
    value = secret.get_secret_value()
    try:
        url = urlsplit(value)
        usable = url.scheme in _SCHEMES and (url.path if url.scheme == "unix" else url.hostname) and url.port != 0
        asked = dict(parse_qsl(url.query, strict_parsing=bool(url.query)))
        database = asked.get("db", "" if url.scheme == "unix" else url.path.strip("/")) or "0"
    except ValueError:  # its text would repeat a part of the URL
        usable = None
    if not usable or not re.fullmatch(r"[!-~]+", value):
        raise ValueError("a URL like redis://host:6379/0, rediss://… with TLS, or unix:///path")
    if unknown := sorted(asked.keys() - _QUERY):
        raise ValueError(f"a URL whose query has only {', '.join(sorted(_QUERY))}, not {unknown[0][:20]!r}")
    if not re.fullmatch(r"[0-9]{1,5}", database):
        raise ValueError("a URL whose path is the number of a database, like redis://host:6379/0")
    return secret


RedisUrl: TypeAlias = Annotated[
    SecretStr,
    AfterValidator(_redis_url),
    WithJsonSchema({"type": "string", "format": "password", "pattern": _IN_FILE}),
]
Password: TypeAlias = SecretStr


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the server, for the client library."""

    scheme: str
    url: str = field(default="", repr=False)  # "": `parts` say it
    parts: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Shared(Section):
    """The Redis that several processes share."""

    url: RedisUrl | None = setting(
        None,
        "URL of the server, as ${REDIS_URL} from the environment: redis://[user:password@]host:port/db, or rediss.",
    )
    host: str | None = setting(None, "Its name or address, instead of `url`.", min_length=1, max_length=255)
    port: int = setting(6_379, "Its port, with `host`.", ge=1, le=65_535)
    password: Password | None = setting(None, "Its password, with `host`, as ${NAME} from the environment.")
    timeout_ms: int = setting(
        50, "Milliseconds that a reply may take; after that a request goes on without.", ge=5, le=5_000
    )
    hot_context_ttl: Period = setting(300, "Seconds that the context of a conversation is kept for its next request.")

    @property
    def options(self) -> Address:
        """The address, with its secrets."""
        if self.url is not None:
            url = self.url.get_secret_value()
            return Address(urlsplit(url).scheme, url)
        password = None if self.password is None else self.password.get_secret_value()
        return Address("redis", parts={"host": self.host, "port": self.port, "password": password})

    @property
    def place(self) -> str:
        """The address without its secrets, for people."""
        if self.url is None:
            return f"{self.host}:{self.port}"
        url = urlsplit(self.url.get_secret_value())
        return url.path if url.scheme == "unix" else f"{url.hostname}:{url.port or 6_379}"


def from_environment(tree: Any, environ: Mapping[str, str]) -> Any:
    """Returns the file's tree with references to the usual variables, where it has a section `shared` that does not
    say where: REDIS_URL, else REDIS_HOST, REDIS_PORT and REDIS_PASSWORD."""
    given = tree.get("shared") if isinstance(tree, dict) else None
    if not isinstance(given, dict) or "url" in given or "host" in given:
        return tree
    if environ.get("REDIS_URL"):
        return {**tree, "shared": {"url": "${REDIS_URL}", **given}}
    if environ.get("REDIS_HOST"):
        names = {name: f"REDIS_{name.upper()}" for name in ("host", "port", "password")}
        # Kubernetes sets REDIS_PORT to tcp://… where a service is called redis.
        known = {
            name: f"${{{variable}}}"
            for name, variable in names.items()
            if environ.get(variable) and not environ[variable].startswith("tcp://")
        }
        return {**tree, "shared": {**known, **given}}
    return tree
