"""The demo upstream and the proxy, one of each per test process. Which of the proxy's upstreams a request goes to, and
so how patient it is, is told by the model.

    demo-*                 as it is: no retries, no breaker
    gpt-4o-mini            retries twice, has a fallback of another origin with a key and a model name of its own
    kimi-k2.6              retries twice
    deepseek-v4-flash      short timeouts
    mistral-small-latest   a breaker that opens after two failures
    absent-*               nobody listens there
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Demo, Proxy, run_demo, run_proxy, upstream

PATIENCE = 0.5  # seconds, of the impatient upstream
BREAK = 0.5  # seconds that the breaker stays open
FALLBACK_KEY = "sk-of-the-fallback"
PRICE = {"input": 1.0, "cached": 0.25, "output": 4.0}


@pytest.fixture(scope="session")
def running_demo() -> Iterator[Demo]:
    with run_demo() as demo:
        yield demo


@pytest.fixture
def demo(running_demo: Demo) -> Demo:
    """With nothing recorded yet."""
    running_demo.clear()
    return running_demo


@pytest.fixture(scope="session")
def proxy(running_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    elsewhere = running_demo.base_url.replace("127.0.0.1", "localhost")
    # One key for many tests: what one of them states about its user must not go with the next one's conversation.
    config = {
        "memory": {"facts": False},
        "upstreams": [
            upstream("plain", running_demo, ["demo-*"], price=PRICE),
            upstream("stubborn", running_demo, ["gpt-4o-mini"], retries=2, fallback="stand-in"),
            upstream("retrying", running_demo, ["kimi-k2.6"], retries=2, max_retry_wait=2),
            upstream(
                "impatient",
                running_demo,
                ["deepseek-v4-flash"],
                timeout={"first_byte": PATIENCE, "answer": PATIENCE, "idle": PATIENCE},
            ),
            upstream(
                "fragile",
                running_demo,
                ["mistral-small-latest"],
                breaker={"failures": 2, "open_seconds": BREAK},
            ),
            upstream("absent", running_demo, ["absent-*"], base_url="http://127.0.0.1:9/v1"),
            upstream(
                "stand-in",
                running_demo,
                ["nobody-asks-for-this"],
                base_url=elsewhere,
                api_key="${FALLBACK_KEY}",
                aliases={"gpt-4o-mini": "demo-chat"},
            ),
        ],
    }
    with run_proxy(config, tmp_path_factory.mktemp("proxy"), FALLBACK_KEY=FALLBACK_KEY) as proxy:
        yield proxy
        assert proxy.complaints() == []


@pytest.fixture
def start_proxy(tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    """Starts proxies of a test's own: `start_proxy(config)`; those that share a `folder` share their storage."""
    numbers = count()
    with ExitStack() as stack:

        def start(config: dict[str, Any], folder: Path | None = None, **environ: str) -> Proxy:
            if folder is None:
                folder = tmp_path / f"proxy{next(numbers)}"
                folder.mkdir()
            return stack.enter_context(run_proxy(config, folder, **environ))

        yield start
