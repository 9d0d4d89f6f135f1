"""Wheel and sdist of what is checked out here, built once."""

import pytest

from tests.release import artifacts
from tests.release.artifacts import Distributions


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    source = artifacts.exported(tmp_path_factory.mktemp("source"))
    return artifacts.build(source, tmp_path_factory.mktemp("dist"))
