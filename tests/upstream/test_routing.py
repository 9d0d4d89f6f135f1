"""Which upstream serves a model, and who stands in for it."""

import pytest

from proxy.errors import UnknownModel
from proxy.upstream.client import Upstream
from proxy.upstream.routing import Router
from tests.builders import upstream_config


def router(*, reject_unknown: bool = True) -> Router:
    configs = [
        upstream_config("kimi", models=["kimi-*", "moonshot-v1-?k"], fallback="other"),
        upstream_config("other", models=["gpt-5", "kimi-k3"], fallback="last"),
        upstream_config("last", models=["local/*"]),
    ]
    return Router([Upstream(each) for each in configs], reject_unknown=reject_unknown)


@pytest.mark.parametrize(
    ("model", "candidates"),
    [
        ("kimi-k2.6", ["kimi", "other", "last"]),
        ("kimi-k3", ["kimi", "other", "last"]),  # the first that matches, not the one that matches best
        ("kimi-", ["kimi", "other", "last"]),
        ("moonshot-v1-8k", ["kimi", "other", "last"]),
        ("gpt-5", ["other", "last"]),
        ("local/qwen/3.5", ["last"]),
    ],
)
def test_the_first_upstream_with_a_matching_pattern_serves_the_model(model: str, candidates: list[str]) -> None:
    route = router().route(model)
    assert [upstream.name for upstream in route.candidates] == candidates
    assert route.upstream is route.candidates[0]
    assert route.fallbacks == route.candidates[1:]


@pytest.mark.parametrize("model", ["gpt-5-mini", "Kimi-k3", "moonshot-v1-128k", "xkimi-k3", "*", "k"])
def test_a_model_that_nobody_serves_is_refused_with_a_list_of_those_served(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route(model)
    assert caught.value.param == "model"
    assert repr(model) in caught.value.message
    for served in ("kimi-* (kimi)", "moonshot-v1-?k (kimi)", "gpt-5 (other)", "local/* (last)"):
        assert served in caught.value.message


def test_or_goes_to_the_first_upstream_if_configured_so() -> None:
    candidates = router(reject_unknown=False).route("gpt-5-mini").candidates
    assert [upstream.name for upstream in candidates] == ["kimi", "other", "last"]


def test_a_long_name_is_quoted_in_part() -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route("m" * 10_000)
    assert len(caught.value.message) < 500


def test_upstreams_are_found_by_name_and_the_first_is_the_default() -> None:
    known = router()
    assert [known.named(name).name for name in ("kimi", "other", "last")] == ["kimi", "other", "last"]
    assert known.default is known.named("kimi")
