"""`olvido completion`: the scripts, tried in the shells that are there."""

import shutil
import subprocess
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.cli.completion import SHELLS

# What is typed, and some of what is offered.
TYPED = [
    ("", {"serve", "memory", "completion"}),
    ("me", {"memory"}),
    ("memory ex", {"export"}),
    ("memory files s", {"status", "sync"}),
    ("serve --po", {"--port"}),
    ("completion ", {"bash", "zsh", "fish"}),
    ("check-config oli", {"olive.yaml"}),
    ("serve --config oli", {"olive.yaml"}),
]

_BASH = """
source {script}
COMP_WORDS=(olvido {words}); [[ "{typed}" == *" " || -z "{typed}" ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
COMP_LINE="olvido {typed}" COMP_POINT=${{#COMP_LINE}}
function=$(complete -p olvido | sed -E 's/.*-F ([^ ]+).*/\\1/')
$function olvido "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "olive.yaml").write_text("")
    for shell in SHELLS:
        assert main(["completion", shell]) == 0
        (tmp_path / shell).write_text(capsys.readouterr().out)
    return tmp_path


@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_bash_completes_commands_options_values_and_files(typed: str, offered: set[str], scripts: Path) -> None:
    script = _BASH.format(script=scripts / "bash", words=typed, typed=typed)
    assert offered <= answers(["bash", "--norc", "-c", script], scripts)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_fish_completes_the_same(typed: str, offered: set[str], scripts: Path) -> None:
    script = f"source {scripts / 'fish'}; complete -C 'olvido {typed}'"
    assert offered <= {line.split("\t")[0] for line in answers(["fish", "--no-config", "-c", script], scripts)}


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_takes_its_script(scripts: Path) -> None:
    script = f'autoload -Uz compinit; compinit -D -u; eval "$(<{scripts / "zsh"})"; print $_comps[olvido]'
    (function,) = answers(["zsh", "-f", "-c", script], scripts)
    assert function.startswith("_shtab_olvido")


def test_a_shell_that_it_does_not_know_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", "cmd.exe"])
    assert ended.value.code == 2
    assert "fish" in capsys.readouterr().err


def answers(command: list[str], folder: Path) -> set[str]:
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=folder)
    return set(ended.stdout.splitlines())
