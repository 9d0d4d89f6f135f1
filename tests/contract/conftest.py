"""Over PostgreSQL these cases are long tests: each statement goes to a server there.
What only PostgreSQL does is tried in `tests/storage/postgres`."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and "postgres" in item.name:
            item.add_marker(pytest.mark.long)
