"""Prompts of memory's model: a file for each kind of job and language, of this package or of a folder of the
configuration, which replaces files by their names. A prompt is known by its name and a hash of its text, so a job's row
tells exactly what the model was told.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import get_args

from proxy.types.curation import JobKind
from proxy.types.memory import Language

BUILT_IN = Path(__file__).parent / "prompts"
LONGEST = 64 * 2**10  # bytes of a file


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
        if folder is not None and not folder.is_dir():
            raise ValueError(f"{folder} is no folder with prompts")
        self._prompts: dict[tuple[JobKind, Language], Prompt] = {}
        wrong: list[str] = []
        for kind in get_args(JobKind):
            for language in get_args(Language):
                try:
                    self._prompts[kind, language] = _read(f"{kind}.{language}", folder)
                except ValueError as error:
                    wrong.append(str(error))
        if wrong:
            raise ValueError("; ".join(wrong))

    def of(self, kind: JobKind, language: Language) -> Prompt:
        """Returns the prompt for a kind of job in a language."""
        return self._prompts[kind, language]


def _read(name: str, folder: Path | None) -> Prompt:
    own = None if folder is None else folder / f"{name}.md"
    path = own if own is not None and own.exists() else BUILT_IN / f"{name}.md"
    try:
        data = path.read_bytes()
        text = data.decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read as a prompt: {type(error).__name__}") from None
    if not text or len(data) > LONGEST:
        raise ValueError(f"{path} can't be used as a prompt: it is {'empty' if not text else 'too long'}")
    return Prompt(name, blake2b(text.encode(), digest_size=4).hexdigest(), text)
