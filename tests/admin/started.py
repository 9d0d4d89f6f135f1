"""A proxy whose services tests of the admin API reach into."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from proxy.pipeline import Services
from tests.proxied import in_front_of, run_upstream
from tests.servers import Inside, proxy_app, run_proxy


@dataclass(frozen=True, slots=True)
class Started:
    """The proxy over HTTP, and what is behind it."""

    http: httpx.Client
    services: Services
    inside: Inside


P = TypeVar("P", bound=Started)


def started(kind: type[P], stack: ExitStack, **sections: Any) -> P:
    """A proxy with these sections of the configuration, in front of an upstream of its own."""
    upstream = stack.enter_context(run_upstream())
    settings = in_front_of(upstream, **sections)
    app = proxy_app(settings)
    url = stack.enter_context(run_proxy(settings, inside := Inside(app)))
    return kind(
        stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False)), app.state.services, inside
    )
