"""Prompts of memory's model: a file for each kind of job and language, of this package or of a folder of the
configuration, which replaces files by their names. A prompt is known by its name and a hash of its text, so a job's row
tells exactly what the model was told.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import get_args

from proxy.config.texts import read_texts
from proxy.types.curation import JobKind
from proxy.types.memory import Language

BUILT_IN = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions for one kind of job, in one language."""

    name: str  # "extract.es"
    version: str  # 8 hex digits: a hash of the text
    text: str

    @property
    def label(self) -> str:
        """Name and version, as a job's row has them."""
        return f"{self.name} {self.version}"


class Prompts:
    """All prompts, read once."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: has files that replace built-in ones by their names. Raises ValueError, with the name of the file,
        for one that can't be used."""
        keys = [(kind, language) for kind in get_args(JobKind) for language in get_args(Language)]
        files = {key: f"{key[0]}.{key[1]}.md" for key in keys}
        texts = read_texts(files.values(), folder, built_in=BUILT_IN, one="a prompt", many="prompts")
        self._prompts = {key: _prompt(name.removesuffix(".md"), texts[name]) for key, name in files.items()}

    def of(self, kind: JobKind, language: Language) -> Prompt:
        """Returns the prompt for a kind of job in a language."""
        return self._prompts[kind, language]


def _prompt(name: str, text: str) -> Prompt:
    return Prompt(name, blake2b(text.encode(), digest_size=4).hexdigest(), text)
