"""Records of memory: facts, turns, summaries, excerpts, the state of a conversation.

Token counts are estimates by the o200k ranks, times seconds since the epoch by the clock of the request. `link` is a
link of the hash chain: it identifies a message *and* the whole history before it, so a look-up by the links of a
request's own chain finds its own path, never another branch.
"""

from dataclasses import dataclass, field
from typing import Literal, cast

from proxy.types.request import Message, Vector

Language = Literal["es", "en"]
Confidence = Literal["high", "medium", "low"]
FactSource = Literal["explicit", "auto", "file", "api"]
Stance = Literal["states", "changes", "keeps", "ends"]
FactStatus = Literal["active", "retrieval-only", "stale", "superseded", "deleted"]

ContextRead = Literal["memory", "hot", "database", "failed"]  # place where a conversation's state was found

DOMAINS = ("work", "preferences", "decisions", "personal", "projects")  # of the seed; others are allowed
SELF_CORRECTION = "self_correction"  # an agent's corrections of itself: set by API or tool, never learnt, in no file


# --- facts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a user about themselves, in their own words."""

    domain: str
    key: str  # what it is about, lower case, words joined by "-": two statements of one key contradict each other
    value: str  # verbatim, in the user's words
    confidence: Confidence
    pinned: bool = False  # a standing instruction or preference: holds for every answer
    stance: Stance = "states"  # whether it says that something was otherwise before, or that it still holds


@dataclass(frozen=True, slots=True)
class Forgetting:
    """An order to forget (`olvidá …`, `forget …`): `what` in the user's words, "" for everything. `by_term`: only a
    fact with a term of these words is meant, as by `/forget …`."""

    what: str
    by_term: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that is kept. Superseded by a newer one of the same key, or deleted, it stays as history, never
    rendered; a deleted one supersedes itself.

    `source` tells where its value comes from: explicit, the user stated it in a conversation, or by a command there;
    auto, derived with a model's help; file, written into MEMORY.md by a person; api, by the admin API, the page or a
    tool."""

    id: str  # "f-" and 16 hex digits: a hash of domain, key, value and the turn that said it first
    domain: str
    key: str
    value: str
    confidence: Confidence
    source: FactSource
    session: str
    turn: int  # number of the turn that said it first, from 1; 0 if none did
    created_at: float
    last_confirmed_at: float
    pinned: bool = False
    superseded_by: str | None = None  # id of the fact that took its place; its own if it was deleted
    superseded_at: float = 0.0
    doubted_by: str | None = None  # id of a newer fact that may have ended it, told beside it in prompts
    links: tuple[bytes, ...] = ()  # of the user messages that said it: its sources, and keys to find them by

    @property
    def is_deleted(self) -> bool:
        """True if a person deleted it: nothing took its place, and it can be restored."""
        return self.superseded_by == self.id


def fact_source(stored: str) -> FactSource:
    """Returns the source that a stored or exported fact names; "inferred" is an older name of "auto"."""
    return "auto" if stored == "inferred" else cast("FactSource", stored)


# --- turns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of a turn as memory keeps it: verbatim text, no tool results."""

    role: Literal["user", "assistant"]
    text: str
    link: bytes


@dataclass(frozen=True, slots=True)
class ArchivedTurn:
    """A complete turn, verbatim. Identified by `link`, that of its last message."""

    link: bytes
    parent: bytes  # link of the message before its first one; b"" at the beginning of a conversation
    session: str
    number: int  # from 1
    at: float
    messages: bytes  # JSON array: the client's own bytes of every message, tool results included
    utterances: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn whose last answer waits for the results of its calls; or the next one, of which there is nothing yet."""

    messages: tuple[Message, ...]  # (): nobody waits
    parent: bytes  # link of the message before its first one; b"" at the beginning of a conversation
    is_elsewhere: bool = field(default=False, compare=False)  # another process had it: the archive has `parent` soon

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(said.raw) for said in self.messages)


# --- topics --------------------------------------------------------------------------------------------------------

ShiftCause = Literal["phrase", "similarity", "domain", "flush"]
FoldReason = Literal["strict", "limit", "flush", "pressure", "economic"]


@dataclass(frozen=True, slots=True)
class TurnDigest:
    """The numbers of a turn that planning uses, computed once, when the turn is seen first."""

    link: bytes  # of its last message
    tokens: int  # of all its messages, as the client sent them
    continuity: float | None  # cosine with the turn before; None: unknown (no embedding, or the first turn)
    shift: ShiftCause | None  # cause by which it changes the topic; None: it does not
    domain: str = ""  # of its user message, "" if none is recognised
    start: int = 0  # index of its user message


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a segment of turns that left the window: write-once, key-value, extracted or a model's."""

    topic: str
    discussed: tuple[str, ...]
    outcome: str
    decisions: tuple[str, ...]
    open_questions: tuple[str, ...]
    first_turn: int
    last_turn: int
    by_model: bool = False  # in a head: made by a model, else extracted


