"""The question inside a message: without what only asks for an answer ("would you mind telling me", "le ruego me
informe sobre"), and with one form for what asks the same ("what is the best way to" and "how do I" are "how to").

It is read off folded text: lower case, no accents, contractions spelt out, one space around every word and sentence
mark. Verbs keep their form ("walk me through setting up" is "how to setting up"): they are lemmatised later.

Nothing is taken away that an answer depends on: the form that is wanted ("briefly", "step by step"), a superlative
("the cheapest way to"), who acts and when ("how did people" is no "how to"). Nor are two things made one: whoever wants
to learn French asks for something else than what French is.

The tables, `frames_en` and `frames_es`, are written as those of `patterns`:

    OPENING   holds where a sentence begins: what asks for an answer, up to what it asks for. It becomes what stands in
              angle brackets
    ANYWHERE  the forms of a question, by the one they all become
    AROUND    forms that stand on both sides of what they ask about, as expressions
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from proxy.language.detect import Language
from proxy.language.phrases import prefix_tree
from proxy.language.rules import Rule, rules
from proxy.reuse import frames_en, frames_es

_LONGEST = 1000  # characters; what is longer is no question that is put in other words
_ROUNDS = 8
_MARKS = re.compile(r" [,.?](?: [,.?])+(?= )")


@dataclass(frozen=True, slots=True)
class _Frames:
    """What finds them, and the form that each becomes: `forms[n]` if the nth group closed last."""

    pattern: re.Pattern[str]
    forms: tuple[str, ...]

    def replace(self, text: str) -> str:
        return self.pattern.sub(lambda frame: self.forms[frame.lastindex or 0], text)


@dataclass(frozen=True, slots=True)
class _Grammar:
    frames: _Frames
    around: tuple[Rule, ...]


def unframe(text: str, language: Language) -> str:
    """Folded `text` without polite, formal and colloquial frames, and its interrogatives in canonical form. Idempotent:
    what is left is framed again until nothing changes; what does not settle stays as it was, and so does a message that
    is nothing but frames."""
    if len(text) > _LONGEST:
        return text
    grammar = _grammar_of(language)
    after = f" , {' '.join(text.split())} , "
    for _ in range(_ROUNDS):
        before = after
        for rule in grammar.around:
            if rule.may_match(after):
                after = rule.pattern.sub(rule.form, after)
        after = grammar.frames.replace(after)
        after = _MARKS.sub(" ,", f" {' '.join(after.split())} ")
        if after == before:
            return after.strip(" ,.?") or text
    return text


def _grammar(opening: str, anywhere: Mapping[str, str], around: Mapping[str, str]) -> _Grammar:
    """`opening` names in <angle brackets> what a frame becomes that ends there."""
    names = [*dict.fromkeys([*re.findall("<([a-z_ ]*)>", opening), *anywhere])]
    ends = {name: chr(0xE000 + at) for at, name in enumerate(names)}  # a character of no text, and no syntax either
    opening = re.sub("<([a-z_ ]*)>", lambda end: ends[end[1]], opening)
    tree = prefix_tree(*(re.sub(r" *(?=\n| \| |$)", ends[name], table.strip()) for name, table in anywhere.items()))
    expression = re.sub(r"\((?!\?)", "(?:", f" (?:(?<=[.?,] )(?:{opening})|{tree})(?= )")
    forms = [f" {names[ord(end) - 0xE000]}" for end in re.findall("[\ue000-\uf8ff]", expression)]
    return _Grammar(
        frames=_Frames(re.compile(re.sub("[\ue000-\uf8ff]", "()", expression)), ("", *forms)),
        around=rules(around.items()),
    )


@cache  # compiled when the first question needs it: at import it would cost every start 0.6 s
def _grammar_of(language: Language) -> _Grammar:
    tables = frames_en if language == "en" else frames_es
    return _grammar(tables.OPENING, tables.ANYWHERE, tables.AROUND)
