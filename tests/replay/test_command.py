"""`olvido replay`, as it is called."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from proxy.cli import main
from proxy.context.layout import ExplainedMessage, ExplainedPrompt
from proxy.replay.command import as_json, as_text, shown
from proxy.replay.reading import Skipped
from proxy.replay.report import Report, total
from tests.replay.logs import AT, conversation, requests
from tests.replay.test_report import replayed_one

pytestmark = pytest.mark.long

CONFIG = """
upstreams: [{name: up, base_url: 'http://127.0.0.1:1/v1', dialect: kimi, price: {input: 1, cached: 0.2, output: 4}}]
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A Spanish conversation, an English one, and a line that is none."""
    path = tmp_path / "log.jsonl"
    lines = [
        msgspec.json.encode({"at": AT + 30 * number, "key": lang, "body": {"model": f"m-{lang}", "messages": told}})
        for lang in ("es", "en")
        for number, told in enumerate(requests(conversation(lang, 12)))
    ]
    path.write_bytes(b"\n".join([*lines[:3], b"{no", *lines[3:]]))
    return path


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "olvido.yaml"
    path.write_text(CONFIG + f"storage: {{path: {tmp_path / 'kept'}}}\n")
    return path


def test_it_tells_what_would_have_been_saved(log: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(log), "--config", str(config), "--no-embedding"]) == 0
    said = capsys.readouterr()
    first, second, *more = said.out.splitlines()
    assert first == "You would have paid the same: $0.00938."
    assert "26 requests in 2 conversations" in second
    assert "1 of 27 entries skipped: no JSON object (in line 4)." in more
    assert "--details" in more[-1]
    assert len(more) <= 4  # twelve turns are too few to leave any out
    assert said.err == ""  # it is no terminal
    assert not (config.parent / "kept").exists()


def test_details_are_tables_behind_the_same_first_lines(
    log: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["replay", str(log), "--config", str(config), "--no-embedding"]
    assert main(arguments) == 0
    short = capsys.readouterr().out.splitlines()
    assert main([*arguments, "--details"]) == 0
    long = capsys.readouterr().out
    assert long.splitlines()[:2] == short[:2]
    for begins in ("m-es", "m-en", "all", "Old turns were found by their words alone.", "0.17 ", "Prompt tokens only"):
        assert f"\n{begins}" in long


def test_without_a_configuration_a_model_has_its_providers_list_price(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OLVIDO_CONFIG", raising=False)
    named = tmp_path / "named.jsonl.gz"
    named.write_bytes(gzip.compress(log.read_bytes().replace(b"m-es", b"gpt-6-sol").replace(b"m-en", b"some-llama")))
    assert main(["replay", str(named), "--no-embedding"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("You would have paid the same: $0.0")
    assert "nobody knows their prices: some-llama (13 requests)" in said


def test_several_files_are_one_log(log: Path, config: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = log.read_bytes().splitlines()
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for file, part in zip(files, (lines[:9], lines[9:]), strict=True):
        file.write_bytes(b"\n".join(part))
    assert main(["replay", *map(str, files), "--config", str(config), "--no-embedding", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["conversations"] == 2


def test_the_same_as_json_and_message_by_message(log: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["replay", str(log), "--config", str(config), "--no-embedding"]
    assert main([*arguments, "--json", "--show"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["requests"] == 26
    assert found["skipped"][0]["line"] == 4
    assert len(found["at_ratios"]) == 5
    last = found["requests"][-1]
    assert len(last["inside"]["messages"]) == len(conversation("en", 12))
    assert main([*arguments, "--show"]) == 0
    shown = capsys.readouterr().out
    assert "untouched" in shown
    assert "¿Qué conviene plantar en el balcón" in shown


@pytest.mark.usefixtures("embedding_folder")
def test_old_turns_are_found_by_meaning_where_that_is_configured(
    log: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(log), "--config", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["embedding"]


@pytest.mark.parametrize("text", ["", "\n\n", "{no\n[]\n"])
def test_without_a_single_request_there_is_no_report(
    text: str, tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.jsonl").write_text(text)
    assert main(["replay", str(tmp_path / "log.jsonl"), "--config", str(config)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "no entry is a chat completion" in said.err


def test_a_file_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(tmp_path / "none.jsonl")]) == 1
    assert "none.jsonl" in capsys.readouterr().err


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
    text = as_text(REPORT)
    assert text.startswith("Old turns were found by words and meaning (v1).\n")
    assert row(text, "one") == ["one", "1", "1", "100", "40", "60.0%", "0", "0"]
    assert row(text, "all") == ["all", "2", "1", "200", "80", "60.0%", "0", "0"]
    assert row(text, "one", 1) == ["one", "-70", "0", "0", "0", "0", "0", "0", "+10", "0"]
    assert row(text, "one", 2) == ["one", "$0.0001", "$0.0001", "$0.0000", "0.400", "0.400"]
    assert row(text, "two (price unknown")[-5:] == ["50", "40", "20", "0.400", "0.400"]
    assert row(text, "0.17") == ["0.17", "50", "40", "20", "0.400", "0.400"]
    assert "not simulated" in text


def test_of_one_model_there_is_no_sum() -> None:
    text = as_text(Report(REPORT.requests[:1], {}, ""))
    assert "all" not in {line.split()[0] for line in text.splitlines() if line}
    assert "by their words alone.\n" in text
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


def test_a_log_without_an_end_is_refused(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "/dev/zero", "--most-mb", "1", "--config", str(config)]) == 1
    assert "/dev/zero: the log is longer than 1 MiB: --most-mb" in capsys.readouterr().err


def test_the_bound_is_for_all_files_together(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "part").write_bytes(b" " * 600_000)
    assert main(["replay", *[str(tmp_path / "part")] * 2, "--most-mb", "1", "--config", str(config)]) == 1
    assert "longer than 1 MiB" in capsys.readouterr().err
