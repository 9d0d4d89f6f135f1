"""The demonstration: the same conversation twice, and tables of what each was billed."""

import os
import re
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proxy.cli import main
from proxy.config import Config, load
from proxy.demo import show
from proxy.demo.show import CONVERSATION, SYSTEM, WEATHER_RESULT, Ask, read, talk
from proxy.protocol.dialects import DIALECTS, Dialect
from proxy.replay.progress import Progress
from tests.replay.test_progress import Screen, lines
from tests.scripted.chat import DialectChat
from tests.scripted.config import ScriptedConfig
from tests.scripted.recording import Received
from tests.scripted.reply import Reply

ROOT = Path(__file__).parents[2]


def rows_under(said: str, *heads: str) -> dict[str, list[str]]:
    """The cells of a table, by the first of each row."""
    lines = said.splitlines()
    head = next(number for number, line in enumerate(lines) if all(title in line for title in heads))
    found = {}
    for line in lines[head + 2 :]:
        if not line.strip():
            break
        first, *cells = re.split(r"\s{2,}", line.strip())
        found[first] = cells
    return found


@pytest.mark.long
def test_the_table_compares_both_ways(printed: str) -> None:
    rows = rows_under(printed, "direct", "saved")
    requests = [int(cell) for cell in rows["requests"][:2]]
    assert requests[0] == requests[1] >= len(CONVERSATION)
    direct, proxied = (float(cell) for cell in rows["cost, US$ (prices of kimi-k2.6)"][:2])
    assert 0 < proxied < direct
    reused = [int(cell) for cell in rows["answered from memory"][:2]]
    assert reused[0] == 0 < reused[1]
    recalled = rows["facts recalled when asked"]
    assert recalled[0] == recalled[1]
    assert list(rows_under(printed, "turns", "recalled")) == ["20", "40"]


@pytest.mark.long
def test_what_is_printed_fits_a_terminal_of_80_columns(printed: str) -> None:
    assert [line for line in printed.splitlines() if len(line) > 80] == []


@pytest.mark.long
def test_the_long_one_saves_the_more_the_longer_it_gets(
    capsys: pytest.CaptureFixture[str], embedding_folder: Path
) -> None:
    assert embedding_folder.is_dir()
    assert show.run(0, stay=False) == 0
    said = capsys.readouterr().out
    lines = rows_under(said, "turns", "recalled")
    assert list(lines) == ["20", "60", "100", "200"]
    differences = [int(cells[-1].removesuffix("%")) for cells in lines.values()]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < -25
    prompt, recalled = (int(cell.replace(",", "")) for cell in lines["200"][1:3])
    assert 0 < recalled < prompt
    asked = f"{sum(bool(ask.expects) for ask in talk())}"
    assert rows_under(said, "direct", "saved")["facts recalled when asked"] == [f"{asked} of {asked}"] * 2


