"""What a server must be, and what is told of it."""

import pytest

from proxy.storage.redis.checks import parsed, usable, warnings
from proxy.storage.redis.errors import Refused

GOOD = {"redis_version": "7.0.15", "cluster_enabled": "0", "maxmemory": "0", "maxmemory_policy": "noeviction"}


def test_info_is_read_as_its_fields() -> None:
    assert parsed(b"# Server\r\nredis_version:7.0.15\r\nexecutable:/a:b\r\n\r\n\xff") == {
        "redis_version": "7.0.15",
        "executable": "/a:b",
    }


@pytest.mark.parametrize("version", ["6.2.0", "7.0.15", "8.2", "10.0.0"])
def test_a_version_that_is_new_enough_is_used(version: str) -> None:
    assert usable({**GOOD, "redis_version": version})


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"redis_version": "6.0.16"}, "version"),
        ({"redis_version": "5.0.3"}, "version"),
        ({"redis_version": ""}, "version"),
        ({"redis_version": "none"}, "version"),
        ({"cluster_enabled": "1"}, "cluster"),
    ],
)
def test_another_one_is_refused(changed: dict[str, str], reason: str) -> None:
    with pytest.raises(Refused) as refused:
        usable(GOOD | changed)
    assert refused.value.trouble.reason == reason


@pytest.mark.parametrize(
    ("changed", "skew", "subjects"),
    [
        ({}, 0.0, []),
        ({}, -1.9, []),
        ({}, 2.1, ["clock"]),
        ({}, -2.1, ["clock"]),
        ({"maxmemory_policy": "allkeys-lru"}, 0.0, []),  # without a limit nothing leaves
        ({"maxmemory": "1000", "maxmemory_policy": "allkeys-lru"}, 0.0, ["eviction"]),
        ({"maxmemory": "1000", "maxmemory_policy": "volatile-ttl"}, 0.0, []),
        ({"maxmemory": "1000", "maxmemory_policy": "noeviction"}, 0.0, []),
    ],
)
def test_what_may_go_wrong_is_warned_of(changed: dict[str, str], skew: float, subjects: list[str]) -> None:
    assert list(warnings(GOOD | changed, skew)) == subjects
