"""What this version of the proxy has of the settings and commands of a cluster: checks of files that use them begin
with it."""

from collections.abc import Mapping
from typing import Any

import pytest

from proxy.config import Config

needs_shared = pytest.mark.skipif("shared" not in Config.model_fields, reason="needs the section `shared`")

ENVIRONMENT: Mapping[str, str] = {
    "DATABASE_URL": "postgresql://olvido:0123456789abcdef@postgres:5432/olvido",
    "REDIS_URL": "redis://:0123456789abcdef@redis:6379/0",
    "OLVIDO_ADMIN_TOKEN": "an-admin-token-0123456789",
    "OLVIDO_METRICS_TOKEN": "a-metrics-token-0123456789",
}


def pool_of(settings: Mapping[str, Any]) -> int:
    """Connections to the database of one process with this configuration."""
    return int(settings["storage"]["pool"])
