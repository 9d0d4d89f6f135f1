import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.lists import MOST_READ, ListedItem, listed, lists

LISTS = [
    ("1. Uno\n2. Dos", ["Uno", "Dos"]),
    ("1) Uno: barato\n2) Dos: caro", ["Uno", "Dos"]),
    ("(1) Uno\n(2) Dos", ["Uno", "Dos"]),
    ("1.- **Uno** (2011): x\n2.- **Dos** (2012): y", ["Uno", "Dos"]),
    ("**1. Uno**\nx\n\n**2. Dos**\ny", ["Uno", "Dos"]),
    ("**1.** Uno\n**2.** Dos", ["Uno", "Dos"]),
    ("## 1. Uno\nx\n\n## 2. Dos\ny", ["Uno", "Dos"]),
    ("1️⃣ Uno\n2️⃣ Dos", ["Uno", "Dos"]),
    ("1. Uno\n1. Dos\n1. Tres", ["Uno", "Dos", "Tres"]),
    ("- **Uno**: x\n- [Dos](https://x.org): y", ["Uno", "Dos"]),
    ("* Uno — x\n\n* Dos — y", ["Uno", "Dos"]),
    ("• Uno, con x\n• Dos. Y más.", ["Uno", "Dos"]),
    ("- [ ] Uno\n- [x] Dos", ["Uno", "Dos"]),
    ("| # | Bar |\n|---|---|\n| 1 | Uno |\n| 2 | Dos |", ["Uno", "Dos"]),
    ("Bar | Precio\n---|---\nUno | 2\nDos | 3", ["Uno", "Dos"]),
    ("**Uno**\nx\n\n**Dos**\ny", ["Uno", "Dos"]),
    ("**Uno:** x\n**Dos:** y", ["Uno", "Dos"]),
    ("**Uno**\n- x\n- y\n\n**Dos**\n- z\n- w", ["Uno", "Dos"]),
    ("### Uno\nx\n### Dos\ny\n### Tres\nz", ["Uno", "Dos", "Tres"]),
    ("### Uno\n- x\n- y\n### Dos\n- z\n- w\n### Tres\n- v\n- u", ["Uno", "Dos", "Tres"]),
    ("Uno: x\nDos: y\nTres: z", ["Uno", "Dos", "Tres"]),
    # One list and what is below its items.
    ("1. Uno\n   - x\n   - y\n2. Dos\n   - z", ["Uno", "Dos"]),
    ("1. Uno\n- x\n- y\n2. Dos\n- z", ["Uno", "Dos"]),
    ("1. Uno\n\nx\n\n2. Dos\n\ny", ["Uno", "Dos"]),
    ("1. Uno\n   1. x\n   2. y\n2. Dos", ["Uno", "Dos"]),
    # Two lists.
    ("- a\n- b\n\nTambién:\n\n- c\n- d", ["a", "b", "c", "d"]),
    ("Bares:\n1. a\n2. b\nHoteles:\n1. c\n2. d", ["a", "b", "c", "d"]),
    ("## Pros\n- a\n- b\n## Cons\n- c\n- d", ["a", "b", "c", "d"]),
    # None.
    ("", []),
    ("Prosa sin lista. Segunda frase.", []),
    ("- una sola", []),
    ("1. una sola\n\nY prosa.", []),
    ("Fue en\n1810. Y después\n1816. Nada más", []),
    ("---\n***\n---", []),
    ("```\n- a\n- b\n```", []),
    ("**Nota:** una cosa.\n\nY prosa.", []),
    ("Nota: una cosa.\nY prosa.\nOtra: más.", []),
    ("a | b\nc | d", []),
]


@pytest.mark.note("v2 Buffer/8")
@pytest.mark.parametrize(("text", "names"), LISTS)
def test_the_items_of_lists_are_found(text: str, names: list[str]) -> None:
    assert [item.name for item in listed(text)] == names


def test_an_item_has_its_own_lines_its_position_and_the_number_of_its_list() -> None:
    text = "Bares:\n1. **a**: x\n   - y\n2. b\n\nHoteles:\n- c\n- d\n\n¿Algo más?"
    assert listed(text) == (
        ListedItem("a", 1, "1. **a**: x\n   - y", 0),
        ListedItem("b", 2, "2. b", 0),
        ListedItem("c", 1, "- c", 1),
        ListedItem("d", 2, "- d", 1),
    )


def test_a_list_has_the_line_before_it_and_a_table_its_header() -> None:
    found = lists("Hola.\n\nEstos bares:\n\n- a\n- b\n\nO estos:\n| Bar | € |\n|---|---|\n| c | 2 |\n| d | 3 |")
    assert [each.lead for each in found] == ["Estos bares:", "O estos:\n| Bar | € |"]
    assert [each.form for each in found] == ["bulleted", "table"]


def test_paragraphs_between_items_belong_to_them_and_the_last_one_has_one_too() -> None:
    found = listed("1. a\n\nx\n\n2. b\n\ny\n\n¿Algo más?")
    assert [item.text for item in found] == ["1. a\n\nx", "2. b\n\ny"]


def test_authored_lists_are_found_whole_and_prose_has_none() -> None:
    path = Path(__file__).parents[1] / "bench" / "references_turns.jsonl"
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        items = listed(row["answer"])
        assert len(items) == len(row["names"])
        for item, name in zip(items, row["names"], strict=True):
            assert name in item.text


LINE = st.sampled_from(
    ["1. a", "2. b", "- c", "  - d", "", "x", "| a | b |", "|---|---|", "**e**", "## f", "g: h", "```"]
)


@given(st.lists(LINE | st.text(max_size=8), max_size=20).map("\n".join))
def test_every_list_has_two_items_or_more_each_verbatim_from_the_text(text: str) -> None:
    lines = text.splitlines()
    for number, each in enumerate(lists(text)):
        assert len(each.items) > 1
        for position, item in enumerate(each.items, 1):
            assert (item.position, item.list) == (position, number)
            assert set(item.text.splitlines()) <= {*lines, *(line.rstrip() for line in lines)}


def test_what_is_longer_than_a_message_is_not_read() -> None:
    assert not listed("x" * MOST_READ + "\n1. a\n2. b")
