"""Bytes of a database as other programs read them. That no column is left out: tests/storage/test_copies.py; whole
exports: test_export.py."""

import pytest

from proxy.cli.exporting import BYTES
from proxy.context import layout
from proxy.storage.stores.desk_payloads import packed
from proxy.types import Fates
from proxy.types.desk import Mark


def test_fates_of_messages_are_told_by_name() -> None:
    told = BYTES["contents", "fates"](layout.pack(Fates(1, 2, 3, 4, head="what was said")))
    assert (told["preamble"], told["newest"], told["head"]) == (1, 4, "what was said")
    assert BYTES["contents", "fates"](b"") is None


def test_an_event_of_a_desk_is_told_by_name() -> None:
    told = BYTES["desk_events", "payload"](packed(Mark("range", (b"l" * 16,), 1, 2, "what was said")))
    assert (told["kind"], told["links"], told["text"]) == ("range", ["6c" * 16], "what was said")


@pytest.mark.parametrize("column", ["body", "sent", "answer"])
def test_contents_are_json_or_text(column: str) -> None:
    read = BYTES["contents", column]
    assert read(b'{"a": [1]}') == {"a": [1]}
    assert read("no JSON: ñ".encode()) == "no JSON: ñ"
    assert read(b"") is None


def test_texts_of_a_pair_are_a_list() -> None:
    assert BYTES["quality", "texts"](b'["q","m","o",""]') == ["q", "m", "o", ""]


def test_a_link_is_hex() -> None:
    assert BYTES["archive", "link"](b"\x01\xff") == "01ff"
