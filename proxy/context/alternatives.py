"""The client's own prompt as the alternative to one that is kept within a budget. Pure.

A budget is worth keeping while it pays. Where the provider's cache is cheap, the history short, and every other
question reaches back, folding and recalling cost more than carrying all of it: then the prompt stays as it stands
(nothing has left it yet), or the client's own goes upstream once more, whose beginning the provider may still hold.
What was folded stays known: the next request is decided anew, and finds in the cache whatever it goes on from.

Compared is what both cost now, a rewriting included, and what they are expected to cost over as many requests as there
have been (Lindy), with a client whose questions reach back as often as its last ones did. The budget gives way only
where keeping it would make the whole dearer than pass-through by more than `REGRET`, or by more than `AT_ONCE` so far
(`AHEAD`, where it is expected to pay).
The limit of the model's context never gives way.
"""

from dataclasses import dataclass

from proxy.context.budget import TokenBudget
from proxy.context.draft import Draft, Memory, PlanContext
from proxy.context.economics import REGRET, CostSoFar, Rates
from proxy.conversation.progress import Case
from proxy.types import PathState

CHEAPER = "cheaper"  # the reason of a plan that leaves the prompt above its budget
LATELY = 0.2  # weight of the newest question in the share of those that reach back
# Share of questions that reach back at any time, by what is measured of ordinary talk; and where a prompt is found only
# as a whole: there a conversation that turns to the past is dear from its first such question on, and to fold it late
# saves little less.
LEAST_REACH, LEAST_WHOLE = 0.02, 0.3
EXCERPTS = 600  # tokens that such a question brings back, about
AT_ONCE = 0.05  # excess over pass-through, as a share of it, that keeping a budget may cost at any time
AHEAD, PAYS = 0.08, 0.9  # the same where keeping it is expected to cost less than this share in the end
RECKONED = 6  # requests that have cost what was reckoned count as many as this, beside those that there were
LEAST_REQUESTS = 4  # of a conversation, for what it will be like to be told from it


@dataclass(frozen=True, slots=True)
class Outlook:
    """The requests to come, as far as those so far tell."""

    requests: int  # as many as there have been
    growth: float  # tokens by which each is longer than the one before it
    reach: float  # share of them that reach back

    @property
    def grown(self) -> float:
        """Tokens by which the last of them is longer than the newest request."""
        return self.requests * self.growth


@dataclass(frozen=True, slots=True)
class Kept:
    """A prompt that is kept within a limit."""

    now: float  # its cost
    tokens: int  # without excerpts
    base: int  # tokens of a prompt right after a fold
    before: int  # requests so far that were kept so
    before_cost: float  # of these
    fixed: int  # tokens at its beginning that a fold does not change
    limit: int


@dataclass(frozen=True, slots=True)
class Whole:
    """A prompt that nothing leaves."""

    now: float  # its cost
    tokens: int


def carried(rates: Rates, tokens: int, outlook: Outlook) -> float:
    """Returns the cost of the requests to come if nothing leaves a prompt of `tokens`."""
    middle = tokens + outlook.grown / 2
    return outlook.requests * (rates.cached * middle + rates.added * outlook.growth)


def kept(rates: Rates, within: Kept, whole: int, outlook: Outlook) -> float:
    """Returns the cost of the requests to come if their prompts are kept within a limit. `whole`: tokens of the
    client's own prompt, which may be sent for a question that reaches back."""
    again = rates.added - rates.cached  # for a token that the cache held, and holds no longer
    if rates.breakpoints:  # excerpts stay
        recalling = _grown(rates, within, outlook, outlook.growth + outlook.reach * EXCERPTS)
    else:
        excerpts = rates.added * EXCERPTS + again * outlook.growth  # and what stood behind them is billed anew
        recalling = _grown(rates, within, outlook, outlook.growth) + outlook.requests * outlook.reach * excerpts
    since = outlook.growth / max(outlook.reach, LEAST_REACH)  # since the client's own prompt was sent last
    own = rates.cached * (whole + outlook.grown / 2) + rates.added * since
    sending = _grown(rates, within, outlook, outlook.growth) + outlook.requests * outlook.reach * own
    expected = min(recalling, sending) / outlook.requests
    # What such requests have cost so far tells more than any reckoning, the more there are.
    return outlook.requests * (within.before_cost + RECKONED * expected) / (within.before + RECKONED)


