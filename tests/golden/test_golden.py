import msgspec
import pytest

from tests.golden import outputs
from tests.golden.__main__ import found
from tests.golden.play import STORAGES, Names, prompt_lines, told

KNOWN = {"one": ["a", "  b"], "two": ["c"], "three": []}


@pytest.mark.long
@pytest.mark.parametrize("storage", STORAGES)
async def test_what_the_proxy_does_is_what_was_written_down(storage: str) -> None:
    known = outputs.read(outputs.PATH.read_text(encoding="utf-8"))
    now = outputs.read(outputs.written(await found(storage)))
    assert outputs.differing(known, now) == [], outputs.report(known, now)


def test_what_was_written_down_is_small_enough_to_be_looked_at() -> None:
    assert outputs.PATH.stat().st_size <= 300_000


def test_outputs_are_read_as_they_were_written() -> None:
    assert outputs.read(outputs.written(KNOWN)) == KNOWN


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (KNOWN, []),
        ({**KNOWN, "two": ["d"]}, ["two"]),
        ({**KNOWN, "three": ["new"], "four": []}, ["three", "four"]),
        ({name: lines for name, lines in KNOWN.items() if name != "three"}, ["three"]),
        ({}, ["one", "two", "three"]),
    ],
)
def test_outputs_differ_if_they_changed_came_or_went(found: dict[str, list[str]], names: list[str]) -> None:
    assert outputs.differing(KNOWN, found) == names


def test_a_report_counts_and_shows_the_lines_that_changed() -> None:
    assert outputs.report(KNOWN, KNOWN) == "3 outputs, 0 differ"
    said = outputs.report(KNOWN, {**KNOWN, "one": ["a", "  changed"]})
    assert said.startswith("3 outputs, 1 differ")
    assert "## one" in said
    assert "-  b\n+  changed" in said


def test_ids_become_numbers_and_moments_are_left_out() -> None:
    names = Names()
    first, second = "req_01abc", "0123456789abcdef"
    value = {"id": first, "of": [second, first], "at": 1_700_000_000.5, "total_seconds": 2.5, "n": 3, "share": 1 / 3}
    assert told(value, names) == {"id": "<1>", "of": ["<2>", "<1>"], "n": 3, "share": 0.33333}
    assert told({"again": second, "moment": 1_700_000_000}, names) == {"again": "<2>", "moment": "<time>"}


def test_of_a_prompt_the_clients_own_messages_are_told_by_their_number() -> None:
    sent = [{"role": "user", "content": text} for text in ("a", "b", "c")]
    written = {"role": "user", "content": "<memory>\nx"}
    arrived = msgspec.json.encode({"model": "m", "messages": [sent[0], written, *sent[1:]], "n": 1})
    fields, first, own, last = prompt_lines(arrived, sent)
    assert fields == '  fields: {"model":"m","n":1}'
    assert first == "  as sent: 0"
    assert own.startswith("  user ")
    assert own.endswith(": <memory>⏎x")
    assert last == "  as sent: 1 2"
