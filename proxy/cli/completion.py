"""The command `olvido completion`: the script by which a shell completes commands, options, their values and files.

The script is made from the parser by shtab, and stands on its own: completing runs no Python.
"""

import argparse
import sys
from pathlib import Path

FOLDER = "FOLDER"  # metavar of a path that is none of a file
SHELLS = ("bash", "zsh", "fish")
_HOW = """\
for this shell:         bash and zsh: eval "$(olvido completion bash)"     fish: olvido completion fish | source
for every new one:
  bash   olvido completion bash > ~/.local/share/bash-completion/completions/olvido
  zsh    olvido completion zsh > "${fpath[1]}/_olvido"
  fish   olvido completion fish > ~/.config/fish/completions/olvido.fish
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido completion` to `parser`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _HOW
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=lambda options: run(options.shell))


def run(shell: str) -> int:
    """Prints the script of a shell; returns the exit status."""
    import shtab  # noqa: PLC0415 (only this command needs it)

    from proxy.cli.parser import tree  # noqa: PLC0415 (it is made of this, among others)

    parser = tree()

    _mark_paths(parser, shtab.FILE, shtab.DIRECTORY)
    sys.stdout.write(shtab.complete(parser, shell))
    return 0


def _mark_paths(parser: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Marks every argument that is a path, of all commands, with what completes it."""
    for action in parser._actions:  # noqa: SLF001 (argparse has no other way to walk a parser; shtab does the same)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (as above)
            for below in action.choices.values():
                _mark_paths(below, file, folder)
        elif action.type is Path:
            action.complete = folder if action.metavar == FOLDER else file  # type: ignore[attr-defined]  # shtab's own
