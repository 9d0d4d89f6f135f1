"""An upstream of each module, with nothing recorded yet."""

from collections.abc import Iterator

import pytest

from tests.proxied import Upstream, run_upstream


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with run_upstream() as upstream:
        yield upstream


@pytest.fixture
def upstream(running: Upstream) -> Upstream:
    """With nothing recorded yet."""
    running.bodies()
    return running
