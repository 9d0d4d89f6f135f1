from typing import Any

import pytest
from pydantic import ValidationError

from proxy.config.model import Config
from proxy.config.problems import explained, is_loopback, is_secret, schema_at, shows_content, violations
from proxy.config.source import Source, Where, path_text

KEY = "sk-0123456789abcdef"
FREE = {"input": 0, "output": 0}
OWN = {"name": "ana", "key": "olv-0123456789abcdef"}
PUBLIC = {"server": {"host": "0.0.0.0"}, "tenancy": "shared", "admin": {"token": "t" * 16}}


def upstream(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "base_url": f"https://{name}.example/v1", **fields}


def judged(by: str, **fields: Any) -> dict[str, Any]:
    """With an upstream `a` of these fields."""
    return {
        "upstreams": [upstream("a", **fields)],
        "reuse": {"intent": {"judge": {"upstream": by, "model": "gpt-6-luna"}}},
    }


def remembered(by: str, *, upstream_has: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """With a model of memory at an upstream `a`, which has a key and a price unless it is said what it has."""
    fields = {"api_key": KEY, "price": FREE} if upstream_has is None else upstream_has
    model = {"model": {"upstream": by, "model": "gpt-6-luna"}}
    return {"upstreams": [upstream("a", **fields)], **sections, "memory": {**sections.get("memory", {}), **model}}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
        ("LOCALHOST", True), ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.com", False),
        ("localhost.example.com", False),
    ],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "given", "shown"),
    [
        ("127.0.0.1", None, True), ("0.0.0.0", None, False), ("127.0.0.1", False, False), ("0.0.0.0", True, True),
    ],
)  # fmt: skip
def test_what_requests_said_is_shown_where_only_this_machine_sees_it_unless_told(
    host: str, given: bool | None, shown: bool
) -> None:
    settings = {"server": {"host": host}, "admin": {"show_content": given}}
    assert shows_content(Config.model_validate(settings)) is shown


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"server": {"workers": 2}},
        {"server": {"workers": 2}, "storage": {"kind": "off"}},
        PUBLIC,
        {"upstreams": [upstream("a", fallback="b"), upstream("b", api_key=KEY)]},
        {
            "upstreams": [
                upstream("a", fallback="b"),
                upstream("b", fallback="c", api_key=KEY),
                upstream("c", api_key=KEY),
            ]
        },
        # The same provider twice: the client's key goes nowhere new.
        {"upstreams": [upstream("a", fallback="b"), upstream("b", base_url="https://a.example/v2")]},
        {"upstreams": [upstream("a", api_key=KEY)], "auth": {"mode": "keys", "keys": [OWN]}},
        {"context": {"profile": "mine"}, "profiles": {"mine": {}}},
        {"embedding": {"model": "nomic", "base_url": "http://127.0.0.1:9"}},
        {"storage": {"keep": {"minutes": "7d", "hours": "7d"}}},
        {"storage": {"keep": {"minutes": 0, "hours": 0}}},
        {"storage": {"keep": {"hours": 0}}},
        judged("a", api_key=KEY, price=FREE),
        remembered("a"),
        remembered("a", upstream_has={"api_key": KEY, "prices": {"gpt-*": FREE}}),
        remembered("a", storage={"kind": "memory"}),
        judged("a", api_key=KEY, prices={"gpt-*": FREE}),
        judged("a", api_key=KEY, dialect="openai"),
    ],
)
def test_settings_that_agree_break_no_rule(settings: dict[str, Any]) -> None:
    assert violations(Config.model_validate(settings)) == []


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({"server": {"workers": 2}, "storage": {"kind": "memory"}}, {"server.workers": "a storage that workers share"}),
        ({"upstreams": [upstream("a"), upstream("a")]}, {"upstreams[1].name": "names an earlier upstream"}),
        ({"upstreams": [upstream("a", fallback="b")]},
         {"upstreams[0].fallback": "no upstream is named 'b'; there are: a"}),
        ({"upstreams": [upstream("a", fallback="a", api_key=KEY)]}, {"upstreams[0].fallback": "its own fallback"}),
        (
            {"upstreams": [upstream("a", fallback="b", api_key=KEY), upstream("b", fallback="a", api_key=KEY)]},
            {"upstreams[0].fallback": "lead back", "upstreams[1].fallback": "lead back"},
        ),
        (
            {"upstreams": [
                upstream("x", fallback="a", api_key=KEY),
                upstream("a", fallback="b", api_key=KEY),
                upstream("b", fallback="a", api_key=KEY),
            ]},
            {"upstreams[1].fallback": "lead back", "upstreams[2].fallback": "lead back"},
        ),
        (
            {"upstreams": [upstream("a", fallback="b"), upstream("b")]},
            {"upstreams[0].fallback": "'b' needs an api_key of its own"},
        ),
        (
            {"upstreams": [upstream("a", fallback="b", api_key=KEY), upstream("b")]},
            {"upstreams[0].fallback": "'b' needs an api_key of its own"},
        ),
        (
            {"upstreams": [
                upstream("a", fallback="b"),
                upstream("b", fallback="c", api_key=KEY),
                upstream("c", base_url=upstream("b")["base_url"]),
            ]},
            {"upstreams[0].fallback": "'c' needs an api_key of its own"},
        ),
        (
            {"auth": {"mode": "keys", "keys": [OWN]}, "upstreams": [upstream("a", api_key=KEY), upstream("b")]},
            {"upstreams[1].api_key": "ours and stays here"},
        ),
        ({"auth": {"mode": "keys", "keys": [OWN]}}, {"upstreams[0].api_key": "ours and stays here"}),
        ({"quality": {}, "storage": {"kind": "off"}}, {"quality": "nowhere to keep what it finds"}),
        ({"quality": {}, "context": {"mode": "meter"}}, {"quality": "nothing to compare"}),
        ({"quality": {"judge": {"upstream": "x", "model": "m"}}}, {"quality.judge.upstream": "no upstream is named"}),
        (
            {"quality": {"judge": {"upstream": "kimi", "model": "kimi-k2.6"}}},
            {"quality.judge.upstream": "needs an api_key of its own"},
        ),
        (
            {"auth": {"mode": "keys"}, "upstreams": [upstream("a", api_key=KEY)], "storage": {"kind": "off"}},
            {"auth.keys": "nobody gets in"},
        ),
        ({"auth": {"keys": [OWN]}}, {"auth.mode": "only mode `keys` checks"}),
        (
            {"auth": {"mode": "keys", "keys": [OWN, OWN]}, "upstreams": [upstream("a", api_key=KEY)]},
            {"auth.keys[1].name": "an earlier key", "auth.keys[1].key": "same key"},
        ),
        (
            {"server": {"host": "0.0.0.0"}},
            {"tenancy": "must be set (personal or shared)", "admin.token": "`server.host: 0.0.0.0` lets others in"},
        ),
        ({**PUBLIC, "admin": {}}, {"admin.token": "must be set"}),
        ({**PUBLIC, "upstreams": [upstream("a", api_key=KEY)]}, {"auth.mode": "spend the key of upstream 'a'"}),
        ({"server": {"host": "::"}, "admin": {"token": "t" * 16}}, {"tenancy": "must be set"}),
        ({"context": {"profile": "leen"}}, {"context.profile": "'leen'; there are: lean, balanced, agent"}),
        ({"context": {"profile_with_tools": "x"}}, {"context.profile_with_tools": "no profile is named 'x'"}),
        ({"memory": {"stale_after": "1d"}}, {"memory.stale_after": "not be shorter"}),
        ({"storage": {"keep": {"hours": "1d"}}}, {"storage.keep.hours": "not be shorter than `storage.keep.minutes`"}),
        ({"storage": {"keep": {"minutes": 0}}}, {"storage.keep.hours": "not be shorter"}),
        ({"embedding": {"base_url": "http://127.0.0.1:9"}}, {"embedding.model": "must name a model"}),
        (judged("b", api_key=KEY, price=FREE), {"reuse.intent.judge.upstream": "is named 'b'; there are: a"}),
        (judged("a", price=FREE), {"reuse.intent.judge.upstream": "never has a client's key"}),
        (judged("a", api_key=KEY), {"reuse.intent.judge.model": "the price of 'gpt-6-luna' at 'a' is not known"}),
        (judged("a", api_key=KEY, prices={"o*": FREE}), {"reuse.intent.judge.model": "set `price` there"}),
        (remembered("b"), {"memory.model.upstream": "is named 'b'; there are: a"}),
        (remembered("a", upstream_has={"price": FREE}), {"memory.model.upstream": "memory never has a client's key"}),
        (remembered("a", upstream_has={"api_key": KEY}), {"memory.model.model": "so `per_day` could not be kept"}),
        (remembered("a", context={"mode": "meter"}), {"memory.model": "`context.mode` is meter, and it needs on"}),
        (remembered("a", context={"mode": "off"}), {"memory.model": "`context.mode` is off, and it needs on"}),
        (remembered("a", memory={"facts": False}), {"memory.model": "`memory.facts` is false"}),
        (remembered("a", memory={"archive_ttl": 0}), {"memory.model": "no turn is kept"}),
        (remembered("a", storage={"kind": "off"}), {"memory.model": "`storage.kind` is off"}),
    ],
)  # fmt: skip
def test_settings_that_disagree_are_named(settings: dict[str, Any], problems: dict[str, str]) -> None:
    found = violations(Config.model_validate(settings))
    assert [path_text(problem.where) for problem in found] == list(problems)
    for problem, expected in zip(found, problems.values(), strict=True):
        assert expected in problem.text


def test_open_metrics_have_no_use_for_a_token() -> None:
    both = Config.model_validate({"server": {"open_metrics": True}, "admin": {"metrics_token": "m" * 16}})
    assert [problem.where for problem in violations(both)] == [("server", "open_metrics")]


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