def _grown(rates: Rates, within: Kept, outlook: Outlook, growth: float) -> float:
    """Returns the cost of the requests to come, each of which adds `growth` tokens to a prompt within a limit."""
    base, grown = min(within.base, within.limit), outlook.requests * growth
    folds, middle = 0.0, within.tokens + grown / 2
    if grown > within.limit - within.tokens:
        folds = (grown - within.limit + within.tokens) / max(growth, within.limit - base) + 0.5
        middle = (base + within.limit) / 2
    rewritten = (rates.added - rates.cached) * max(0, base - within.fixed)
    return outlook.requests * (rates.cached * middle + rates.added * growth) + folds * rewritten


def gives_way(rates: Rates, costs: CostSoFar, within: Kept, whole: Whole, outlook: Outlook) -> bool:
    """Tells whether a prompt that nothing leaves is sent, though it is above the budget. Once something has left, that
    is to have cost more than pass-through: what it has saved pays for it first."""
    spent = costs.spent + within.now
    if within.before and spent <= (1 + REGRET) * costs.baseline:
        return False
    is_told = outlook.requests >= LEAST_REQUESTS
    alone = carried(rates, whole.tokens, outlook)
    later = kept(rates, within, whole.tokens, outlook)
    expected, direct = spent + later, costs.baseline + alone
    most = AHEAD if is_told and expected < PAYS * direct else AT_ONCE
    if spent > (1 + most) * costs.baseline and whole.now < within.now:
        return True
    return is_told and expected > (1 + REGRET) * direct and whole.now + alone < within.now + later


# --- what is known of a conversation ------------------------------------------------------------------------------


def reach(state: PathState | None, memory: Memory, *, goes_on: bool) -> float:
    """Returns the share of questions that reach back, the newest included, the last ones weighing most. `goes_on`: its
    turn was counted before."""
    before = state.reach if state is not None else 0.0
    if goes_on:
        return before
    return before + LATELY * (float(memory.reaches_back or memory.is_asked_for) - before)


def outlook(case: Case, budget: TokenBudget, rates: Rates, share: float) -> Outlook:
    """Returns what is to be expected of a conversation in which this share of questions reaches back."""
    requests = 1 + sum(said.role == "assistant" for said in case.messages)
    grown = budget.original - case.overhead - budget.progress.preamble_tokens
    return Outlook(requests, grown / requests, max(share, LEAST_WHOLE if rates.breakpoints else LEAST_REACH))


def is_whole(budget: TokenBudget, draft: Draft) -> bool:
    """Tells whether nothing of the conversation leaves its prompt."""
    fold = draft.fold
    left = fold is not None and fold.start > budget.progress.preamble
    return not (left or draft.omitted or budget.markers or budget.capped)


def may_give_way(context: PlanContext, budget: TokenBudget) -> bool:
    """Tells whether the budget of this request may give way at all: it is no limit of the model's, nothing but
    economics holds it, and the model keeps no memory of its own in the prompt."""
    is_ours = context.may_exceed and context.desk is None and not context.caching.is_marked
    return is_ours and (context.most is None or budget.original <= context.most)


def knows_more(case: Case, memory: Memory, draft: Draft) -> bool:
    """Tells whether a prompt has memory that the client's own lacks: facts and excerpts of other conversations."""
    if draft.volatile.others:
        return True
    said = frozenset(case.chain)
    facts = [*memory.standing, *memory.relevant]
    return any(said.isdisjoint(fact.links) for fact in facts)
