"""The table itself: complete, readable, frozen."""

import dataclasses
import string
from typing import get_args

import pytest

from proxy.config import Upstream
from proxy.protocol.dialects import DIALECTS, Dialect, Rule

RULES = frozenset(get_args(Rule))
DETAILS = {"count", "id", "ids", "position", "previous", "role"}  # what a text may mention
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())


def test_there_is_a_row_for_every_dialect_that_the_configuration_offers() -> None:
    assert set(DIALECTS) == set(get_args(Upstream.model_fields["dialect"].annotation))


@every_dialect
def test_a_row_cannot_be_changed(dialect: Dialect) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        dialect.name = "other"  # type: ignore[misc]  # the assignment that must fail
    with pytest.raises(TypeError):
        dialect.refuses["no_messages"] = ""  # type: ignore[index]  # same


@every_dialect
def test_every_text_is_for_a_known_rule_and_mentions_known_details(dialect: Dialect) -> None:
    assert set(dialect.refuses) <= RULES
    for text in dialect.refuses.values():
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= DETAILS


def test_every_rule_is_somebodys() -> None:
    assert {rule for dialect in DIALECTS.values() for rule in dialect.refuses} == RULES


@every_dialect
def test_every_dialect_refuses_orphans_and_unanswered_calls(dialect: Dialect) -> None:
    assert {"no_messages", "orphan_result", "unanswered_call"} <= set(dialect.refuses)


@every_dialect
def test_a_rule_that_needs_a_parameter_has_it(dialect: Dialect) -> None:
    needs = {
        "too_many_tools": dialect.max_tools,
        "empty_content": dialect.nonempty,
        "prefill_followed": dialect.prefill,
        "role_order": dialect.followers,
        "missing_reasoning": dialect.reasoning != "optional",
    }
    for rule, parameter in needs.items():
        assert (rule in dialect.refuses) == bool(parameter), rule


@pytest.mark.parametrize(
    ("name", "include_usage", "usage_unasked", "reasoning"),
    [
        ("kimi", True, True, "with_calls"),
        ("openai", True, False, "optional"),
        ("deepseek", True, False, "with_call_turns"),
        ("mistral", False, True, "optional"),
        ("vllm", True, False, "optional"),
        ("generic", False, False, "optional"),
    ],
)
def test_what_each_upstream_knows(name: str, *, include_usage: bool, usage_unasked: bool, reasoning: str) -> None:
    dialect = DIALECTS[name]
    assert (dialect.include_usage, dialect.usage_unasked, dialect.reasoning) == (
        include_usage,
        usage_unasked,
        reasoning,
    )


def test_only_kimi_fixes_the_sampling() -> None:
    assert [name for name, dialect in DIALECTS.items() if dialect.fixed_sampling] == ["kimi"]
    assert DIALECTS["kimi"].fixed_sampling["temperature"] == 1
