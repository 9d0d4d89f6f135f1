"""Applications for a terminal that are tried: their command, and where their configuration goes. What is in it, and
which variables are set, is what the document says."""

import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.trying import Place, Tried, execute
from tests.docs.documents import Block

QUESTION = "Why is the sky blue?"

_EXPORT = re.compile(r"^export (.+)$", re.MULTILINE)
# They would look for newer versions of themselves, or tell home how they are used.
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CONTINUE_TELEMETRY_ENABLED": "0",
    "DISABLE_AUTOUPDATER": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


@dataclass(frozen=True, slots=True)
class Application:
    """A program that is asked one question."""

    section: str  # of the document
    command: Sequence[str]  # its first word is looked for in node_modules/.bin, then where pip put it
    file: str = ""  # place of its configuration below home; "": it has none
    extra: Mapping[str, str] = field(default_factory=dict)


APPLICATIONS = (
    Application(
        "aider",
        ("aider", "--model", "openai/kimi-k2.6", "--no-check-update", "--no-show-model-warnings", "--yes-always",
         "--analytics-disable", "--no-show-release-notes", "--message", QUESTION),
    ),
    Application("OpenCode", ("opencode", "run", "-m", "olvido/kimi-k2.6", QUESTION), "opencode.json"),
    Application("Continue", ("cn", "--config", "config.yaml", "-p", QUESTION), "config.yaml"),
    Application("Claude Code", ("claude", "-p", QUESTION)),
    Application("Codex", ("codex", "exec", "--skip-git-repo-check", QUESTION), ".codex/config.toml"),
)  # fmt: skip


def run(application: Application, blocks: Sequence[Block], place: Place, programs: Sequence[Path]) -> Tried:
    """Asks an application its question, set up as its section says. `programs`: folders of executables."""
    own = [block for block in blocks if block.section == application.section]
    if application.file:
        (settings,) = [block for block in own if block.language != "sh"]
        file = place.folder / application.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(place.here(settings.text), encoding="utf-8")
    exports = _exports(own, place)
    program, *arguments = application.command
    found = next(folder / program for folder in programs if (folder / program).exists())
    if not (place.folder / ".git").exists():
        subprocess.run(["git", "init", "--quiet", str(place.folder)], check=True)
    return execute([str(found), *arguments], place, {**_QUIET, **exports})


def _exports(blocks: Sequence[Block], place: Place) -> Mapping[str, str]:
    said = " ".join(
        each for block in blocks if block.language == "sh" for each in _EXPORT.findall(place.here(block.text))
    )
    pairs = (word.partition("=") for word in shlex.split(said))
    return {name: value for name, _, value in pairs}
