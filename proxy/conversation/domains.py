"""What part of life a message is about, by the words that belong to one: work, code, health, travel, …

Coarse on purpose: it tells that the talk went from the server to the birthday, nothing finer. A word that several parts
of life use is in no table.
"""

from collections.abc import Mapping
from types import MappingProxyType

from proxy.language.phrases import phrases
from proxy.language.tables import union
from proxy.language.text import plain

_WORDS = MappingProxyType({name: phrases(table) for name, table in union("domains").items()})
DOMAINS = tuple(_WORDS)


def weights(text: str) -> Mapping[str, int]:
    """How many different words of each domain `text` has; those that have any."""
    said = plain(text)
    found = {name: len(set(words.findall(said))) for name, words in _WORDS.items()}
    return {name: count for name, count in found.items() if count}


def domain(text: str) -> str:
    """What `text` is clearly about: the domain with the most words; "" if there is none or two are equal."""
    found = sorted(weights(text).items(), key=lambda each: -each[1])
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return ""
    return found[0][0]
