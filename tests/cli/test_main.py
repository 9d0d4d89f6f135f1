"""The command `olvido`: its exit status, and what it refuses."""

import pytest

from proxy.cli import main


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("olvido 0.")


@pytest.mark.parametrize("arguments", [["fly"], ["serve", "--port", "many"], ["demo", "--fly"], ["replay"]])
def test_what_is_no_command_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: olvido" in capsys.readouterr().err


def test_a_wrong_configuration_is_told_and_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--config", "/nothing.yaml"]) in (1, 2)
    assert main(["serve", "--config", "/nothing.yaml"]) == 2
    assert "/nothing.yaml: 1 problem" in capsys.readouterr().err
