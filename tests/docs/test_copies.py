"""The document's table of copies is that of the code. That the code's is whole: tests/storage/test_copies.py."""

from proxy.storage.copies import COPIES
from tests.docs.copies import DOCUMENT, table, whole


def test_the_document_has_the_codes_own_table() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert whole(text) == text, "run `make config-docs`"


def test_every_copy_has_a_line_that_says_how_long_it_is_kept() -> None:
    lines = table().splitlines()[2:]
    assert len(lines) == len(COPIES)
    assert all(len(line.split(" | ")) == 6 for line in lines)
