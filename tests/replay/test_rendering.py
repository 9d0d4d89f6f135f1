"""What people and programs read."""

import msgspec
import pytest

from proxy.context.layout import ExplainedMessage, ExplainedPrompt
from proxy.replay.reading import Skipped
from proxy.replay.rendering import as_json, as_text, shown
from proxy.replay.report import Report, total
from tests.replay.test_report import replayed_one

SEEN = ExplainedMessage(3, "user", 1_200, "recalled", "the newest question needs it", "¿cuándo\x1b[31m?")
INSIDE = ExplainedPrompt((SEEN,), "<memory>", "<recalled>")
REPORT = Report(
    (
        replayed_one(model="one"),
        replayed_one(model="two", price=0.0, inside=INSIDE),
    ),
    {0.17: total([replayed_one()])},
    "v1",
)


def row(text: str, begins: str, number: int = 0) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(begins)][number].split()


def test_the_tables_say_what_was_sent_what_would_be_and_what_that_costs() -> None:
    text = as_text(REPORT, [Skipped(4, "why")])
    assert text.startswith("2 requests replayed, old turns found by words and meaning (v1); 1 line skipped\n")
    assert row(text, "one") == ["one", "1", "1", "100", "40", "60.0%", "0", "0"]
    assert row(text, "all") == ["all", "2", "1", "200", "80", "60.0%", "0", "0"]
    assert row(text, "one", 1) == ["one", "-70", "0", "0", "0", "0", "0", "+10"]
    assert row(text, "one", 2) == ["one", "$0.0001", "$0.0001", "$0.0000", "0.400", "0.400"]
    assert row(text, "two (price unknown")[-5:] == ["50", "40", "20", "0.400", "0.400"]
    assert row(text, "0.17") == ["0.17", "50", "40", "20", "0.400", "0.400"]
    assert "not simulated" in text


def test_of_one_model_there_is_no_sum() -> None:
    text = as_text(Report(REPORT.requests[:1], {}, ""), [])
    assert "all" not in {line.split()[0] for line in text.splitlines() if line}
    assert "by their words alone\n" in text
    assert "priced at so much" not in text


def test_a_prompt_is_shown_message_by_message_and_no_terminal_obeys_it() -> None:
    text = shown(REPORT.requests[1])
    assert "recalled" in text
    assert "1,200" in text
    assert "| <memory>" in text
    assert "| <recalled>" in text
    assert "\x1b" not in text
    assert shown(REPORT.requests[0]) == ""


def test_json_has_all_of_it() -> None:
    found = msgspec.json.decode(msgspec.json.encode(as_json(REPORT, [Skipped(4, "why")])))
    assert found["total"]["requests"] == 2
    assert found["total"]["ratio"] == pytest.approx(0.4)
    assert found["models"]["two"]["dollars"] is None
    assert [each["cached"] for each in found["at_ratios"]] == [0.17]
    assert found["skipped"] == [{"line": 4, "why": "why"}]
    assert found["requests"][1]["inside"]["messages"][0]["fate"] == "recalled"
    assert "inside" not in found["requests"][0]
