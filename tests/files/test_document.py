"""MEMORY.md is lines: those that are facts are read, all others stay as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files.document import Bullet, Document, Note, domain_of, one_line, parse, rendered, with_added, written

TEXT = """# Memory

A word of mine.

## work

- I work at Initech <!-- o:7k2x -->
* I sit in Lima
  since May

## My  Garden ##
- [ ] roses
```
- no fact
```

<!-- olvido 12 -->
"""


def test_bullets_are_facts_of_the_heading_above_them() -> None:
    found = parse(TEXT)
    assert [(each.text, each.code, each.domain) for each in found.bullets] == [
        ("I work at Initech", "7k2x", "work"),
        ("I sit in Lima since May", None, "work"),
        ("[ ] roses", None, "my-garden"),
    ]
    assert found.number == 12


def test_it_is_written_as_it_was() -> None:
    assert rendered(parse(TEXT)) == TEXT


@pytest.mark.parametrize(
    "text",
    ["", "\n", "-", "- ", "- \n", "1. one", "> - quoted", "- <!-- o:7k2x -->", "## self_correction\n- I was wrong",
     "````\n```\n- in a fence\n````", "<!-- olvido x -->", f"- {'a' * 2_001}", "<<<"],
)  # fmt: skip
def test_other_lines_are_no_facts(text: str) -> None:
    assert parse(text).bullets == []


def test_a_title_ends_a_section() -> None:
    assert [each.domain for each in parse("## work\n- a\n# Other\n- b\n").bullets] == ["work", ""]


def test_the_first_line_may_ask_for_a_confirmation_and_get_it() -> None:
    text = rendered(Document((Note("rest"),), 3), "12 of 30 lines are gone.")
    asked = parse(text)
    assert (asked.is_waiting, asked.is_confirmed, asked.lines) == (True, False, (Note("rest"), Note("")))
    assert parse(text.replace("[ ]", "[x]")).is_confirmed
    assert rendered(asked) == "rest\n\n<!-- olvido 3 -->\n"


@given(st.text())
def test_any_text_is_read_and_written_without_a_loss(text: str) -> None:
    once = rendered(parse(text))
    assert rendered(parse(once)) == once
    assert parse(once).bullets == parse(text).bullets


@given(st.text(max_size=3_000), st.sampled_from(["7k2x", "7k2xabcdefgh2"]))
def test_a_fact_is_one_line_that_is_read_as_it_was_written(value: str, code: str) -> None:
    text = one_line(value)
    assert one_line(text) == text
    if text:
        bullet = written(Bullet(text, None, "work"), text, code)
        assert [(each.text, each.code) for each in parse(f"## work\n{bullet.raw}\n").bullets] == [(text, code)]


@pytest.mark.note("Extender/3", "Rumi ADR/2")
@given(st.text(max_size=200))
def test_a_domain_has_a_heading_that_names_it(domain: str) -> None:
    name = domain_of(domain)
    assert domain_of(name) == name
    lines = with_added((), [Bullet("a", "7k2x", name, "- a <!-- o:7k2x -->")], ())
    assert [each.domain for each in parse(rendered(Document(lines))).bullets] == [name] or name == "self_correction"


def test_what_is_added_stands_at_the_end_of_its_section_or_in_a_new_one() -> None:
    new = [Bullet("x", None, domain, f"- x {domain}") for domain in ("work", "zoo", "personal")]
    lines = with_added(parse("## work\n\n- a\n\nmine\n\n## empty\n\n").lines, new, ("personal", "work"))
    assert rendered(Document(lines)) == (
        "## work\n\n- a\n- x work\n\nmine\n\n## empty\n\n## personal\n\n- x personal\n\n## zoo\n\n- x zoo\n"
    )
