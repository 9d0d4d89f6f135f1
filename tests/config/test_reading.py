"""A configuration that notes what is read of it."""

from typing import Any

import pytest

from proxy.config import Config
from proxy.config.reading import Reads, watched
from proxy.config.rules import RULES
from proxy.config.source import Where
from tests.builders import config

UP = {"name": "up", "base_url": "https://up.example/v1"}


def looked_at(read: Any) -> Reads:
    reads = Reads()
    read(watched(Config.model_validate({"upstreams": [UP, {**UP, "name": "two"}]}), reads))
    return reads


@pytest.mark.parametrize(
    ("read", "gone", "rests"),
    [
        (lambda settings: settings.server.port, ("server", "port"), True),
        (lambda settings: settings.server.port, ("server",), True),
        (lambda settings: settings.server.port, ("server", "host"), False),
        (lambda settings: settings.server.port, ("server", "prot"), True),  # it may be meant
        (lambda settings: settings.server.port, ("server", "colour"), False),
        (lambda settings: settings.server, ("server", "port"), False),
        (lambda settings: settings.upstreams[1].name, ("upstreams", 1, "name"), True),
        (lambda settings: settings.upstreams[1].name, ("upstreams", 0, "name"), False),
        (lambda settings: settings.upstreams[1].name, ("upstreams",), True),
        (lambda settings: settings.upstreams[0].models, ("upstreams", 0, "models", 3), True),
        (lambda settings: "lean" in settings.profiles, ("profiles", "mine"), True),
        (lambda settings: "lean" in settings.profiles, ("profiles", "lean", "budget"), False),
        (lambda settings: settings.upstreams[0].spoken, ("upstreams", 0, "apis"), True),  # no setting: it reads some
        (lambda settings: settings.model_fields_set, ("tenancy",), False),
    ],
)
def test_what_was_read_is_known(read: Any, gone: Where, rests: bool) -> None:
    assert looked_at(read).rest_on(gone) is rests


def test_sections_stay_the_same_and_have_their_values() -> None:
    given = config(upstreams=[UP, {**UP, "name": "two"}])
    seen = watched(given, Reads())
    assert seen.upstreams[0] is seen.upstreams[0]
    assert seen.upstreams[0] is not seen.upstreams[1]
    assert [each.name for each in seen.upstreams] == ["up", "two"]
    assert seen.model_fields_set == given.model_fields_set


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_finds_the_same_in_it(rule: Any) -> None:
    upstreams = [{**UP, "fallback": "two"}, {**UP, "name": "two", "base_url": "https://two.example/v1"}, UP]
    sections = {"server": {"host": "0.0.0.0", "workers": 2}, "storage": {"kind": "memory"}}
    model = {"upstream": "none", "model": "m"}
    given = Config.model_validate({"upstreams": upstreams, **sections, "memory": {"model": model}, "shared": {}})
    assert list(rule(watched(given, Reads()))) == list(rule(given))
