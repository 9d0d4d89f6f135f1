"""What this version of the proxy has of the settings and commands of a cluster: checks of files that use them begin
with it."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from proxy.config import Config
from proxy.config.model import Storage

_KINDS = get_args(Storage.model_fields["kind"].annotation)

needs_cluster_settings = pytest.mark.skipif(
    not ("postgres" in _KINDS and "url" in Storage.model_fields and "shared" in Config.model_fields),
    reason="needs `storage.kind: postgres`, `storage.url` and `shared`",
)

ENVIRONMENT: Mapping[str, str] = {
    "DATABASE_URL": "postgresql://olvido:0123456789abcdef@postgres:5432/olvido",
    "REDIS_URL": "redis://:0123456789abcdef@redis:6379/0",
    "OLVIDO_ADMIN_TOKEN": "an-admin-token-0123456789",
    "OLVIDO_METRICS_TOKEN": "a-metrics-token-0123456789",
}


def pool_of(settings: Mapping[str, Any]) -> int:
    """Connections to the database of one process with this configuration."""
    return int(settings["storage"]["pool"])
