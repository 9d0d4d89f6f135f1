"""How well small talk is told from what constrains an answer, on parts of messages written for it.

    python -m tests.bench.fillers [--misses]

`fillers.jsonl` holds, for each language, 450 pieces of small talk and 450 of context. The tables of
`proxy.language` were written with three quarters of them in view; the rest is held out. A question is read clause
by clause: so of small talk the clauses are counted, of context the whole pieces. Bounds are Wilson's, 95 %.
"""

import re
import sys
from pathlib import Path
from typing import Literal, get_args

import msgspec

from proxy.language.detect import Code
from proxy.language.language import language_of
from proxy.reuse.small_talk import is_small_talk
from tests.bench.bypass import wilson

DATA = Path(__file__).with_name("fillers.jsonl")
CLAUSE = re.compile(r"[^,]*\w[^,]*")


class Row(msgspec.Struct, frozen=True):
    lang: Code
    kind: Literal["filler", "context"]
    text: str
    held_out: bool


def main(*, misses: bool) -> None:
    rows = [msgspec.json.decode(line, type=Row) for line in DATA.read_bytes().splitlines()]
    print(f"{'lang':6}{'kind':10}{'held out':10}{'n':>5}{'taken for filler':>20}{'95 %':>18}")
    for language in get_args(Code):
        for kind in ("context", "filler"):
            for held_out in (False, True):
                texts = [row.text for row in rows if (row.lang, row.kind, row.held_out) == (language, kind, held_out)]
                asked = texts if kind == "context" else [clause for text in texts for clause in CLAUSE.findall(text)]
                taken = [text for text in asked if is_small_talk(text, language_of(language))]
                low, high = wilson(len(taken), len(asked))
                print(
                    f"{language:6}{kind:10}{'yes' if held_out else 'no':10}{len(asked):5}"
                    f"{len(taken) / len(asked):20.1%}{f'{low:.1%} to {high:.1%}':>18}"
                )
                if misses and not held_out:
                    wrong = taken if kind == "context" else [text for text in asked if text not in taken]
                    print(*(f"    {text}" for text in wrong), sep="\n")


if __name__ == "__main__":
    main(misses="--misses" in sys.argv[1:])