# --- recall --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An old message, or a passage of a long one, that is recalled for the newest question."""

    link: bytes  # of the message
    role: Literal["user", "assistant"]
    text: str  # verbatim, but for a mark where a part is left out
    turn: int
    session: str
    at: float
    score: float
    tokens: int


# --- the state of a conversation -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fold:
    """The beginning of the prompt from one fold to the next: the memory head, and the window's first message."""

    start: int  # index of the first message that is kept: a user message
    head: str = ""  # the memory head as it stands in the prompt
    head_tokens: int = 0
    fact_ids: tuple[str, ...] = ()  # of the facts in the head
    fact_tokens: int = 0  # of these facts
    summaries: tuple[Summary, ...] = ()
    capped: tuple[int, ...] = ()  # indices of older assistant messages that are sent shortened
    instructions: tuple[int, ...] = ()  # indices of system messages among the folded turns: they are sent nevertheless
    turn: int = 0  # turns of the conversation when it was made
    forgotten: int = 0  # forgotten messages of the scope when it was made
    desk_tokens: int = 0  # of the head: what the model keeps itself


@dataclass(frozen=True, slots=True)
class VolatileBlock:
    """The text before the newest user message that only its question needs: facts and excerpts of old turns."""

    text: str = ""
    tokens: int = 0
    facts: int = 0  # tokens of it that are facts
    others: int = 0  # tokens of it that are excerpts from other conversations
    quoted: tuple[int, ...] = ()  # indices of the messages of this conversation that it quotes
    fact_ids: tuple[str, ...] = ()  # of its facts, where it stays
    keeps_excerpts: bool = False  # it stays, though it has excerpts

    @property
    def stays(self) -> bool:
        """True if later requests leave it where it is."""
        return bool(self.fact_ids) or self.keeps_excerpts


@dataclass(frozen=True, slots=True)
class ToldFacts:
    """Facts and excerpts that were told with an earlier question, and stay in front of its message."""

    index: int  # of that message
    text: str
    tokens: int
    fact_ids: tuple[str, ...]
    quoted: tuple[int, ...] = ()  # indices of the messages that its excerpts are from


@dataclass(frozen=True, slots=True)
class PathState:
    """The state of planning for the path that ends at a request's last message. The next request of the conversation
    starts from it, so none has to read the whole history again."""

    turns: int  # user messages so far
    at: float  # of the request
    newest: int  # index of its newest user message
    before: int  # tokens of the messages before that, as the client sent them
    original: int  # tokens of the prompt as the client sent it, tools included
    sent: int  # tokens of the prompt that went upstream
    stable: int  # of these, the prefix that the next request repeats if it folds nothing
    baseline: float  # cost of pass-through so far, in uncached prompt tokens
    spent: float  # cost of what was sent so far, in the same unit
    fold: Fold | None = None
    open: tuple[TurnDigest, ...] = ()  # complete turns that the prompt still holds, oldest first
    folded_results: tuple[int, ...] = ()  # indices of tool results that are sent as a marker
    volatile: VolatileBlock = VolatileBlock()  # in the newest user message, kept while that turn goes on
    volatile_link: bytes = b""  # of that user message
    omitted: int = 0  # of the open turns, oldest first, those left out for excerpts while that turn goes on
    vector: Vector | None = field(default=None, compare=False)  # of the newest user message
    elided_tools: tuple[str, ...] = ()  # names of tools that were sent without their descriptions
    elided_tags: tuple[str, ...] = ()  # tags of the system prompt that were left out
    continuity: float | None = None  # of the newest turn, as in its digest
    shift: ShiftCause | None = None
    domain: str = ""
    applied: tuple[int, ...] = ()  # marks of the model that have taken effect, by number
    has_tools: bool = False  # memory's own tools were offered
    is_written: bool = True  # to the prefix cache: one that holds only what is marked may hold nothing of it
    is_split: bool = True  # its instructions are found by themselves, if the rest of it has changed
    told: tuple[ToldFacts, ...] = ()  # in messages before the newest user message, oldest first
    base: int = 0  # tokens of the prompt right after its beginning was last rewritten; 0: it never was
    managed_at: float = 0.0  # of the last request that was sent otherwise than it came, where it is not this one
    passed: int = 0  # tokens of the last prompt that was sent as it came
    passed_at: float = 0.0  # of that request
    reach: float = 0.0  # share of questions that reach back, the last ones weighing most
    kept: int = 0  # requests so far from whose prompt something had left
    kept_cost: float = 0.0  # of these, in uncached prompt tokens