@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_of_it_however_it_ends(end: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from proxy.cli import main; sys.exit(main())", "demo", "--short"]
    environ = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        try:
            printed = iter(process.stdout)
            assert any(line.startswith("Ctrl-C") for line in printed)
            (folder,) = tmp_path.glob("olvido-demo-*")
            assert (folder / "olvido.yaml").is_file()
            process.send_signal(end)
            process.wait(120)
        finally:
            process.kill()
    assert list(tmp_path.iterdir()) == []


def test_commands_find_the_data_of_the_demonstration_by_the_file_that_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = {"storage": {"path": tmp_path / "storage"}, "memory": {"files": {"path": tmp_path / "memory"}}}
    upstreams = [{"name": "demo", "base_url": "http://127.0.0.1:9/v1", "dialect": "kimi"}]
    played = Config.model_validate({**sections, "upstreams": upstreams})
    file = str(show.write_configuration(played, tmp_path, 8485))
    found = load(Path(file), {})
    assert (found.server.port, found.storage.path) == (8485, tmp_path / "storage")
    assert found.memory.files is not None
    assert found.memory.files.path == tmp_path / "memory"
    (tmp_path / "storage").mkdir(mode=0o700)
    assert main(["memory", "add", "vivo en Salta", "--key", "sk-demo", "--config", file]) == 0
    assert main(["memory", "list", "--config", file]) == 0
    assert capsys.readouterr().out.count("vivo en Salta") == 2


def test_a_terminal_is_told_how_far_it_is_and_the_line_is_gone_at_the_end() -> None:
    out = Screen()
    told = show.counted(Progress(out), 3)
    for _ in range(3):
        told()
    assert lines(out) == ["1 of 3 …", "2 of 3 …", ""]


_FEW = 7  # words in a row that two answers may share
ANSWERS = [ask.answer for ask in talk() if ask.answer]


def answered(chat: DialectChat, messages: list[Any], **fields: Any) -> Any:
    body = msgspec.json.encode({"model": "demo-chat", "messages": messages, **fields})
    reply = chat.answer(Received("POST", "/v1/chat/completions", "", (("authorization", "Bearer k"),), body, 0.0))
    assert isinstance(reply, Reply)
    return msgspec.json.decode(reply.pieces[0])["choices"][0]["message"]


def play(chat: DialectChat, *, window: int | None = None) -> list[tuple[Ask, str]]:
    """The whole conversation; with `window`, the upstream gets only that many of the newest
    messages, cut anywhere."""
    system = {"role": "system", "content": SYSTEM}
    history: list[Any] = []
    heard = []
    for ask in CONVERSATION:
        if ask.alone:
            heard.append(
                (ask, answered(chat, [system, {"role": "user", "content": ask.text}], temperature=0)["content"])
            )
            continue
        history.append({"role": "user", "content": ask.text})
        fields = {"tools": list(ask.tools)} if ask.tools else {}
        message = answered(chat, [system, *history[-(window or len(history)) :]], **fields)
        if calls := message.get("tool_calls"):
            history.append(message)
            history += [{"role": "tool", "tool_call_id": call["id"], "content": WEATHER_RESULT} for call in calls]
            message = answered(chat, [system, *history], **fields)
        history.append(message)
        heard.append((ask, message["content"]))
    return heard


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
def test_with_the_whole_history_everything_that_was_told_is_remembered(dialect: Dialect) -> None:
    heard = play(DialectChat(ScriptedConfig(dialect=dialect)))
    assert len(heard) == 40
    assert [ask.text for ask, answer in heard if ask.expects not in answer] == []


def test_with_the_newest_messages_only_most_of_it_is_lost() -> None:
    asked = [(ask, answer) for ask, answer in play(DialectChat(ScriptedConfig(strict=False)), window=5) if ask.expects]
    lost = [ask for ask, answer in asked if ask.expects not in answer]
    assert len(asked) >= 10
    assert len(lost) > len(asked) / 2


def test_questions_that_come_again_stand_alone_and_are_word_for_word_the_same() -> None:
    alone = [ask.text for ask in CONVERSATION if ask.alone]
    assert len(alone) == 2 * len(set(alone)) >= 4


def test_a_tool_is_called_once() -> None:
    assert sum(bool(ask.tools) for ask in CONVERSATION) == 1


# --- the long one ---


def test_a_record_is_a_turn_and_a_line_may_go_on() -> None:
    assert list(read("> One\nand two.\n< Yes.\n\n> How much?\n= 200\n~ 100\n")) == [
        Ask("One\nand two.", answer="Yes."),
        Ask("How much?", expects="200", outdated="100"),
    ]


def test_every_turn_is_answered_or_asks_for_what_was_said_and_none_comes_twice() -> None:
    assert len({ask.text for ask in talk()}) == len(talk()) == 200
    assert all(bool(ask.answer) != bool(ask.expects) for ask in talk())
    assert len(set(ANSWERS)) == len(ANSWERS)


def test_no_two_answers_share_a_sentence() -> None:
    runs = []
    for answer in ANSWERS:
        words = answer.lower().split()
        runs.append({tuple(words[at : at + _FEW]) for at in range(len(words) - _FEW + 1)})
    assert not any(one & other for one, other in combinations(runs, 2))


def test_with_the_whole_history_everything_of_the_long_one_is_remembered() -> None:
    chat, lost = DialectChat(ScriptedConfig()), []
    history = [{"role": "system", "content": SYSTEM}]
    for ask in talk():
        history.append({"role": "user", "content": ask.text})
        message = answered(chat, history)
        history.append({"role": "assistant", "content": message["content"]})
        if ask.expects not in message["content"] or (ask.outdated and ask.outdated in message["content"]):
            lost.append(ask.text)
    assert lost == []
