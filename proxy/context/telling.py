"""The account of a finished draft: the fate of each message, the tokens that each mechanism has saved or added, and
the trail for the page and the logs."""

from proxy.context.budget import Step
from proxy.context.draft import Draft
from proxy.types import Fates, Fold, Mechanisms, RecalledLine, Trail


class DraftTeller(Step):
    """Tells what was done to the prompt of one request."""

    def fates(self, draft: Draft) -> Fates:
        """Returns the fate of each message."""
        fold = draft.fold or Fold(self.progress.preamble)
        start = self.budget.start(draft)
        return Fates(
            preamble=self.progress.preamble,
            left=fold.start,
            start=start,
            newest=self.progress.newest,
            instructions=self.budget.instructions(draft),
            capped=tuple([index for index in self.budget.capped if index >= start]),
            markers=tuple([index for index in self.budget.markers if index >= start]),
            quoted=draft.volatile.quoted,
            summaries=tuple([(each.first_turn, each.last_turn) for each in fold.summaries]),
            head=fold.head,
            volatile=draft.volatile.text,
            told=tuple([each.index for each in self.budget.told_from(start)]),
            removed=tuple(sorted(self.budget.changes.removed)),
            rewritten=tuple(sorted(self.budget.changes.replaced)),
        )

    def mechanisms(self, draft: Draft, fates: Fates) -> Mechanisms:
        """Returns the tokens that each mechanism has saved or added."""
        progress, saved, stated = self.progress, self.budget.saved, draft.stated_tokens
        edited = (index for index in (*fates.removed, *fates.rewritten) if index >= fates.start)
        gone = sum(self.context.desk.view.ours[: fates.start]) if self.context.desk is not None else 0
        return Mechanisms(
            window=progress.before
            - gone
            - progress.preamble_tokens
            - (self.budget.prefix(draft) - self.case.overhead - progress.preamble_tokens)
            - sum(turn.tokens for turn in draft.kept[draft.omitted :]),
            capped=sum([saved[index] for index in fates.capped]),
            tools=sum([saved[index] for index in fates.markers]),
            pruned=sum([saved[index] for index in edited]),
            summaries=max(0, draft.head - stated - draft.desk_tokens),
            facts=stated + draft.volatile.facts + self.budget.told_in(draft),
            recall=draft.volatile.tokens - draft.volatile.facts + self.budget.quoted_in(draft),
            desk=draft.desk_tokens + self.case.added - gone,
        )

    def trail(self, draft: Draft, fates: Fates) -> Trail:
        """Returns what the decisions were made on."""
        fold, topic = draft.sent_fold, self.progress.topic
        return Trail(
            limit=self.context.limit,
            turns=self.progress.turns,
            kept=len(draft.kept) - draft.omitted,
            start=fates.start,
            newest=fates.newest,
            head=draft.head,
            summaries=len(fold.summaries) if fold else 0,
            facts=len(fold.fact_ids) if fold else 0,
            volatile=draft.volatile.tokens,
            recalled=tuple(
                RecalledLine(each.session, each.turn, each.role, each.tokens, round(each.score, 3))
                for each in draft.recalled
            ),
            capped=fates.capped,
            markers=fates.markers,
            shift=topic.shift,
            continuity=topic.continuity,
            domain=topic.domain,
            break_even=draft.weighed,
            profile=self.context.profile,
        )
