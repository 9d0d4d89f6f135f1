"""The words by which a quotation is judged: what opens a question, a condition or a wish, what tells who speaks, when
something was, how often.

`proxy/language/<code>/support.txt` explains each table.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from proxy.language.phrases import expression
from proxy.language.tables import tables
from proxy.memory.claim_words import wording
from proxy.memory.roots import root
from proxy.memory.signals import folded
from proxy.types.memory import Language

_AS_WORDS = frozenset({"likes", "dislikes", "stops", "wanting"})  # by one word each, in any form
_JOINED = "(?:(?:y|e|and|but|pero|que|because|so|since|as|cuando|when|while|mientras|aunque|although|though)\\s+)?"
# Where the entries of a table count, if not everywhere between words.
_WHERE = {
    **dict.fromkeys(("asks", "tasks"), r"\A\W*(?:{{leads}}\W+)*{entries}(?!\w)"),
    **dict.fromkeys(
        ("clitic", "general", "general_one", "presumed", "instructs", "having", "therefore", "asks_on", "thirds"),
        r"\A\W*{entries}(?!\w)",
    ),
    "tags": r"(?:,|\s)\s*(?=\w+[\s?!.]*\Z){entries}(?!\w)",
    "pronouns": rf"\A\W*{_JOINED}{{entries}}(?!\w)",
    "known": r"(?<![\w']){entries} (?:si|if|whether)(?!\w)",
    "believed": r"(?<![\w']){entries}\W*(?:\Z|\b(?=(?:no )?{{first}}\b))",
    "is_one": r"{entries}(?!\w)",
    "opinions": r"(?<![\w']){entries}\W*\Z",
    "clefts": r"(?<![\w']){entries}\W*\Z",
}
_ANYWHERE = r"(?<![\w']){entries}(?!\w)"
_YES = re.compile(r"\bsí\b|(?:\A|(?<=[.!?,;] ))si(?=\s*[,.!;])|,\s*si(?=\W*\Z)", re.IGNORECASE)
_NOT = re.compile(r"(?:n't|n\u2019t)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The tables of a language."""

    code: Language
    patterns: dict[str, re.Pattern[str]]  # of folded text
    roots: dict[str, frozenset[str]]  # of words in any form
    opposites: tuple[frozenset[str], ...]  # folded roots of which one excludes the others

    def has(self, name: str, text: str) -> bool:
        """Tells whether folded text has an entry of a table."""
        return self.patterns[name].search(text) is not None

    def without_affirmation(self, text: str) -> str:
        """Returns folded text without "sí" and "no sé si", which look like conditions."""
        return self.patterns["known"].sub(" ", folded(_YES.sub(" ", text) if self.code == "es" else text))

    def plainly(self, text: str) -> str:
        """Returns folded text with "not" for "n't", without negations that deny nothing: "nada más"."""
        return self.patterns["no_denials"].sub(" ", _NOT.sub(" not", folded(text)))

    def is_possessed(self, noun: str, text: str) -> bool:
        """Tells whether a folded noun is called somebody else's in folded text."""
        others = self.patterns["of_others"].pattern
        noun = re.escape(noun)
        written = rf"{others} (?:\w+ )?{noun}\b" if self.code == "en" else rf"\b(?:el|la|los|las) {noun} {others}"
        return re.search(written, text) is not None


@cache
def marks(code: Language) -> Marks:
    """Returns the tables of a language."""
    found = tables(code, "support")
    patterns = {
        name: expression(found, _WHERE.get(name, _ANYWHERE).format(entries=f"(?:{{{name}}})"))
        for name in found.keys() - _AS_WORDS - {"opposites"}
    }
    roots = {name: _rooted(found[name].split("|"), code) for name in _AS_WORDS}
    opposites = tuple(_rooted(line.split("|"), code) for line in found["opposites"].splitlines())
    return Marks(code, patterns, roots, opposites)


def _rooted(entries: Iterable[str], code: Language) -> frozenset[str]:
    keep = wording(code).keep
    return frozenset(
        " ".join(each if each in keep else root(each, code) for each in entry.split()) for entry in entries
    )
