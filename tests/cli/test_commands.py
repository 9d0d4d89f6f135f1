"""The table of commands."""

import argparse
from pathlib import Path

import pytest

from proxy.cli.commands import GROUPS, Command, config_option, positive
from proxy.cli.parser import FIRST

COMMANDS = [each for _, commands in GROUPS for each in commands]
NAMES = [each.name for each in COMMANDS]


def test_every_command_is_named_once_and_what_to_begin_with_exists() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {command.split()[1] for command, _ in FIRST} <= set(NAMES)


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_every_command_or_each_of_its_own_says_what_runs(command: Command) -> None:
    parser = argparse.ArgumentParser()
    command.add(parser)
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001 (argparse has no other way)
    assert below or callable(parser.get_default("run"))


def test_the_configuration_is_named_by_an_option_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, named in (("", None), ("a.yaml", Path("a.yaml"))):
        monkeypatch.setenv("OLVIDO_CONFIG", given)
        parser = argparse.ArgumentParser()
        config_option(parser)
        assert parser.parse_args([]).config == named
        assert parser.parse_args(["--config", "b.yaml"]).config == Path("b.yaml")


@pytest.mark.parametrize("text", ["0", "-3", "many", ""])
def test_what_counts_something_begins_at_one(text: str) -> None:
    assert positive("1") == 1
    with pytest.raises(ValueError, match=text or "invalid"):
        positive(text)
