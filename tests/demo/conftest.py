"""One run of the short demonstration for all tests that look at what it prints."""

import contextlib
import io
from pathlib import Path

import pytest

from proxy.demo import show


@pytest.fixture(scope="session")
def printed(embedding_folder: Path) -> str:
    """What `olvido demo --short --exit` prints."""
    assert embedding_folder.is_dir()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert show.run(0, stay=False, short=True) == 0
    return said.getvalue()
