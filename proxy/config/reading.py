"""A configuration that notes which of its settings are read, so that it is known what a rule's finding rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from pydantic import BaseModel

from proxy.config.model import Config
from proxy.config.problems import schema_at
from proxy.config.source import Where


@dataclass(slots=True)
class Reads:
    """The settings that were read so far."""

    values: set[Where] = field(default_factory=set)  # with all that is in them
    entries: set[Where] = field(default_factory=set)  # mappings, of which the names were read
    sections: set[Where] = field(default_factory=set)  # of which it was seen that they are there

    def rest_on(self, gone: Where) -> bool:
        """Returns True if what was read might be otherwise had this setting not been left out. One that is not known
        counts if it may be meant for a known one that was read."""
        every = self.values | self.entries | self.sections
        if any(each[: len(gone)] == gone for each in every):
            return True
        if any(gone[: len(each)] == each for each in self.values):
            return True
        if gone[:-1] in self.entries:
            return True
        near = [str(each[-1]) for each in every if each[:-1] == gone[:-1]]
        return schema_at(gone) is None and bool(get_close_matches(str(gone[-1]).lower(), near))


def watched(config: Config, reads: Reads) -> Config:
    """Returns the configuration as rules read it, which notes what they read in `reads`."""
    return cast(Config, _Watched(config, (), reads))


class _Watched:
    """A section. One that is read twice is the same, since rules compare them."""

    def __init__(self, section: BaseModel, where: Where, reads: Reads) -> None:
        self._section, self._where, self._reads = section, where, reads
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "model_fields_set":  # what is set is looked up by the name of what is told
            return self._section.model_fields_set
        if name not in type(self._section).model_fields:
            self._reads.values.add(self._where)
            return getattr(self._section, name)
        if name not in self._known:
            self._known[name] = self._noted(getattr(self._section, name), (*self._where, name))
        return self._known[name]

    def _noted(self, value: Any, where: Where) -> Any:
        if isinstance(value, BaseModel):
            self._reads.sections.add(where)
            return _Watched(value, where, self._reads)
        if isinstance(value, tuple) and any(isinstance(each, BaseModel) for each in value):
            self._reads.sections.add(where)
            return tuple(self._noted(each, (*where, index)) for index, each in enumerate(value))
        (self._reads.entries if isinstance(value, Mapping) else self._reads.values).add(where)
        return value
