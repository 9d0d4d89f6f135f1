"""The example configurations are what people copy: they must be valid, short, and right about what is billed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from proxy.config import Config, load, price_for
from proxy.keys.book import KeyBook

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
EXAMPLES = sorted((DEPLOY / "examples").glob("*.yaml"))
PUBLIC = [DEPLOY / "container.yaml", DEPLOY / "examples" / "team.yaml"]


def secrets_of(path: Path) -> list[str]:
    return re.findall(r"\$\{(\w+)", path.read_text())


def loaded(path: Path, **listener: Any) -> Config:
    """With every variable that the file names."""
    return load(path, {name: f"{name}-0123456789abcdef" for name in secrets_of(path)}, **listener)


def said_defaults(model: BaseModel, where: str = "") -> Iterator[str]:
    """Settings that a file gives, and need not."""
    for name in model.model_fields_set:
        value, known = getattr(model, name), type(model).model_fields[name]
        below = value if isinstance(value, tuple) else (value,)
        for each in below:
            if isinstance(each, BaseModel):
                yield from said_defaults(each, f"{where}.{name}")
        if not known.is_required() and value == known.default:
            yield f"{where}.{name}"


@pytest.mark.parametrize("path", [*EXAMPLES, DEPLOY / "container.yaml"], ids=lambda path: path.stem)
def test_an_example_is_valid_and_gives_only_what_differs_from_the_defaults(path: Path) -> None:
    assert [name for name in said_defaults(loaded(path)) if name != ".tenancy"] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_it_is_run_and_stands_in_the_readme(path: Path) -> None:
    name = path.relative_to(ROOT)
    assert f"olvido serve --config {name}" in path.read_text()
    assert f"({path.relative_to(DEPLOY)})" in (DEPLOY / "README.md").read_text()


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: path.stem)
def test_what_containers_serve_may_be_reached_by_others(path: Path) -> None:
    served = loaded(path, host="0.0.0.0")
    assert served.admin.token is not None
    assert set(secrets_of(path)) <= set(re.findall(r"^#?(\w+)=", (DEPLOY / ".env.example").read_text(), re.MULTILINE))


def test_the_example_of_an_environment_holds_no_secret() -> None:
    given = re.findall(r"^#?(\w+)=(.*)$", (DEPLOY / ".env.example").read_text(), re.MULTILINE)
    assert [name for name, value in given if value] == ["OLVIDO_CONFIG_FILE"]
    assert (DEPLOY / dict(given)["OLVIDO_CONFIG_FILE"]).is_file()
    assert ".env" in (DEPLOY / ".gitignore").read_text().split()


@pytest.mark.parametrize(
    ("example", "upstream", "models"),
    [
        ("kimi", "kimi-k3", ["kimi-k3"]),
        ("kimi", "kimi-k2", ["kimi-k2.6", "kimi-k2.7-code"]),
        ("openai", "openai", ["gpt-6.1-sol", "gpt-6-sol", "gpt-6-luna"]),
        ("deepseek", "deepseek", ["deepseek-flash", "deepseek-v4-pro"]),
        ("fallback", "kimi", ["kimi-k3", "kimi-k2.6"]),
        ("fallback", "openai", ["kimi-k3", "kimi-k2.6"]),  # by what it answers with in their place
        ("team", "kimi", ["kimi-k2.6"]),
    ],
)
def test_what_an_example_has_billed_has_a_price(example: str, upstream: str, models: Sequence[str]) -> None:
    (entry,) = [each for each in loaded(DEPLOY / "examples" / f"{example}.yaml").upstreams if each.name == upstream]
    for model in models:
        price = price_for(entry, model)
        assert 0 < price.cached < price.input <= price.write < price.output


def test_a_team_has_names_limits_and_a_share_of_conversations_to_begin_with() -> None:
    team = loaded(DEPLOY / "examples" / "team.yaml")
    book = KeyBook(team, b"s" * 32)
    named = {key.name: (key.team, book.limits(book.tenant(key)).dollars_per_day) for key in book.all()}
    assert named == {"ana": ("design", 5.0), "ben": ("sales", 20.0)}
    assert team.limits.users.limits().has_rates
    assert 0 < team.context.canary < 1
