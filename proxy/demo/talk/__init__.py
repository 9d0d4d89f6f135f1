"""The two hundred turns that `olvido demo` plays: a spring and a summer of somebody who plans a trip with her mother,
moves a laboratory's database, has the kitchen done and a knee looked after; she states things, changes them, and asks
for them later.

The text is in files beside this module, a record a turn, apart by a blank line:

    > what the user says
    < what the model answers, where that needs no memory
    = what the answer must hold, where it needs one
    ~ what was true before and must not be in it

A line without such a sign goes on with the one before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from proxy.demo.conversation import Ask

_FIELDS = {"> ": "text", "< ": "answer", "= ": "expects", "~ ": "outdated"}


def read(source: str) -> Iterator[Ask]:
    """The turns of one file."""
    for record in source.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in record.strip().splitlines():
            if field := _FIELDS.get(line[:2]):
                name = field
                fields[name] = line[2:]
            else:
                fields[name] += f"\n{line}"
        if fields:
            said = defaultdict(str, fields)
            yield Ask(said["text"], said["expects"], answer=said["answer"], outdated=said["outdated"])


@cache
def talk() -> tuple[Ask, ...]:
    """All turns, in order."""
    files = sorted(Path(__file__).parent.glob("*.txt"))
    return tuple(ask for file in files for ask in read(file.read_text(encoding="utf-8")))


@cache
def answers() -> Mapping[str, str]:
    """Scripted answers to the messages that need no memory."""
    return {ask.text: ask.answer for ask in talk() if ask.answer}
