"""Stores of which tests make libraries."""

from collections.abc import AsyncIterator

import pytest

from tests.memory.libraries import House


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    yield opened
    await opened.tasks.drain(5.0)
    opened.executor.shutdown()
