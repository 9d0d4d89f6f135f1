"""The desk of a conversation as JSON, by itself: what is cut, counted, added up and left out."""

from collections.abc import Sequence

import msgspec
import pytest

from proxy.admin import desk_json
from proxy.admin.desk_json import COUNTED_BYTES, LONGEST_TEXT
from proxy.config.memory import MemoryTools
from proxy.desk.looking import HiddenCall, HiddenRound, SeenDesk
from proxy.types import DeskTrail, LedgerRow, Trail
from proxy.types.desk import Document, Offered, TapeLine
from tests.builders import NOW, calling, ledger_row


def row(desk: DeskTrail | None, *, cost: float = 0.0, billed: int = 0) -> LedgerRow:
    told = Trail(limit=None, turns=1, kept=1, start=0, newest=0, desk=desk)
    return ledger_row(trail=told, cost=cost, tokens_billed=billed)


def document(name: str, text: str) -> Document:
    return Document(name, text, 1, NOW, "model")


def shown(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("text", "told"),
    [("", ""), ("x" * LONGEST_TEXT, "x" * LONGEST_TEXT), ("x" * (LONGEST_TEXT + 1), "x" * LONGEST_TEXT + "…")],
)
def test_a_text_is_told_without_its_end_where_it_is_long_and_not_at_all_where_none_is(text: str, told: str) -> None:
    assert desk_json.cutting(shows=True)(text) == told
    assert desk_json.cutting(shows=False)(text) is None


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], (0, 0, 0, 0.0, 0.0)),
        ([row(None, cost=1.0, billed=10)], (0, 0, 10, 0.0, 1.0)),
        # Without schemas there was nothing of ours in that prompt, however many rounds there were.
        ([row(DeskTrail(5, 9, 0.5, "low", rounds=3), cost=1.0, billed=10)], (0, 0, 10, 0.0, 1.0)),
        (
            [
                row(DeskTrail(5, 9, 0.5, "low", schemas=40, rounds=3, cost=0.25), cost=1.0, billed=200),
                row(DeskTrail(5, 9, 0.5, "low", schemas=40, rounds=1, cost=0.25), cost=2.0, billed=100),
            ],
            (2, 160, 300, 0.5, 3.0),
        ),
    ],
)
def test_schemas_are_added_up_over_all_rounds(rows: Sequence[LedgerRow], told: tuple[float, ...]) -> None:
    names = ("requests", "tokens", "of_tokens", "cost", "of_cost")
    assert desk_json.schemas(rows) == dict(zip(names, told, strict=True))


def test_of_a_large_document_tokens_are_estimated() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 7

    small, large = document("small.md", "x" * COUNTED_BYTES), document("large.md", "x" * (COUNTED_BYTES + 4))
    told = desk_json.folder([small, large], MemoryTools(), count, shown)["documents"]
    assert isinstance(told, list)
    assert [each["tokens"] for each in told if isinstance(each, dict)] == [7, COUNTED_BYTES // 4 + 1]
    assert counted == [small.text]


def test_an_offer_that_was_never_made_has_no_time_and_one_that_has_ended_says_why() -> None:
    assert desk_json.offer(SeenDesk()) == {"names": [], "language": "", "reason": "", "at": None, "ended": ""}
    ended = SeenDesk(offered=Offered("en", ("a",), "fold"), offered_at=NOW, ended="loop")
    assert desk_json.offer(ended) == {
        "names": ("a",),
        "language": "en",
        "reason": "fold",
        "at": NOW,
        "ended": "loop",
    }


@pytest.mark.parametrize("content", [None, b"no json", msgspec.json.encode(7)])
def test_of_a_line_that_cannot_be_read_there_is_no_text(content: bytes | None) -> None:
    told = desk_json.line(TapeLine(3, b"l" * 16, NOW, "tool", 7, content), shown)
    assert isinstance(told, dict)
    assert (told["message"], told["text"], told["calls"]) == (3, None, [])
    assert told["is_forgotten"] == (content is None)


def test_where_contents_are_not_shown_calls_are_told_by_their_names_alone() -> None:
    hide = desk_json.cutting(shows=False)
    told = desk_json.line(TapeLine(3, b"l" * 16, NOW, "assistant", 7, msgspec.json.encode(calling("c"))), hide)
    assert isinstance(told, dict)
    assert told["calls"] == [{"name": "look", "arguments": None}]
    call = HiddenCall("look", '{"at":"home"}', None, "ok")
    told = desk_json.round_(HiddenRound("I look.", (call,), 9), hide)
    assert told == {
        "text": None,
        "tokens": 9,
        "calls": [{"name": "look", "arguments": None, "result": None, "outcome": "ok"}],
    }
