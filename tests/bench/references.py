"""References to listed items: does the prompt hold the item that is meant, and no other? Is nothing recalled where
nothing was listed?

    python -m tests.bench.references [--misses] [--vectors]

Conversations are planned turn by turn by the proxy's own planner, in a small window, so that most lists are folded away
when they are referred to. The cases were authored before the code was written (`references.jsonl`; the answers of their
turns in `references_turns.jsonl`): those with an even number are for development, the others are held out.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.conversation.blocks import ours
from proxy.conversation.turns import archived
from proxy.pipeline import Services
from proxy.services import build
from proxy.tokens import TokenCounter
from proxy.types import Directives, Identity
from tests.bench.bypass import wilson
from tests.builders import NOW, Said, assistant, chat, config, counter, identity, incoming, links, messages, user

FOLDER = Path(__file__).parent
WINDOW = {
    "base": "lean",
    "fold": "strict",
    "budget": 500,
    "window": {"turns": 3, "min_turns": 2, "max_turns": 3, "tokens": 300},
    "summaries": {"slots": 2, "tokens": 40},
    "facts": {"tokens": 100},
}
MUST = 0.95
_ITEM = re.compile(r"\[\d+/\d+\] ")


class Turn(msgspec.Struct, frozen=True):
    """A turn that cases are made of. `names`: a mark of every item of its list, in their order."""

    kind: str
    id: str
    lang: str
    question: str
    answer: str
    names: tuple[str, ...]


class Case(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """A conversation and its last message. `turns`: ids of turns, and `fN` for so many others. `positions`: those that
    are meant in `list`; none if nothing is."""

    lang: str
    turns: str
    query: str
    list: str
    positions: tuple[int, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, and what the planned prompt has."""

    case: Case
    number: int
    held: bool  # all items that are meant
    others: bool  # other items, in the recalled block
    folded: bool  # the list's answer is not in the window
    recalled: str  # the block
    pointed: bool  # an item of a list stands in it as such
    tokens: int  # of the recalled block

    @property
    def half(self) -> str:
        return "held out" if self.number % 2 else "dev"

    @property
    def good(self) -> bool:
        if self.case.positions:
            return self.held and not self.others
        # A sentence with an ordinal in another sense may have recall like any other.
        return not (self.pointed if self.case.kind == "another sense" else self.recalled)


def turns() -> Sequence[Turn]:
    lines = (FOLDER / "references_turns.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Turn) for line in lines]


def cases() -> Sequence[Case]:
    lines = (FOLDER / "references.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Case) for line in lines]


def woven(case: Case, known: Sequence[Turn]) -> list[Turn]:
    """The turns of a case's conversation, in their order; the fillers in turn."""
    by_id = {turn.id: turn for turn in known if turn.id}
    fillers = [turn for turn in known if turn.kind == "filler" and turn.lang == case.lang]
    found: list[Turn] = []
    used = 0
    for name in case.turns.split():
        if name in by_id:
            found.append(by_id[name])
        else:
            found += [fillers[(used + at) % len(fillers)] for at in range(int(name[1:]))]
            used += int(name[1:])
    return found


@asynccontextmanager
async def planning(*, vectors: bool) -> AsyncIterator[Services]:
    settings = config(
        profiles={"small": WINDOW},
        context={"profile": "small", "profile_with_tools": "small"},
        storage={"kind": "memory"},
        embedding={"enabled": vectors},
        reuse={"intent": {"enabled": False}},
    )
    services = await build(settings)
    try:
        yield services
    finally:
        await services.close()


async def played(number: int, case: Case, known: Sequence[Turn], services: Services, count: TokenCounter) -> Outcome:
    """Plans a case turn by turn; returns what the last prompt has."""
    before = woven(case, known)
    upstream = services.router.route("m").upstream.config
    said: list[Said] = []
    session = f"case-{number}"
    for asked, answer in [*((turn.question, turn.answer) for turn in before), (case.query, "")]:
        request = chat(*said, user(asked))
        who = identity(request, person=session, session=session)
        plan = await services.planner.plan(incoming(), request, who, Directives(), upstream)
        if plan.state is not None:
            services.library.paths.keep(who.memory, who.session, who.chain[-1], plan.state)
        said += [user(asked), assistant(answer)]
        if answer:
            await learnt(said, who, services)
    sent = plan.messages or request.messages
    text = "\n".join(each.text for each in sent)
    recalled = "\n".join(block for block in ours(sent[-1].text) if block.startswith("<recalled>"))
    listed = next((turn for turn in before if turn.id == case.list), None)
    meant = [listed.names[at - 1] for at in case.positions] if listed and case.positions else []
    others = [name for turn in before for name in turn.names if name not in meant]
    return Outcome(
        case,
        number,
        held=all(name in text for name in meant),
        others=any(name in recalled for name in others),
        folded=listed is not None and listed.answer not in text,
        recalled=recalled,
        pointed=_ITEM.search(recalled) is not None,
        tokens=count.text(recalled) if recalled else 0,
    )


async def learnt(said: Sequence[Said], who: Identity, services: Services) -> None:
    """Adds the last turn to the index, as it is once it was answered."""
    all_of_it, stop = messages(*said), len(said)
    turn = archived(all_of_it, links(who.scope.id, said), stop - 2, stop, number=stop // 2, session=who.session, at=NOW)
    (await services.library.shelf(who.memory)).put(turn, None)


async def outcomes(*, vectors: bool = False) -> list[Outcome]:
    known, count = turns(), counter()
    async with planning(vectors=vectors) as services:
        return [await played(number, case, known, services, count) for number, case in enumerate(cases())]


def table(found: Sequence[Outcome]) -> Iterator[str]:
    yield f"{'':34} {'n':>3}  {'good':>4}  {'':>6}  {'95 %':>15}  folded  missing  wrong item  recalled  tokens (mean)"
    groups: Mapping[str, Sequence[Outcome]] = {
        f"{what}, {lang}, {half}": [
            each
            for each in found
            if each.case.lang == lang
            and half in ("all", each.half)
            and (kind is None or each.case.kind == kind)
            and bool(each.case.positions) == (kind is None)
        ]
        for what, kind in (
            ("an item is meant", None),
            ("nothing was listed", "nothing listed"),
            ("listed by the user", "the user's list"),
            ("another sense", "another sense"),
        )
        for lang in ("es", "en")
        for half in ("dev", "held out", "all")
    }
    for name, some in groups.items():
        good = sum(each.good for each in some)
        low, high = wilson(good, len(some))
        added = [each.tokens for each in some if each.recalled]
        yield (
            f"{name:34} {len(some):>3}  {good:>4}  {good / max(1, len(some)):>6.1%}  {low:>6.1%} … {high:>6.1%}"
            f"  {sum(each.folded for each in some):>6}  {sum(not each.held for each in some):>7}"
            f"  {sum(each.others for each in some):>10}  {len(added):>8}  {sum(added) / max(1, len(added)):>6.0f}"
        )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="the cases for development that are not good")
    parser.add_argument("--vectors", action="store_true", help="with the built-in embedding model")
    options = parser.parse_args(arguments)
    found = asyncio.run(outcomes(vectors=options.vectors))
    print(*table(found), sep="\n")
    if options.misses:
        for each in found:
            if each.half == "dev" and not each.good:
                print(
                    each.number, each.case.turns, each.case.query, each.case.positions, repr(each.recalled), sep="\n   "
                )
    meant = [each.good for each in found if each.case.positions]
    shut = [each.good for each in found if not each.case.positions]
    return 0 if sum(meant) >= MUST * len(meant) and all(shut) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
