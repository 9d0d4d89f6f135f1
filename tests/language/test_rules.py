import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.rules import Rule, needs, rule
from tests.languages import EN, ES

RULES = [
    rule
    for language in (EN, ES)
    for rule in (
        *(*language.lexicon.contractions, *language.lexicon.rewrites, *language.lexicon.kinds),
        *language.frames().around,
    )
]
# What the expressions are made of, and a little more, in any order.
PIECES = sorted(
    {piece for one in RULES for piece in re.findall(r"[a-z']+", re.sub(r"\\.|\(\?", " ", one.pattern.pattern))}
    | {option for one in RULES for options in one.needs for option in options}
    | {",", "?", "w/", "accent", "x", "1"}
)


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        (r"\bno longer\b", (("no longer",),)),
        (r"ways? to", (("way",), (" to",))),
        (r"ab{2}c+d{0,1}ef*", (("ab",), ("c",))),
        (r"\b(\w+)'ve\b", (("'ve",),)),
        (r"\bi\.e\.(?= )", (("i.e.",),)),
        (r"(?:one|some) of the", ((" of the",), ("one", "some"))),
        (r"\bfewer than\b|\bless than\b", (("fewer than", "less than"),)),
        (r"what (?:do|does) .*cost", (("what ",), ("cost",))),
        (r"who(?:m|se)?", (("who",),)),
        (r"how|how many", (("how",),)),
        (r"(?:a(?:bc|bd)|xy+z)", (("bc", "bd", "xy"),)),
        (r"(?=must) (?!not)(?<=has)(?<!had)", ()),
        (r"[a-z)]+|why", ()),
        (r"(?:why)?", ()),
        (r"(?i)why", ()),
        (r"(?P<name>why)", ()),
        (r"^.$", ()),
    ],
)
def test_an_expression_needs_what_is_in_everything_that_it_matches(
    expression: str, needed: tuple[tuple[str, ...], ...]
) -> None:
    assert needs(re.compile(expression)) == needed


def test_where_the_case_is_ignored_nothing_is_needed() -> None:
    assert needs(re.compile("why", re.IGNORECASE)) == ()


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.pattern.pattern[:40])
def test_every_expression_of_the_tables_needs_something(each: Rule) -> None:
    assert each.needs


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), st.integers(0, len(RULES) - 1))
def test_what_an_expression_matches_has_what_it_needs(text: str, at: int) -> None:
    for each in (RULES[at], *RULES[at + 1 :: 7]):
        for padded in (text, f" {text} "):
            assert each.found_in(padded) == (each.pattern.search(padded) is not None)


def test_a_text_without_what_is_needed_is_told_apart() -> None:
    cost = rule(r"what (?:do|does) .*cost")
    assert cost.may_match("at what cost")
    assert not cost.found_in("at what cost")
    assert not cost.may_match("what does it take")
