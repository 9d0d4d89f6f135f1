import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.phrases import Rule, expression, needs, phrases, rules
from proxy.language.words import plain
from tests.languages import EN, ES

ENTRIES = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12)


@given(ENTRIES, st.lists(st.text("abc", min_size=1, max_size=5), max_size=6))
def test_merged_entries_find_what_a_plain_search_finds(entries: list[str], message: list[str]) -> None:
    text = plain(" ".join(message))
    assert bool(phrases(" | ".join(entries)).search(text)) == bool(set(entries) & set(message))


@pytest.mark.parametrize(
    ("table", "found", "not_found"),
    [
        ("hoy | ayer", ["hoy", "ayer"], ["hoyo", "antehoy"]),
        ("(el|la) (proxim|ultim)[oa]", ["el proximo", "la ultima"], ["proximo", "el"]),
        ("(a|b(c|d)) e", ["a e", "bc e", "bd e"], ["b e", "c e"]),
        ("textos? | texto largo", ["texto", "textos", "texto largo"], ["text"]),
        ("ab?c | abd", ["ac", "abc", "abd"], ["ab"]),
        ("now(?! that )", ["now", "now what"], ["now that"]),
        ("(b )?a(c)?", ["a", "ac", "b a"], ["b", "bc"]),
        ("a\nb | c", ["a", "b", "c"], ["d"]),
    ],
)
def test_entries_are_expressions_for_whole_words(table: str, found: list[str], not_found: list[str]) -> None:
    pattern = phrases(table)
    assert all(pattern.search(plain(text)) for text in found)
    assert not any(pattern.search(plain(text)) for text in not_found)


def test_an_opening_is_found_only_where_a_sentence_begins() -> None:
    pattern = phrases("hay", opening=True)
    assert pattern.search(plain("Hola, ¿hay clases?"))
    assert not pattern.search(plain("¿Qué hay?"))


def test_names_in_an_expression_stand_for_the_entries_of_their_tables() -> None:
    pattern = expression({"animals": "cats? | {birds}", "birds": "hen | duck"}, r"\b{animals}\b.{1,3}!")

    assert [bool(pattern.search(text)) for text in ("a cat ?!", "hen !", "henna !", "a pig !")] == [
        True,
        True,
        False,
        False,
    ]


# --- rules ---------------------------------------------------------------------------------------------------------

RULES = [
    rule
    for language in (EN, ES)
    for rule in (
        *(*language.lexicon.contractions, *language.lexicon.rewrites),
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
            assert each.may_match(padded) or each.pattern.search(padded) is None


def test_a_text_without_what_is_needed_is_told_apart() -> None:
    (cost,) = rules([(r"what (?:do|does) .*cost", "price of")])
    assert cost.may_match("at what cost")
    assert not cost.may_match("what does it take")
