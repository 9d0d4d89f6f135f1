"""Scripted upstreams over real sockets, and the official SDK to talk to them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import openai
import pytest

from proxy.protocol.dialects import DIALECTS
from tests.scripted.app import Scripted, create_app
from tests.scripted.config import ScriptedConfig
from tests.servers import run_app


@dataclass(frozen=True, slots=True)
class Upstream:
    url: str
    demo: Scripted
    sdk: openai.OpenAI  # never retries
    http: httpx.Client  # with a key


Serve = Callable[[ScriptedConfig], Upstream]
Speaking = Callable[[str], Upstream]


def _serving(stack: ExitStack, config: ScriptedConfig) -> Upstream:
    app = create_app(config)
    url = stack.enter_context(run_app(app))
    sdk = stack.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="sk-test", max_retries=0))
    http = stack.enter_context(httpx.Client(base_url=url, headers={"authorization": "Bearer sk-test"}, timeout=100))
    return Upstream(url, app.state.demo, sdk, http)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts as many upstreams as a test needs."""
    with ExitStack() as stack:
        yield lambda config: _serving(stack, config)


@pytest.fixture(scope="module")
def speaking() -> Iterator[Speaking]:
    """The upstream that speaks a dialect; one of each for a module's tests."""
    started: dict[str, Upstream] = {}
    with ExitStack() as stack:

        def of(dialect: str) -> Upstream:
            if dialect not in started:
                started[dialect] = _serving(stack, ScriptedConfig(dialect=DIALECTS[dialect]))
            return started[dialect]

        yield of


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    """One that records; shared by a module's tests, so its counters are not for exact comparison."""
    with ExitStack() as stack:
        yield _serving(stack, ScriptedConfig(record=True))
