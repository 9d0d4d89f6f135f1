"""`olvido bench`: its configuration, its report, and what is left when it ends."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
import yaml

from proxy.bench.command import ROWS, as_json, as_text, sections
from proxy.bench.load import Outcome
from proxy.bench.measuring import Row, with_needed
from proxy.cli import main
from proxy.config import ConfigError

OLVIDO = [sys.executable, "-m", "proxy", "bench"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "olvido.yaml"


# --- the configuration ------------------------------------------------------------------------------------------------


def given(file: Path, tmp_path: Path, text: str) -> dict[str, object]:
    """What each proxy gets of a configuration of this text."""
    file.write_text(text)
    return {name: yaml.safe_load(each) for name, each in sections(file, {}, tmp_path).items()}


def test_without_a_file_the_proxies_differ_in_what_they_leave_out(tmp_path: Path) -> None:
    found = {name: yaml.safe_load(each) for name, each in sections(None, {}, tmp_path).items()}
    no_vectors = {"embedding": {"enabled": False}}
    lean = {"context": {"mode": "off"}, "reuse": {"intent": {"enabled": False}}, **no_vectors}
    assert found == {"lean": lean, "words": no_vectors, "all": None}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("context: {profile: balanced}\n", {"context": {"profile": "balanced"}}),
        ("profiles: {lean: {budget: 900}}\n", {"profiles": {"lean": {"budget": 900}}}),
        ("server: {port: 1}\nadmin: {token: '${NOT_SET}'}\nstorage: {kind: 'off'}\n", None),  # the bench has its own
        ("upstreams: [{name: up, base_url: 'https://up/v1', api_key: '${NOT_SET}'}]\n", None),  # needs no key
        ("reuse: {intent: {judge: {upstream: up, model: m}, ttl: 1h}}\n", {"reuse": {"intent": {"ttl": "1h"}}}),
    ],
)
def test_a_file_gives_what_it_says_of_the_proxy_alone(text: str, kept: object, file: Path, tmp_path: Path) -> None:
    assert given(file, tmp_path, text)["all"] == kept


def test_what_a_file_says_holds_where_the_row_is_not_about_it(file: Path, tmp_path: Path) -> None:
    found = given(file, tmp_path, "context: {profile: balanced}\nembedding: {model: multilingual}\n")
    assert found["words"] == {
        "context": {"profile": "balanced"},
        "embedding": {"model": "multilingual", "enabled": False},
    }


def test_a_secret_stays_a_reference(file: Path, tmp_path: Path) -> None:
    file.write_text("embedding: {model: m, base_url: 'https://up/v1', api_key: '${KEY}'}\n")
    assert "${KEY}" in sections(file, {"KEY": "sk-secret"}, tmp_path)["all"]
    assert not any("sk-secret" in each.read_text() for each in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\ncontxt: {mode: on}\n", "line 2, contxt: unknown key; did you mean `context`?"),
        ("context: {mode: perhaps}\n", "line 1, context.mode"),
        ("context: [\n", "olvido.yaml"),
        ("- 1\n", "olvido.yaml"),
    ],
)
def test_a_wrong_file_is_refused_by_its_own_lines(text: str, told: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        given(file, tmp_path, text)
    assert str(file) in str(refused.value)
    assert told in str(refused.value)


# --- the report -------------------------------------------------------------------------------------------------------


def measured() -> list[Row]:
    """As if every server but the floor cost four times as much, and everything on answered few."""
    rows = with_needed(ROWS, lambda _row: True)
    for row in rows:
        cpu, seconds = 0.01 if row.server == "floor" else 0.04, 2.0 if row.server == "all" else 0.2
        lags = {} if row.server in ("direct", "floor") else {"0.001": 10.0, "+Inf": 10.0}
        label = "200 " if row.expected == "200" else f"200 application/json {row.expected}"
        late = 0.001 if row.server == "direct" else 0.003
        row.outcomes.append(Outcome(cpu, 1, seconds, 100, [late] * 10, {label: 110}, lags))
    return rows


def test_the_table_has_a_row_for_each_way() -> None:
    told = as_text({"machine": "one"}, measured())
    assert told.startswith("machine: one\n")
    lines = {line[:28].strip(): line[28:].split() for line in told.splitlines() if "(" in line or "  " in line}
    assert lines["floor"] == ["100", "1", "500", "2.0", "2.0"]
    for name in ("untouched", "exact hit", "stream of 30 events", "everything on", "everything on, no vectors"):
        cost, floors, least, _, most, rate, p50, p99, lag = lines[name]
        assert (cost, floors, least, most, p50, p99, lag) == ("400", "4.0", "(4.0", "4.0)", "2.0", "2.0", "1.0")
        assert rate == ("50" if name == "everything on" else "500")
    assert "upstream alone" not in lines
    assert "everything on: fewer than 100 requests/s" in told


def test_answers_of_another_kind_are_told() -> None:
    rows = measured()
    rows[2].outcomes[0].answers["500 application/json"] = 3
    assert "untouched: 3 answers were not what it is about: 500 application/json" in as_text({}, rows)


def test_the_json_has_the_numbers_of_every_round() -> None:
    told = msgspec.json.decode(as_json({"machine": "one"}, measured()))
    assert told["conditions"] == {"machine": "one"}
    assert [row["name"] for row in told["rows"]] == [row.name for row in ROWS]
    everything = next(row for row in told["rows"] if row["name"] == "everything on")
    assert everything == {
        "name": "everything on",
        "cpu_us": [pytest.approx(400)],
        "floors": [pytest.approx(4)],
        "requests_per_second": [50],
        "added_p50_ms": [pytest.approx(2)],
        "added_p99_ms": [pytest.approx(2)],
        "loop_lag_p99_ms": pytest.approx(0.99),
        "answers": {"200 application/json upstream": 110},
    }
    assert len(told["notes"]) == 1


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--rounds", "0"], ["--requests", "many"]])
def test_what_cannot_be_measured_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", *arguments])
    assert ended.value.code == 2
    assert "usage: olvido bench" in capsys.readouterr().err


def test_where_nothing_can_be_written_it_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nothing"))
    assert main(["bench"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("olvido bench: ")
    assert "nothing" in line


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_when_it_is_interrupted_nothing_is_left(sent: signal.Signals, tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    # A suite that runs in the background ignores SIGINT, and what it starts would, too.
    heard = signal.signal(sent, signal.SIG_DFL)
    try:
        starting = subprocess.Popen([*OLVIDO, "--rounds", "1"], env=environment, stdout=-1, stderr=-1)
    finally:
        signal.signal(sent, heard)
    with starting as process:
        deadline = time.monotonic() + 60
        while len(found := children(process.pid)) < 3 and time.monotonic() < deadline:  # upstream, floor, a proxy
            time.sleep(0.01)
        process.send_signal(sent)
        process.send_signal(sent)  # impatient people press it twice
        said = process.communicate(timeout=300)
    assert process.returncode == 128 + sent
    assert said == (b"", b"")
    assert len(found) >= 3
    assert not any(map(is_there, found))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_model_that_is_missing_is_told_in_one_line(file: Path, tmp_path: Path) -> None:
    file.write_text("embedding: {model: /nowhere/at/all}\n")
    command = [*OLVIDO, "--config", str(file), "--rounds", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line == "olvido bench: its embedding model cannot be used (`olvido doctor` says why)"


@pytest.mark.long
def test_it_measures_the_real_proxy(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "OLVIDO_CONFIG": ""}
    command = [*OLVIDO, "--json", "--rounds", "1", "--requests", "8"]
    ended = subprocess.run(command, capture_output=True, check=False, timeout=300, env=environment)
    assert (ended.returncode, ended.stderr) == (0, b"")  # progress is for terminals
    told = msgspec.json.decode(ended.stdout)
    assert told["conditions"]["configuration"] == "defaults"
    assert [row["name"] for row in told["rows"]] == [row.name for row in ROWS]
    for row in told["rows"]:
        assert row["cpu_us"][0] > 0
    assert not any("not what it is about" in note for note in told["notes"])
    assert list(tmp_path.iterdir()) == []
