"""The tree of commands: what is told to whom asks, and to whom does not know what to ask."""

import argparse
import subprocess
import sys
from collections.abc import Iterator

import pytest

from proxy.cli import main
from proxy.cli.commands import GROUPS
from proxy.cli.parser import FIRST, tree

NAMES = [each.name for _, commands in GROUPS for each in commands]


def test_alone_it_says_what_to_begin_with_and_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    for command, text in FIRST:
        assert command in said
        assert text in said
    assert all(name in said for name in NAMES)
    assert len(said.splitlines()) <= 20
    assert max(map(len, said.splitlines())) <= 110


def test_the_help_of_all_has_a_line_for_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for _, commands in GROUPS:
        for each in commands:
            assert sum(line.split() == [each.name, *each.help.split()] for line in lines) == 1


@pytest.mark.parametrize("group", ["memory", "db"])
def test_a_group_of_commands_alone_tells_which_there_are(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([group])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"usage: olvido {group}" in said.err
    assert all(name in said.err for name in {"memory": ["list", "forget"], "db": ["upgrade", "copy"]}[group])


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["sevre"], "olvido: there is no command sevre; did you mean olvido serve?"),
        (["memory", "exprt"], "olvido memory: there is no command exprt; did you mean olvido memory export?"),
        (["zzz"], "olvido: there is no command zzz; `olvido --help` tells which there are"),
    ],
)
def test_a_command_that_is_misspelt_is_guessed(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{hint}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "--prot", "1"], "olvido serve: error: there is no option --prot; did you mean --port?"),
        (["keys", "list", "--jsn=1"], "olvido keys list: error: there is no option --jsn; did you mean --json?"),
        (["doctor", "--fly"], "olvido doctor: error: there is no option --fly; `olvido doctor --help` tells which"),
        (["keys", "create", "ana", "ben"], "olvido keys create: error: too many arguments: ben"),
    ],
)
def test_an_option_that_there_is_not_is_told_by_the_command_that_was_given_it(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert told in said
    assert f"usage: {told.partition(':')[0]} " in said


@pytest.mark.parametrize("asked", [[], ["serve"], ["keys", "create"]])
def test_help_may_be_asked_for_as_a_command(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for arguments in (["help", *asked], [*asked, "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert told[0].startswith("usage: olvido")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
def test_help_does_not_wait_for_what_commands_need(arguments: list[str]) -> None:
    code = (
        "import sys, proxy.cli\ntry: proxy.cli.main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "sys.exit(', '.join({'pydantic', 'numpy', 'starlette', 'proxy.config', 'sqlite3'} & sys.modules.keys()) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:  # noqa: SLF001 (argparse has no other way)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (as above)
            for below in action.choices.values():
                yield from parsers(below)


@pytest.mark.parametrize("parser", [*parsers(tree())], ids=lambda parser: parser.prog)
def test_every_help_can_be_rendered(parser: argparse.ArgumentParser) -> None:
    assert parser.format_help().startswith("usage: olvido")
