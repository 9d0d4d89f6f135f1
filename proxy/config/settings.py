"""The base of the configuration's sections, and the types of its settings with their checks: durations, secrets, hashes
of keys, URLs, origins, hosts, folders.

No message of a check repeats the value: it could be a secret.
"""

import hashlib
import math
import re
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, WithJsonSchema

T = TypeVar("T")

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_DURATION = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)?\s*")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_MIN_SECRET = 16  # characters: an own key is kept as a plain sha256, which only a long key withstands


class Section(BaseModel):
    """A section of the configuration. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, hide_input_in_errors=True
    )


def setting(default: T, description: str, **bounds: Any) -> T:
    """Returns a setting that may be left out, for a section. `bounds`: those of pydantic's `Field`."""
    made: T = Field(default=default, description=description, **bounds)
    return made


def _seconds(value: object) -> float:
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        return float(match[1]) * _UNITS[match[2] or "s"]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise ValueError("a duration: seconds as a number, or text like 500ms, 10s, 30m, 24h, 7d")


def _header_safe(secret: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]+", secret.get_secret_value()):
        raise ValueError("a key without white space, in ASCII: it travels in an HTTP header")
    return secret


def _long_enough(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < _MIN_SECRET:
        raise ValueError(f"at least {_MIN_SECRET} characters")
    return secret


def key_hash(key: str) -> str:
    """Returns an own key as it is stored and compared: `sha256:<64 hex digits>`."""
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def _as_hash(value: object) -> str:
    if isinstance(value, str):
        if _SHA256.fullmatch(value.lower()):
            return value.lower()
        if len(value) >= _MIN_SECRET and re.fullmatch(r"[!-~]+", value) and not value.startswith("sha256:"):
            return key_hash(value)
    raise ValueError(f"a key of at least {_MIN_SECRET} ASCII characters without white space, or sha256:<64 hex digits>")


def _base_url(value: str) -> str:
    try:
        url = urlsplit(value)
        usable = url.scheme in {"http", "https"} and url.hostname and (url.port is None or url.port > 0)
    except ValueError:  # its text would repeat a part of the URL
        usable = None
    if not usable or not re.fullmatch(r"[!-~]+", value):
        raise ValueError("an http:// or https:// URL with a host")
    if "@" in url.netloc:
        raise ValueError("a URL without user and password: keys go into `api_key`")
    if "?" in value or "#" in value:
        raise ValueError("a URL without query and fragment: routes are appended to it")
    return value.rstrip("/")


def _database_url(secret: SecretStr) -> SecretStr:
    if not re.fullmatch(r"postgres(ql)?://\S+", secret.get_secret_value()):
        raise ValueError("a URL like postgresql://user:password@host:5432/name")
    return secret


_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@*]+")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s/?#@*:\[\]]+)(:[0-9]{1,5})?")
_IMPLIED = (("http://", ":80"), ("https://", ":443"))


def _origin(value: str) -> str:
    """Returns an origin as browsers write it, of any scheme: extensions have schemes of their own."""
    origin = value.lower().removesuffix("/")
    if not _ORIGIN.fullmatch(origin):
        raise ValueError("an origin like https://chat.example.com or http://localhost:3000, without path and wildcard")
    for scheme, port in _IMPLIED:
        if origin.startswith(scheme):
            origin = origin.removesuffix(port)
    return origin


def _host(value: str) -> str:
    if not _HOST.fullmatch(value.lower()):
        raise ValueError("a name like proxy.example.com, with or without a port, without scheme, path and wildcard")
    return value.lower()


def _expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a path without NUL")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("a path whose ~ names a known user") from None


Folder: TypeAlias = Annotated[Path, AfterValidator(_expanded)]
Seconds: TypeAlias = Annotated[
    float,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^[0-9.]+ *(ms|s|m|h|d)?$"}]}
    ),
]
Period: TypeAlias = Annotated[Seconds, Field(gt=0)]  # a duration that cannot be nothing
Secret: TypeAlias = Annotated[SecretStr, AfterValidator(_header_safe)]
LongSecret: TypeAlias = Annotated[Secret, AfterValidator(_long_enough)]
DatabaseUrl: TypeAlias = Annotated[SecretStr, AfterValidator(_database_url)]
KeyHash: TypeAlias = Annotated[
    str,
    BeforeValidator(_as_hash),
    WithJsonSchema({"type": "string", "format": "password", "pattern": r"^(\$\{.+\}|sha256:[0-9a-fA-F]{64})$"}),
]
BaseUrl: TypeAlias = Annotated[str, AfterValidator(_base_url)]
Origin: TypeAlias = Annotated[str, AfterValidator(_origin)]
Host: TypeAlias = Annotated[str, AfterValidator(_host)]
Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]  # metrics label, log field
Glob: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Dollars: TypeAlias = Annotated[float, Field(ge=0)]  # US dollars per million tokens
