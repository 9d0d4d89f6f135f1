"""Settings that agree, and those that do not."""

from typing import Any

import pytest

from proxy.config.model import Config
from proxy.config.rules import violations
from proxy.config.source import path_text

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
