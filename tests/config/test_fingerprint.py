"""Fingerprints of a configuration and of a storage."""

from typing import Any

import pytest

from proxy.config import fingerprint
from tests.builders import config

UP = {"name": "up", "base_url": "https://up.example/v1"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {}, True),
        ({"server": {"port": 1}}, {"server": {"port": 2, "workers": 3}}, True),  # the command line may say so
        ({"server": {"drain": 1}}, {"server": {"drain": 2}}, False),
        ({"context": {"mode": "on"}}, {"context": {"mode": "meter"}}, False),
        ({"upstreams": [UP]}, {"upstreams": [{**UP, "api_key": "k" * 40}]}, False),
        ({"upstreams": [{**UP, "api_key": "a" * 40}]}, {"upstreams": [{**UP, "api_key": "b" * 40}]}, True),
    ],
)
def test_it_is_the_same_for_the_same_settings(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert (fingerprint.of_config(config(**one)) == fingerprint.of_config(config(**other))) is same


def test_that_of_a_storage_is_of_its_secret_and_does_not_tell_it() -> None:
    assert fingerprint.of_storage(b"a" * 32) == fingerprint.of_storage(b"a" * 32) != fingerprint.of_storage(b"b" * 32)
    assert len(fingerprint.of_storage(b"a" * 32)) == 16
