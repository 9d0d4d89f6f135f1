"""A PostgreSQL server that a test may stop."""

from collections.abc import Iterator

import pytest

from tests.postgres import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
