"""All mistakes of a file at once, and no mistake that only follows from another one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config import checked
from proxy.config.mending import broken_rules, mended
from proxy.config.source import path_text

UP = {"name": "up", "base_url": "https://up.example/v1"}


def places(tree: dict[str, Any]) -> list[str]:
    return sorted(path_text(each.where) for each in broken_rules(mended(tree)))


@pytest.mark.parametrize(
    ("tree", "rules"),
    [
        ({}, []),
        ({"server": {"prot": 1}, "storage": {"kind": "postgres"}}, ["storage.url"]),
        ({"server": {"port": "many", "host": "0.0.0.0"}}, ["admin.token", "tenancy"]),
        ({"upstreams": [{**UP, "dialekt": "kimi", "fallback": "none"}]}, ["upstreams[0].fallback"]),
        ({"log": {"level": "loud"}, "upstreams": [{**UP, "fallback": "none"}]}, ["upstreams[0].fallback"]),
        ({"severs": {}, "context": {"profile": "none"}}, ["context.profile"]),
        ({"upstreams": [{"name": "up"}, {**UP, "name": "two", "fallback": "three"}]}, ["upstreams[1].fallback"]),
        ({"reuse": {"intent": {"judge": {"upstream": "none", "model": 3}}}}, []),
        # Of one section, and independent of each other:
        ({"server": {"port": "many", "workers": 2}, "storage": {"kind": "memory"}}, ["server.workers"]),
        ({"storage": {"busy": 1, "url": "postgresql://x/y"}}, ["storage.url"]),
        ({"memory": {"stale_after": "1h", "unconfirmed_after": "2h", "facts": 3}}, ["memory.stale_after"]),
        ({"profiles": {"lean": {"bugdet": 1}}, "context": {"profile": "none"}}, ["context.profile"]),
        ({"upstreams": [{**UP, "retries": "x"}, UP]}, ["upstreams[1].name"]),
        ({"upstreams": [{**UP, "timeout": {"conect": 1}}], "auth": {"mode": "keys"}}, ["upstreams[0].api_key"]),
        # What may only follow from what was left out is not told:
        ({"memory": {"stale_after": "1h", "unconfirmed_after": "long"}}, []),
        ({"server": {"workers": 2}, "storage": {"knid": "sqlite", "kind": "memory"}}, []),
        ({"server": {"host": 3}}, []),
        ({"storage": {"kind": "postgress", "url": "postgresql://x/y"}}, []),
        ({"auth": {"mode": "kyes", "keys": [{"name": "a", "key": "k"}]}}, []),
        ({"upstreams": [{**UP, "name": "not a name"}, {**UP, "name": "two", "fallback": "one"}]}, []),
        ({"storage": {"kind": "postgres", "ulr": "postgresql://x/y"}}, []),
        ({"profiles": {"mine": 3}, "context": {"profile": "mine"}}, []),
        ({"tenancy": "personel", "server": {"host": "0.0.0.0"}}, ["admin.token"]),
        ({"upstreams": [3]}, []),
        ({"upstreams": 3, "memory": {"model": {"upstream": "x", "model": "y"}}}, []),
    ],
)
def test_rules_between_settings_are_looked_at_though_others_are_wrong(tree: dict[str, Any], rules: list[str]) -> None:
    found = mended(tree)
    assert bool(found.errors) or not tree
    assert places(tree) == rules


def test_what_is_right_is_kept_and_the_tree_as_it_was() -> None:
    tree = {"server": {"port": "many", "workers": 3}, "upstreams": [UP]}
    found = mended(tree)
    assert found.config is not None
    assert found.config.server.workers == 3
    assert found.config.server.port == 8484
    assert found.gone == {("server", "port")}
    assert tree["server"] == {"port": "many", "workers": 3}


def problems(tmp_path: Path, tree: Any, environ: dict[str, str] | None) -> list[str]:
    (tmp_path / "olvido.yaml").write_text(yaml.safe_dump(tree, sort_keys=False))
    return [f"{path_text(each.where)}: {each.text}" for each in checked(tmp_path / "olvido.yaml", environ).problems]


def test_a_file_is_told_everything_that_is_wrong_with_it(tmp_path: Path) -> None:
    tree = {
        "server": {"port": "many", "host": "0.0.0.0"},
        "upstreams": [{**UP, "api_key": "${UNSET}", "dialekt": "kimi", "fallback": "nobody"}],
        "storage": {"kind": "postgres"},
        "admin": {"token": "in-the-file-as-it-is-not-allowed"},
    }
    found = problems(tmp_path, tree, {})
    for part in (
        "server.port: found 'many'",
        "upstreams[0].api_key: the environment variable UNSET is not set",
        "upstreams[0].dialekt: unknown key; did you mean `dialect`?",
        "upstreams[0].fallback: no upstream is named 'nobody'",
        "storage.url: must be set",
        "admin.token: a secret must not stand in the file",
        "tenancy: must be set",
    ):
        assert sum(each.startswith(part) for each in found) == 1, (part, found)


NEEDY = {
    "server": {"host": "0.0.0.0", "port": "${PORT}"},
    "tenancy": "shared",
    "admin": {"token": "${TOKEN}", "metrics_token": "${METRICS_TOKEN}"},
    "auth": {"mode": "keys", "keys": [{"name": n, "key": f"${{KEY_{n.upper()}}}"} for n in ("a", "b")]},
    "upstreams": [{**UP, "base_url": "https://${HOST}/v1", "api_key": "${UP_KEY}", "retries": "${RETRIES:-1}"}],
    "storage": {"kind": "postgres", "url": "${DATABASE_URL}"},
    "shared": {},
}


def test_without_the_environment_what_stands_for_a_variable_is_taken_to_be_right(tmp_path: Path) -> None:
    assert problems(tmp_path, NEEDY, None) == []
    assert len(problems(tmp_path, NEEDY, {})) >= 7


def test_without_the_environment_all_other_mistakes_are_told(tmp_path: Path) -> None:
    tree = {**NEEDY, "log": {"format": "xml"}, "context": {"profile": "none"}, "tenancy": "personel"}
    tree["embedding"] = {"api_key": "in the file"}
    found = problems(tmp_path, tree, None)
    assert [each.partition(":")[0] for each in sorted(found)] == [
        "context.profile",
        "embedding.api_key",
        "log.format",
        "tenancy",
    ]
