from typing import Any

import pytest
from pydantic import ValidationError

from proxy.config.model import Config
from proxy.config.problems import explained, is_secret, schema_at
from proxy.config.source import Source, Where, path_text


def problems_of(tree: dict[str, Any], from_env: dict[Where, str] | None = None) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(tree)
    found = explained(list(caught.value.errors()), Source(tree, from_env=from_env or {}))
    return {path_text(problem.where): problem.text for problem in found}


A = {"name": "a", "base_url": "https://a.example/v1"}


@pytest.mark.parametrize(
    ("tree", "path", "text"),
    [
        ({"servre": {}}, "servre", "unknown key; did you mean `server`? known here: server, upstreams"),
        ({"server": {"PORT": 1}}, "server.PORT", "unknown key; did you mean `port`?"),
        ({"server": {"zzz": 1}}, "server.zzz", "unknown key; known here: host, port"),
        ({"upstreams": [{**A, "timeout": {"idel": 5}}]}, "upstreams[0].timeout.idel", "did you mean `idle`?"),
        ({"upstreams": [{**A, "url": "http://x/v1"}]}, "upstreams[0].url", "did you mean `base_url`?"),
        ({"upstreams": [{**A, "openai_api_key": "x"}]}, "upstreams[0].openai_api_key", "did you mean `api_key`?"),
        ({"profiles": {"lean": {"window": {"turn": 5}}}}, "profiles.lean.window.turn", "did you mean `turns`?"),
        ({"profiles": {"new": {"budgt": 5}}}, "profiles.new.budgt", "did you mean `budget`?"),
        ({"upstreams": [{"name": "a"}]}, "upstreams[0].base_url", "is required: URL up to and including /v1."),
        ({"upstreams": []}, "upstreams", "found a list, expected at least one"),
        ({"upstreams": {}}, "upstreams", "found a mapping, expected a list"),
        ({"server": 5}, "server", "found a number, expected a mapping"),
        ({"server": {"port": 99_999}}, "server.port", "found 99999, expected less than or equal to 65535"),
        ({"server": {"port": "many"}}, "server.port", "found 'many', expected a whole number"),
        ({"server": {"drain": "soon"}}, "server.drain", "found 'soon', expected a duration: seconds as a number"),
        ({"reuse": {"exact": {"enabled": "maybe"}}}, "reuse.exact.enabled", "found 'maybe', expected true or false"),
        ({"reuse": {"exact": {"when": "x"}}}, "reuse.exact.when", "expected 'deterministic' or 'always'"),
        ({"log": {"contents": True}}, "log.contents", "found true, expected false"),
        ({"log": {"level": "x" * 99}}, "log.level", f"found '{'x' * 59}…, expected"),
        ({"upstreams": [{**A, "name": 5}]}, "upstreams[0].name", "found 5, expected text"),
        ({"upstreams": [{**A, "models": "kimi-*"}]}, "upstreams[0].models", "found text, expected a list"),
        ({"upstreams": [{**A, "prices": {"k*": {"input": -1, "output": 1}}}]}, 'upstreams[0].prices["k*"].input',
         "found -1"),
        ({"profiles": {"lean": {"recall": {"tokens": "x"}}}}, "profiles.lean.recall.tokens",
         "found 'x', expected a whole number or 'rest'"),
        ({"profiles": {"lean": {"window": {"turns": 9}}}}, "profiles.lean.window",
         "min_turns ≤ turns ≤ max_turns must hold"),
        ({"profiles": {"lean": 5}}, "profiles.lean", "found a number, expected"),
        ({"reuse": {"intent": {"disclaimer": {"fr": "x"}}}}, "reuse.intent.disclaimer.fr", "expected 'es' or 'en'"),
    ],
)  # fmt: skip
def test_every_problem_says_where_what_was_found_and_what_was_expected(
    tree: dict[str, Any], path: str, text: str
) -> None:
    problems = problems_of(tree)
    assert list(problems) == [path]
    assert text in problems[path]


def test_invalid_items_do_not_also_count_as_missing_ones() -> None:
    assert list(problems_of({"upstreams": [{**A, "retries": -1}]})) == ["upstreams[0].retries"]


def test_a_value_from_the_environment_is_named_not_shown() -> None:
    where = ("log", "level")
    assert problems_of({"log": {"level": "hunter2"}}, {where: "${LEVEL}"})["log.level"].startswith(
        "found the value of ${LEVEL}, expected 'debug'"
    )


@pytest.mark.parametrize(
    "tree",
    [
        {"upstreams": [{**A, "api_key": "hunter2 two words"}]},
        {"upstreams": [{**A, "api_key": {"hidden": "hunter2"}}]},
        {"upstreams": [{**A, "api_key": ["hunter2"]}]},
        {"upstreams": [{**A, "api_kye": "hunter2"}]},
        {"upstreams": ["hunter2"]},
        {"upstreams": "hunter2"},
        {"upstreams": [{**A, "base_url": "https://me:hunter2@a.example"}]},
        {"upstreams": [{**A, "base_url": "https://a.example/?api_key=hunter2"}]},
        {"upstreams": [{**A, "api_key": "hunter2 hunter2", "timeout": "hunter2"}]},
        {"admin": "hunter2"},
        {"admin": {"token": "hunter2"}},
        {"admin": {"tokne": "hunter2"}},
        {"auth": {"keys": ["hunter2"]}},
        {"auth": {"keys": "hunter2"}},
        {"auth": {"keys": [{"name": "ana", "key": "hunter2"}]}},
        {"auth": "hunter2"},
        {"embedding": {"api_key": 5, "model": ["hunter2"]}},
        {"log": {"level": "sk-hunter2hunter2"}},
        {"log": {"sk-hunter2hunter2": 1}},
    ],
)
def test_no_message_shows_a_secret(tree: dict[str, Any]) -> None:
    problems = problems_of(tree)
    assert problems
    assert "hunter2" not in str(problems)


@pytest.mark.parametrize(
    ("where", "secret"),
    [
        (("upstreams", 3, "api_key"), True),
        (("auth", "keys", 0, "key"), True),
        (("embedding", "api_key"), True),
        (("admin", "token"), True),
        (("upstreams", 0, "name"), False),
        (("auth", "keys", 0, "name"), False),
        (("no", "such", "thing"), False),
    ],
)
def test_the_schema_says_which_settings_are_secret(where: Where, secret: bool) -> None:
    assert is_secret(where) is secret


@pytest.mark.parametrize(
    ("where", "title"),
    [
        ((), "Config"),
        (("server",), "Server"),
        (("upstreams", 0, "price"), "PriceSetting"),
        (("profiles", "x", "window"), "Window"),
    ],
)
def test_a_path_leads_to_its_schema(where: Where, title: str) -> None:
    assert (schema_at(where) or {})["title"] == title


@pytest.mark.parametrize("where", [("nothing",), ("server", 0), ("server", "port", "deeper"), ("upstreams", "name")])
def test_a_path_that_no_setting_has_leads_nowhere(where: Where) -> None:
    assert schema_at(where) is None
