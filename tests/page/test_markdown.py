"""Markdown as HTML that the page's policy lets through."""

import pytest

from proxy.page.markdown import anchor, headings, rendered, tokens

TEXT = """\
# The `first` one

See [this](a.md#b), [that](gone.py) and ![a picture](p.png) but not ![another](gone.png).

## Twice
## Twice

| a | b |
|---|---:|
| 1 | 2<br>3 |
"""


def shown(text: str = TEXT) -> str:
    known = {"a.md#b": "../a.md#b", "p.png": "p.png"}
    return rendered(text, known.get, known.get).html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Memory as files, measured", "memory-as-files-measured"),
        ("Memory with a model's help", "memory-with-a-models-help"),
        ("`/ui` & more", "ui--more"),
        ("¿Y si…? Ñandú_2", "y-si-ñandú_2"),
    ],
)
def test_an_anchor_is_made_as_github_makes_it(text: str, expected: str) -> None:
    assert anchor(text) == expected


def test_headings_of_the_same_text_are_numbered() -> None:
    assert [(each.level, each.text, each.anchor) for each in headings(tokens(TEXT))] == [
        (1, "The first one", "the-first-one"),
        (2, "Twice", "twice"),
        (2, "Twice", "twice-1"),
    ]
    assert '<h2 id="twice-1">' in shown()
    assert rendered(TEXT, str, str).title == "The first one"
    assert rendered("Text.", str, str).title == ""


def test_links_and_pictures_lead_where_the_caller_says_and_what_is_not_there_is_only_named() -> None:
    told = shown()
    assert '<a href="../a.md#b">this</a>' in told
    assert "that" in told
    assert "gone" not in told
    assert '<img src="p.png" alt="a picture" loading="lazy" />' in told


def test_nothing_is_styled_in_line() -> None:
    told = shown()
    assert "style=" not in told
    assert '<td class="num">2<br>3</td>' in told
    assert '<div class="table-wrap" tabindex="0"><table class="table">' in told


def test_what_is_wide_is_scrolled_by_keys_and_an_empty_cell_is_no_heading() -> None:
    told = shown("| | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```\n")
    assert "<td></td>\n<th>b</th>" in told
    assert '<pre tabindex="0"><code class="language-sh">ls' in told
