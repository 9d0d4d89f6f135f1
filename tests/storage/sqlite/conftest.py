"""A database in a file of its own, which writes nothing until something asks for it."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.storage.pending import WriterLimits
from proxy.storage.sqlite.database import Database
from proxy.tasks import Tasks

LAZY = WriterLimits(interval=60)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "storage" / "olvido.sqlite3"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    opened = Database(path, Tasks(), LAZY)
    yield opened
    await opened.close()


def chain_of(*messages: object) -> list[bytes]:
    links: list[bytes] = []
    for message in messages:
        parent = links[-1] if links else b""
        links.append(hashlib.blake2b(parent + repr(message).encode(), digest_size=16).digest())
    return links
