"""The volatile block: facts and excerpts of old turns that a question needs and the window does not hold, in the newest
user message. It is billed in full each time, so it goes with this question only (but see staying.py), and within the
savings so far, unless the question asks for the past."""

import math
from collections.abc import Sequence
from dataclasses import replace

from proxy.context import economics
from proxy.context.budget import Step, TokenBudget
from proxy.context.draft import FRAMING, Draft, Memory, Pointed
from proxy.context.folding import FoldPlanner
from proxy.conversation.blocks import volatile_block, without_summaries
from proxy.memory.current import render
from proxy.types import Excerpt, Fact, VolatileBlock

BLOCK = 24  # tokens of the tags and titles around excerpts
# Tokens of excerpts that a question about the past gets at any price, where the limit keeps the past out of the prompt.
ASKED_FOR = 500
SHARED = 0.5  # share of a request's savings for excerpts that it hardly needs
LEAST_RECALL = 60  # tokens: fewer hold no message
# Complete turns of the window that a question about the past leaves, if they take at most this share of the limit.
LEAST_TURNS = 2
LEAST_SHARE = 0.15


class VolatilePlanner(Step):
    """The volatile block of one request."""

    def __init__(self, budget: TokenBudget, memory: Memory, folds: FoldPlanner) -> None:
        super().__init__(budget, memory)
        self.folds = folds

    def with_volatile(self, draft: Draft) -> Draft:
        """Returns the draft with its block: a new one, or the previous request's while the same turn goes on."""
        state = self.state
        if state is not None and self.budget.is_same_turn:
            # The same turn goes on: the block in its user message stays.
            draft = replace(draft, volatile=state.volatile)
            return self._stated_only(replace(draft, omitted=state.omitted)) if draft.kept == state.open else draft
        return self.volatile(self._with_room(draft), self.memory.wanted)

    def _with_room(self, draft: Draft) -> Draft:
        """Returns the draft without older turns of the window, where a question about the past needs their room, for
        this one time: the next request sends them again, and the prefix cache still holds them."""
        limit, item = self.context.limit, self._pointed(self.budget.start(draft))
        if limit is None or not (self.memory.is_asked_for or item):
            return draft
        draft = self._stated_only(draft)
        wanted = item.excerpt.tokens if item else min(self.memory.wanted, max(self._allowance(draft), ASKED_FOR))
        while draft.omitted < len(draft.kept) and limit - self.budget.tokens(draft) < wanted + BLOCK:
            sent = draft.kept[draft.omitted :]
            if len(sent) <= LEAST_TURNS and sum(map(self.budget.size, sent)) <= LEAST_SHARE * limit:
                break
            draft = replace(draft, omitted=draft.omitted + 1)
        if draft.omitted and self.context.rates.breakpoints:
            return self._folded_instead(draft)
        return draft

    def _folded_instead(self, draft: Draft) -> Draft:
        """Returns the draft with the omitted turns, and what exceeds the window, folded for good: the cache finds
        nothing of a prompt whose beginning has changed, and of the next one nothing again if they came back."""
        sizes, leave = self.budget.window(draft.kept), draft.omitted
        while leave < len(sizes) - 1 and sum(sizes[leave:]) > self.case.profile.window.tokens:
            leave += 1
        return self.folds.fold(replace(draft, omitted=0, stated=None), leave)

    def _stated_only(self, draft: Draft) -> Draft:
        """Returns the draft with a head of facts alone: the same bytes as long as a turn goes on, whatever is
        learnt."""
        if draft.fold is None:
            return draft
        head = without_summaries(draft.fold.head)
        tokens = self.context.count(head) + FRAMING if head else 0
        return replace(draft, stated=replace(draft.fold, head=head, head_tokens=tokens, summaries=()))

    def volatile(self, draft: Draft, wanted: int) -> Draft:
        """Returns the draft with a new block of at most `wanted` tokens of excerpts."""
        bare = draft.without_block()
        start = self.budget.start(bare)
        limit = self.context.limit
        free = math.inf if limit is None else limit - self.budget.tokens(bare) - BLOCK
        told = {name for each in self.budget.told_from(start) for name in each.fact_ids}
        untold = [fact for fact in self.memory.relevant if fact.id not in told]
        relevant = self._payable(self.folds.unsaid(untold, start, free), bare)
        allowed: float = self._allowance(bare)
        if self.memory.is_asked_for and limit is not None and self.budget.original > limit:
            # The question asks for the past, and the limit would not let all of it be sent.
            allowed = max(allowed, ASKED_FOR + self.budget.stated(relevant))
        if self.memory.is_faint:
            allowed = min(allowed, SHARED * self._saving(bare))
        if item := self._pointed(start):
            wanted = allowed = item.excerpt.tokens + self.budget.stated(relevant)
        room = round(min(wanted, allowed, free))
        excerpts = self._recalled(room - self.budget.stated(relevant), start)
        # Facts from a message that is quoted are not repeated.
        said = {excerpt.link for excerpt in excerpts}
        unsaid = tuple(fact for fact in relevant if said.isdisjoint(fact.links))
        if unsaid != relevant:
            relevant, excerpts = unsaid, self._recalled(room - self.budget.stated(unsaid), start)
        text = volatile_block(render(relevant), excerpts, now=self.context.now, session=self.context.session)
        tokens = self.context.count(text) + FRAMING if text else 0
        stated = self.budget.stated(relevant)
        own = [each.tokens for each in excerpts if each.session == self.context.session]
        others = tokens - stated - sum(own) if len(own) < len(excerpts) else 0
        # Where nothing but whole prompts is found, what goes with its question takes the cache of all behind it along.
        keeps = bool(excerpts) and self.context.rates.breakpoints and len(own) == len(excerpts)
        ids = tuple(fact.id for fact in relevant) if keeps or not excerpts else ()
        return replace(
            bare,
            volatile=VolatileBlock(text, tokens, stated, max(0, others), self._quoted(excerpts), ids, keeps),
            recalled=excerpts,
        )

    def _quoted(self, excerpts: Sequence[Excerpt]) -> tuple[int, ...]:
        """Returns the indices of this conversation's messages that the excerpts are from."""
        if not excerpts:
            return ()
        indices = dict(zip(self.case.chain, range(self.progress.newest), strict=False))
        return tuple(sorted({indices[each.link] for each in excerpts if each.link in indices}))

    def _saving(self, draft: Draft) -> float:
        """Returns the savings of this request over pass-through, in prompt tokens."""
        rates = self.context.rates
        full = self.context.alone.least(self.budget.original, self.budget.passed_before())
        ours = rates.cost(self.budget.tokens(draft), self.budget.repeated_by(draft))
        return (full - ours) / rates.added

    def _payable(self, relevant: tuple[Fact, ...], draft: Draft) -> tuple[Fact, ...]:
        """Returns the relevant facts that are worth their price. Facts from other conversations always are:
        pass-through could not know them. Facts from this one were left out to save money: they come back for a question
        that needs the past; else as far as they are free, the most relevant first, and that one at any price where the
        question may need the past: it is one line, and without it a few hundredths of a cosine would decide whether the
        question can be answered."""
        if self.memory.wanted and not self.memory.is_faint:
            return relevant
        allowed = self._allowance(draft, regret=-economics.RESERVE, stays=True)
        chosen: list[Fact] = []
        own: list[Fact] = []
        for fact in relevant:
            if fact.session == self.context.session:
                is_first = self.memory.is_faint and not chosen
                if not is_first and self.budget.stated([*own, fact]) > allowed:
                    continue
                own.append(fact)
            chosen.append(fact)
        return tuple(chosen)

    def _recalled(self, tokens: int, start: int) -> tuple[Excerpt, ...]:
        if self.memory.pointed is None:
            found = self.memory.recall(tokens, start) if tokens >= LEAST_RECALL else ()
            told = [each.text for each in self.budget.told_from(start) if each.quoted]
            return tuple(each for each in found if not any(each.text in text for text in told)) if told else found
        item = self._pointed(start)
        return (item.excerpt,) if item is not None and item.excerpt.tokens <= tokens else ()

    def _pointed(self, start: int) -> Pointed | None:
        """Returns the list item that the question points at; None if the prompt, which holds the messages from `start`
        on, has it."""
        item = self.memory.pointed
        if item is None or item.index < start:
            return item
        shortened = self.budget.capped.get(item.index)
        return None if shortened is None or item.is_in(shortened.text) else item

    def _allowance(self, draft: Draft, *, regret: float = economics.REGRET, stays: bool = False) -> int:
        """Returns the tokens of memory that the savings so far can pay. Unless the block `stays`, the next request
        sends the newest turn without it, so the prefix cache misses that turn then, and, where there are only
        breakpoints, everything since the last one."""
        rates = self.context.rates
        repeated = self.budget.repeated_by(draft)
        lost = 0 if stays else self._missed(draft, repeated)
        again = round(lost * max(0.0, 1 - rates.cached / rates.added))
        allowed = economics.allowance(rates, self.budget.tokens(draft), repeated, self.budget.costs(), regret=regret)
        return max(0, allowed - again)

    def _missed(self, draft: Draft, repeated: int) -> int:
        return self.budget.tokens(draft) - repeated if self.context.rates.breakpoints else self.budget.newest()
