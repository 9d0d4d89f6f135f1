"""Marks of handed-over text in a message: its enclosed parts, its lines that are no sentences, the phrases around it;
and openings of role plays and announcements of a text, by which the next message has another speaker."""

import re
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.signals import folded

NAME_WORDS = 3  # words up to which a quotation is a name or a title
TAKEN = "\ufffc"  # placeholder for an enclosed character
EDGE = 4_000  # characters that are read: a longer message is mostly pasted
BLANK = re.compile(r"\n[ \t]*\n")  # between two paragraphs

_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)|```.*?(?:```|\Z)", re.DOTALL | re.MULTILINE)
# <b>, <i>, <s> and <u> only emphasise. A tag that is not closed encloses the rest only where it stands on a line of its
# own: "<Ana> hi" is a chat.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<tag>[a-z][\w:.-]{1,40}|[apq])\b[^<>\n]{0,200}>.*?</(?P=tag)\s*>"
    r"|^[ \t]*<[a-z][\w:.-]{1,40}\b[^<>\n]{0,200}>[ \t]*$.*\Z",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(
    r"\"\"\".*?(?:\"\"\"|\Z)"
    r"|\"(?:[^\"\n]|\n(?!\s*\n)){1,1500}\""
    r"|\u201c[^\u201d]{1,1500}\u201d"
    r"|\u201e[^\u201c\u201d]{1,1500}[\u201c\u201d]"
    r"|«[^»]{1,1500}»"
    r"|\{[^{}]{0,800}:[^{}]{0,800}\}"
    r"|(?<![^\W_])'(?:[^'\n]|(?<=[^\W_])'(?=[^\W_])){1,500}'(?![^\W_])"
    r"|(?<!\w)\u2018[^\u2019\n]{1,500}\u2019(?!\w)"
    r"|`[^`\n]{1,400}`",
    re.DOTALL,
)
# Lines that are not typed by hand: quoted, of a table, stamped with a time, of a chat, a log or a mail's head.
_RECORDED = re.compile(
    r"(?:^[ \t]*(?:[>|]|\[?\(?\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?[ T,]+\d{1,2}:\d\d|\[\d{1,2}:\d\d(?::\d\d)?\]"
    r"|<[\w .-]{1,30}>\s|Traceback \(|(?:cc|subject|asunto|enviado):\s)[^\n]*(?:\n|\Z))+",
    re.MULTILINE | re.IGNORECASE,
)
_LINE_SHAPES = re.compile(
    r"""
    \s*(?:
      [>|]                                                    # quoted, or a table
    | (?:[-*\u2022\u2013\u2014+\u00b7]|\d{1,2}[.)]|\[\d+\]|[a-z]\))\s+\S   # an item of a list
    | \#{1,6}(?:\S*\s|\S+$) | [=_*~-]{3,}                               # a heading, a rule
    | (?://|/\*|\*/|--\s|\#!|;;|%%|\$\s|<!--|@@|\+\+\+|---|>>>)  # comment, prompt, diff
    | \[?\(?\d{1,4}[-/.:]\d{1,2}[-/.:]\d{1,4}                  # a time
    | \d{1,6}:(?:\s|\Z) | \([^():\n]{2,30}:\s[^()\n]*\)\s*\Z     # a file's numbered line, a shell's state
    | [\w.~/:@-]{0,60}\$\s*\Z                                  # a prompt
    | <[\w .-]{1,30}>                                          # who speaks, in IRC
    | \u2014\S                                                  # who speaks, in a story
    | [^\w\s\"\'(\u00bf\u00a1\u2026\u201c\u00ab<*]\s+\S                 # any sign in front
    | [^\t\n]*\t[^\t\n]*\t                                     # a table
    | [\u2605\u2606\u2713\u2717]                               # a rating
    | (?:at\s[\w.$<>]+\(|File\s\"|Traceback|npm\s|error\b[\s:\[]|warn(?:ing)?\b[\s:\[]|info\b[\s:\[]|debug\b[\s:\[])
    | (?:from|to|cc|subject|date|sent|de|para|asunto|fecha|enviado|re|fwd?|rv):\s
    | (?:on|el)\s.{5,80}(?:wrote|escribi[oó]):\s*$
    | [a-f0-9]{7,40}\s
    | [\w$.\[\]\"'-]+\s*(?:=|:=|=>|\+=)\s*\S
    | [\w.-]+,[\w.-]+, | [^;\n]{1,40};\S[^;\n]{0,40};          # values with commas
    | [\w.$]+(?:exception|error)\b
    | (?:fuente|documento|fragmento|pasaje|texto|extracto|source|document|doc|passage|excerpt|chunk|result|snippet)
      \s*(?:[a-z]|\d+|[ivx]+)?\s*(?:\([^()\n]{1,50}\))?\s?[.:\u2014\u2013-]\s
    | [^|\n]+\s\|\s[^|\n]+\s\|\s
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE_END = re.compile(r"[;{}]\s*$|^\s*(?:def|class|if|for|while|elif|else|try|with|function)\b.*:\s*$|/>\s*$|\\\s*$")
_CODE_MARKS = re.compile(r"[{}()\[\];=<>/\\_|\"]")
_MANY_MARKS = 0.12  # of a line's characters: code, a configuration, a record
_SPEAKER = re.compile(
    r"[ \t]*(?:\[[^\]\n]{3,30}\]\s*|\(?\d{1,2}:\d\d(?::\d\d)?\)?\s*-?\s*)?"
    r"(?P<name>[^\W\d_][^\s:,;.!?]{0,24}(?:\s[^\s:,;!?]{1,20}){0,4}?)\s?(?:\([^()\n]{1,50}\))?\s?:(?:\s|$)(?P<said>.*)"
)
_UPPER = "A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1"
_SHOUTED = re.compile(rf"[ \t]*[^a-z\n]*[{_UPPER}][^a-z\n]{{6,}}$")


# The heading of a tool's output, which ends with the message, or before a last question, which is the user's.
_TOOLED = re.compile(
    r"^[ \t]*(?:\[[\w-]*[a-z][\w-]*(?:\s[^\]\n]{1,200})?\]\s*(?:result|output|resultado|salida|contents?|contenido)\b"
    r"|(?:(?:tool|function|command|shell|file|search)\s+)?(?:result|results|output|resultados?|salida)"
    r"(?:\s+(?:of|from|for|de|del)\s[^:\n]{1,80})?:(?=\s))",
    re.MULTILINE | re.IGNORECASE,
)
_ASKED = re.compile(r"\n[ \t]*\n[ \t]*[^\n.!?]{1,200}\?\s*\Z")
# A file's name or a mail's head; the content ends before a last paragraph that asks for something.
_HEADED = re.compile(
    r"^[ \t]*(?:(?:#{1,3}[ \t]*)?[\w./-]{1,80}"
    r"\.(?:md|txt|py|js|ts|json|ya?ml|toml|csv|log|html|ini|cfg|conf|sh|sql|java|go|rs)\b:?[ \t]*$"
    r"|[^.!?\n]{0,40}\s[\w/-]{1,60}\.(?:md|txt|csv|log|json|ya?ml|docx?|pdf):[ \t]*$"
    r"|(?:from|to|subject|de|para|asunto):[ \t][^\n]*\n"
    r"(?:from|to|cc|date|sent|subject|de|para|fecha|asunto|enviado):[ \t])",
    re.MULTILINE | re.IGNORECASE,
)
# Nothing is enclosed in a text without one of these.
_ENCLOSES = re.compile(
    r"[\"\u201c\u201e«`{<>|~\u2018:\[]|(?<![^\W_])'|\.[a-z]{2,4}[ \t]*$|^[ \t]*\(?\d|traceback \(",
    re.MULTILINE | re.IGNORECASE,
)
_LAST_PARAGRAPH = re.compile(r"\n[ \t]*\n(?:(?!\n[ \t]*\n).)+\Z", re.DOTALL)


def enclosed(text: str) -> list[tuple[int, int]]:
    """Returns the spans of enclosed text, in order, without overlap: code fences, tags, quotations longer than a name,
    recorded lines, the output of tools, the content of files, the context in a program's prompt."""
    return list(_enclosed(text)) if _ENCLOSES.search(text) else []


@lru_cache(64)  # each message is read three times in a row
def _enclosed(text: str) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    left, given = text, None
    for table in (_FENCE, _TAG, _RECORDED, _QUOTED):
        if table is _RECORDED:
            given = _headed(left) or _context(left)
        spans = [each.span() for each in table.finditer(left) if table is not _QUOTED or not _is_name(each.group())]
        for start, end in spans:
            left = f"{left[:start]}{TAKEN * (end - start)}{left[end:]}"
        found += spans
    if given is not None:
        found = [*(span for span in found if span[1] <= given[0] or given[1] <= span[0]), given]
    return tuple(sorted(found))


def _headed(text: str) -> tuple[int, int] | None:
    if (tool := _TOOLED.search(text)) is not None:
        asked = _ASKED.search(text, tool.end())
        return tool.start(), asked.start() if asked else len(text)
    if (heading := _HEADED.search(text)) is None:
        return None
    last = _LAST_PARAGRAPH.search(text, heading.end())
    plainly = folded(last.group()) if last else ""
    asks = "?" in plainly or HANDOVER["works"].search(plainly) is not None
    return heading.start(), last.start() if last and asks else len(text)


def _context(text: str) -> tuple[int, int] | None:
    """Returns the span from the label of the context in a program's prompt to its question; None if there is none."""
    plainly = folded(text)
    label = HANDOVER["context_label"].search(plainly)
    if label is None:
        return None
    asked = list(HANDOVER["question_label"].finditer(plainly, label.end()))
    if not asked and "\n" not in text[label.start() :].strip():
        return None
    return label.start(), asked[-1].start() if asked else len(text)


def _is_name(quoted: str) -> bool:
    return TAKEN in quoted or (len(quoted.split()) <= NAME_WORDS and "\n" not in quoted)


def is_spoken(line: str) -> bool:
    """Tells whether a line begins with the name of its speaker."""
    return _SPEAKER.match(line) is not None


def is_foreign(line: str, *, alone: bool) -> bool:
    """Tells whether a line is no sentence: a list item, code, a record, a heading. `alone`: it is the whole message."""
    said = line.strip()
    if alone:
        return said[:1] in (">", "|")
    if _LINE_SHAPES.match(line) or _CODE_END.search(said) or _SHOUTED.fullmatch(line):
        return True
    return line.startswith(("    ", "\t")) or len(_CODE_MARKS.findall(said)) > _MANY_MARKS * len(said) + 2


# Patterns of phrases around pasted text, for folded text.
_FRAMES = {
    "works": r"\b{works}",  # asks for something to be done with a text
    "makes": r"\b{makes}",  # asks for a text to be made
    "fiction": r"\b{fiction}\b",  # names a piece of fiction, whose text follows
    "points": r"\b{points}\b|\^|\u2193",  # points at a text that stands beside it
    "play": r"(?:\A|[.!?\n]\s*|,\s|:\s){play_opens}|\b{play}",  # opens a role play
    "follows": r"\b{follows}\b",  # says that the next message is a text
    "refers_back": "{refers_back}",  # begins a sentence about what stands before it
    "asks": r"[?\u00bf]|\b{asks}\b",  # asks the assistant for anything
    "brings": r"\b{brings}",  # says that somebody else's text follows
    "first_person": r"\b{first_person}\b",
    "orders": "{orders}",  # a sentence that begins with an order
    "remember": r"\b{remember}$",  # before a colon: what follows is to be remembered
    "own_label": "^{own_label}$",  # before a colon: names what the user's own words are about
    "dear": "{dear}",  # a line that opens a letter
    "mail_head": "{mail_head}",  # a line of a mail's head
    "signs_off": "{signs_off}",  # a line that ends a letter
    # In a prompt made by a program: before what it gives as context, and before the user's question.
    "context_label": r"(?:^|[.!?]\s)\s*{context_label}\s*(?: \d+)?:(?=\s)",
    "question_label": r"(?:^|[.!?)]\s)\s*{question_label}",
}
# People mix languages, and hand over English texts in Spanish: the tables of all are read.
_TABLES = union("handed_over")
HANDOVER = {name: expression(_TABLES, frame, re.MULTILINE) for name, frame in _FRAMES.items()}


def without_enclosed(text: str, mark: str = " ") -> str:
    """Replaces each enclosed character of `text` by `mark`."""
    for start, end in enclosed(text):
        text = f"{text[:start]}{mark * (end - start)}{text[end:]}"
    return text


def opens_play(text: str) -> int | None:
    """Returns the position at which a role play opens; None if none does."""
    found = HANDOVER["play"].search(folded(text))
    return found.start() + 1 if found else None


def announces_text(text: str) -> bool:
    """Tells whether a text says that another text comes in the next message, or ends in a colon that leads to one."""
    plainly = folded(text).rstrip()
    if HANDOVER["follows"].search(plainly):
        return True
    last = plainly.rpartition("\n")[2]
    if not plainly.endswith(":") or HANDOVER["own_label"].search(last[:-1]):
        return False
    return any(HANDOVER[name].search(last) for name in ("works", "points", "fiction", "brings"))


@dataclass(frozen=True, slots=True)
class Voice:
    """The speaker of the next user message: the user, a character of a role play, or an announced text."""

    is_character: bool = False  # from a role play's opening on
    is_text: bool = False  # a text that the message before announced

    @property
    def is_own(self) -> bool:
        """Tells whether the user speaks."""
        return not self.is_character and not self.is_text

    def after(self, *parts: str) -> "Voice":
        """Returns the speaker after a user message. Cached: it is asked for each old message with every request."""
        if self.is_character:
            return self
        found = [_opens_or_announces(part[:EDGE]) for part in parts]
        return Voice(is_character=any(opens for opens, _ in found), is_text=any(text for _, text in found))


@lru_cache(4_096)
def _opens_or_announces(text: str) -> tuple[bool, bool]:
    rest = without_enclosed(text)
    return opens_play(rest) is not None, announces_text(rest)
