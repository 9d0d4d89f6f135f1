"""The shape of a message: what is enclosed in it, and the blocks that its lines make.

A block is a paragraph, or a run of lines that are no sentences of their author's: a hole where something enclosed was
taken out, speakers, a list, code, a record, a letter from its salutation to its end.
"""

import re
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from proxy.memory.handing import HANDING, folded

HOLE = "\ufffc"  # stands where something enclosed was taken out
NAME_WORDS = 3  # a quotation of as many is a name or a title
_VERSES, _VERSE = 2, 70  # a poem has more lines than the one, and they have fewer characters than the other

_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)|```.*?(?:```|\Z)", re.DOTALL | re.MULTILINE)
# Of one letter, <b>, <i>, <s> and <u> only stress.
# A tag that nothing closes encloses the rest only where it stands on a line of its own: "<Ana> hi" is a chat.
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
# A heading by which a tool or a person sets a text into a message; it has an end of its own kind, or none.
_HEADED = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{2,80}\][^\n]{0,20}:?[ \t]*"
    r"|[<\u00ab(]{2,}[^\n]{1,80}[>\u00bb)]{2,}"
    r"|[-=_*#~]{2,}[ \t]*[^\n]{1,80}?[ \t]*[-=_*~]{2,}"
    r"|(?:@|/|\./)?[\w./-]+\.[a-z]{1,5}:?|[-=_*~]{3,})[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_ENDS = re.compile(r"\b(?:end|fin|eof|close[ds]?|/\w+)\b|\[/")
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
# Who speaks, and when: what follows, up to an empty line, is theirs.
_STAMPED = re.compile(r"[ \t]*\S[^\n]{0,40}?\s\d{1,2}:\d\d(?::\d\d)?\s?(?:[ap]\.?\s?m\.?)?\s*$", re.IGNORECASE)
_CODE_MARKS = re.compile(r"[{}()\[\];=<>/\\_|\"]")
_MANY_MARKS = 0.12  # of a line's characters: code, a configuration, a record
_SPEAKER = re.compile(
    r"[ \t]*(?:\[[^\]\n]{3,30}\]\s*|\(?\d{1,2}:\d\d(?::\d\d)?\)?\s*-?\s*)?"
    r"(?P<name>[^\W\d_][^\s:,;.!?]{0,24}(?:\s[^\s:,;!?]{1,20}){0,4}?)\s?(?:\([^()\n]{1,50}\))?\s?:(?:\s|$)(?P<said>.*)"
)
_UPPER = "A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1"
_SIGNED = re.compile(
    rf"[ \t]*(?:[-\u2013\u2014]\s*)?[{_UPPER}][\w.'\u2019-]*(?:[ ,]+[{_UPPER}(][\w.'\u2019()-]*){{0,4}}\s*$"
)
_SHOUTED = re.compile(rf"[ \t]*[^a-z\n]*[{_UPPER}][^a-z\n]{{6,}}$")


@dataclass(frozen=True, slots=True)
class Block:
    text: str
    foreign: bool  # no sentences of the author's
    marked: bool = False  # and it shows by itself where it ends


def without_enclosed(text: str) -> str:
    """`text` with a hole for each thing that is enclosed in it."""
    if "<" in text or "```" in text or "~~~" in text:
        text = _TAG.sub(_hole, _FENCE.sub(_hole, text))
    return _without_context(_QUOTED.sub(_unless_a_name, text))


def _hole(found: re.Match[str]) -> str:
    return f"\n{HOLE}\n" if "\n" in found.group() else f" {HOLE} "


def _unless_a_name(found: re.Match[str]) -> str:
    said = found.group()
    return said if len(said.split()) <= NAME_WORDS and "\n" not in said else _hole(found)


def _without_context(text: str) -> str:
    """Without what a program's prompt gives as context, up to the question that it puts."""
    plainly = folded(text)
    label = HANDING.context_label.search(plainly)
    if label is None:
        return text
    asked = list(HANDING.question_label.finditer(plainly, label.end()))
    if not asked and "\n" not in text[label.start() :].strip():
        return text
    behind = text[asked[-1].end() :] if asked else ""
    return f"{text[: label.start()]}\n{HOLE}\n{behind}"


def question(text: str) -> str:
    """What stands behind a label such as "Question:"; "" if none stands in front."""
    label = HANDING.question_label.match(folded(text))
    return text[label.end() :] if label else ""


def blocks(text: str) -> list[Block]:
    """Of a text whose enclosures are holes, in their order."""
    lines = text.split("\n")
    kinds = _without_letter(lines, _kinds(lines))
    # A line that leads over ("Summarise this:") ends its block.
    led = accumulate(line.rstrip().endswith((":", "->", "=>")) for line in ("", *lines))
    found: list[Block | None] = []
    for (kind, _), numbered in groupby(zip(kinds, led, lines, strict=False), key=lambda each: each[:2]):
        said = "\n".join(line for *_, line in numbered)
        if kind == "blank":
            found.append(None)
        elif kind == "own":
            found.append(Block(said, foreign=any(found) and _is_verse(said)))
        else:
            found.append(Block(said, foreign=True, marked=_is_marked(said)))
    # What goes on without an empty line goes on in the same voice.
    return [
        replace(block, marked=block.marked and (HOLE in block.text or not any(found[at + 1 : at + 2])))
        for at, block in enumerate(found)
        if block is not None
    ]


def _kinds(lines: list[str]) -> list[str]:
    """Of each line: "own", "foreign" or "blank"."""
    speakers = _speakers(lines)
    kinds = []
    headed = False  # under a heading, up to an empty line or to what ends it
    for at, line in enumerate(lines):
        if HANDING.question_label.match(f"{folded(line)}\n"):
            headed = False
            kinds.append("own")
        elif len(lines) > 1 and (_HEADED.match(line) or _STAMPED.match(line)):
            headed = _ENDS.search(folded(line)) is None and any(map(str.isalnum, line))
            kinds.append("foreign")
        elif not line.strip():
            kinds.append("blank")
            headed = False
        else:
            is_foreign = headed or at in speakers or _is_foreign(line, alone=len(lines) == 1)
            kinds.append("foreign" if is_foreign else "own")
    return kinds


def _is_foreign(line: str, *, alone: bool) -> bool:
    if HOLE in line and not line.replace(HOLE, "").strip(" .,:;"):
        return True
    said = line.strip()
    if alone:
        return said[:1] in (">", "|")
    if _LINE_SHAPES.match(line) or _CODE_END.search(said) or _SHOUTED.fullmatch(line):
        return True
    return line.startswith(("    ", "\t")) or len(_CODE_MARKS.findall(said)) > _MANY_MARKS * len(said) + 2


def _is_verse(text: str) -> bool:
    lines = text.split("\n")
    open_ended = sum(not line.rstrip().endswith((".", "!", "?", "\u2026")) for line in lines)
    return len(lines) > _VERSES and open_ended > len(lines) / 2 and max(map(len, lines)) < _VERSE


def _is_marked(text: str) -> bool:
    """Does every line say by itself that it is somebody else's?"""
    return all(line.startswith(("    ", "\t")) or line.lstrip()[:1] in (">", "|", HOLE) for line in text.split("\n"))


def _speakers(lines: list[str]) -> frozenset[int]:
    """Lines that somebody is named in front of. One alone may be a label of the user's own ("Thesis: …")."""
    found = [(at, named) for at, line in enumerate(lines) if (named := _SPEAKER.match(line))]
    labels = [(at, folded(named["name"])) for at, named in found]
    heads = [at for at, name in labels if not HANDING.own_label.search(name) and not question(f"{name}:")]
    if not heads or len(lines) == 1:
        return frozenset()
    return frozenset(at for at in heads if at or found[0][1]["said"].strip())


def _without_letter(lines: list[str], kinds: list[str]) -> list[str]:
    """From a salutation, or a mail's head, to what signs off, a letter is one text."""
    plain = [folded(line) for line in lines]
    starts = [
        at
        for at, line in enumerate(plain)
        if (len(lines) > 1 and HANDING.dear.match(line)) or HANDING.mail_head.match(line)
    ]
    ends = [at for at, line in enumerate(plain) if HANDING.signs_off.match(line)]
    if not starts and not ends:
        return kinds
    # Without a salutation it begins behind the paragraph that speaks to the assistant.
    blanks = [at for at, kind in enumerate(kinds) if kind == "blank"]
    begins = blanks[0] + 1 if blanks and HANDING.speaks(" ".join(plain[: blanks[0]])) else 0
    start = min(starts, default=begins)
    later = [at for at in ends if at > start]
    if later:
        end = max(later)
        while end + 1 < len(lines) and _SIGNED.match(lines[end + 1]):
            end += 1
    elif not starts:
        return kinds
    else:  # without an end of its own, up to the last paragraph
        end = blanks[-1] if blanks and blanks[-1] > start else len(lines) - 1
    return ["foreign" if start <= at <= end and kind == "own" else kind for at, kind in enumerate(kinds)]
