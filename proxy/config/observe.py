"""The section `observe` of the configuration: what is told of requests to other systems, beside metrics and logs."""

import re
from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, SecretStr

from proxy.config.settings import BaseUrl, Name, Period, Section, setting


def _in_a_header(secret: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]+(?: [!-~]+)*", secret.get_secret_value()):
        raise ValueError("the value of an HTTP header, in ASCII")
    return secret


HeaderName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]
HeaderValue: TypeAlias = Annotated[SecretStr, AfterValidator(_in_a_header)]


UserName: TypeAlias = Annotated[str, Field(min_length=1, max_length=128)]
MOST_USERS = 50


class Tracing(Section):
    """Spans of requests, for a collector of OpenTelemetry."""

    endpoint: BaseUrl = setting(
        "http://127.0.0.1:4318", "URL of a receiver of OTLP over HTTP; spans are sent to its /v1/traces."
    )
    sample: float = setting(
        0.1,
        "Share of the requests that are traced. One with a `traceparent` is traced if that says so, up to "
        "`callers_per_minute`.",
        ge=0,
        le=1,
    )
    callers_per_minute: int = setting(
        60,
        "Requests a minute, of each process, that are traced because their callers say so (`traceparent`). Of "
        "those above it `sample` is traced, for anybody can say so. A caller's no is always followed.",
        ge=0,
    )
    headers: Mapping[HeaderName, HeaderValue] = setting(
        {}, "Headers of what is sent there, as a key of the collector's: its value as ${NAME} from the environment."
    )
    service: Name = setting("olvido", "Name of this service in traces.")
    timeout: Period = setting(10, "Seconds that sending a batch may take, with its repetitions; then it is lost.")


class Observe(Section):
    """Traces of requests, for other systems."""

    users: tuple[UserName, ...] = setting(
        (),
        f"End users that metrics tell by their names, at most {MOST_USERS}; all others are told as one. None: none is.",
        max_length=MOST_USERS,
    )
    tracing: Tracing | None = setting(
        None, "Traces over OpenTelemetry (needs the extra olvido[otel]). Absent: none, at no cost."
    )
