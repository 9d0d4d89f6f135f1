"""Settings of memory: what is kept, memory as files, a model that helps it, tools for the model that answers."""

from typing import Literal

from pydantic import Field

from proxy.config.settings import Dollars, Folder, Name, Period, Seconds, Section, setting


class MemoryFiles(Section):
    """Memory as files that people edit."""

    path: Folder = Field(description="Folder of all people's folders; each has a `MEMORY.md`.")
    watch: bool = setting(
        True, "Sync a file as soon as somebody saves it. Without it, and on a network share, by `scan`."
    )
    scan: Period = setting(60, "Seconds between two looks at all of them.")


class MemoryModel(Section):
    """The model that helps memory, in the background and at your cost."""

    upstream: Name = Field(description="Name of the upstream that has the model; it needs an `api_key` of its own.")
    model: str = Field(min_length=1, description="A small model that answers in JSON. Its price must be known.")
    when: tuple[Literal["idle", "fold", "close"], ...] = setting(
        ("idle", "fold", "close"),
        "When it reads a conversation: some time after the last request, when turns leave the prompt, when it is "
        "ended by name.",
        min_length=1,
    )
    idle: Period = setting(600, "Seconds after the last request at which it reads a conversation.")
    max_share: float = setting(
        0.1, "Share of what an end user saved in the last 30 days that it may cost them.", ge=0, le=1
    )
    allowance: Dollars = setting(0.02, "US dollars a day that it may cost an end user beside that share.")
    per_day: Dollars = setting(1.0, "US dollars that it may cost all together per day (UTC). Nothing is asked beyond.")
    prompts: Folder | None = setting(
        None, "Folder with prompts to use instead of the built-in ones, by the same names. Null: none."
    )


class DeskSections(Section):
    """Largest sizes of the sections that the model keeps, in tokens."""

    user_profile: int = setting(1_500, "Preferences and habits of the person.", ge=1)
    project_context: int = setting(5_000, "The project: purpose, structure, conventions.", ge=1)
    current_task: int = setting(3_000, "What is being done: goal, steps, decisions.", ge=1)
    agent_notes: int = setting(2_000, "Whatever the model wants to remember.", ge=1)


class MemoryTools(Section):
    """Tools by which the model manages its own context."""

    enabled: bool = setting(False, "Offer them. A request may say otherwise: `x-olvido-tools: on | off`.")
    offer: Literal["fold", "first"] = setting(
        "fold",
        "`fold`: from the first fold of a conversation on, or where they can pay: their schemas cost hundreds of "
        "tokens a request. `first`: from its first request on.",
    )
    language: Literal["en", "es"] = setting("en", "Language of their descriptions, and of what they answer.")
    threshold: float = setting(
        0.5, "Memory pressure from which on marks take effect at once and the dashboard advises to tidy up.", gt=0, le=1
    )
    limit: int | None = setting(
        None, "Tokens of context that pressure is measured against. Null: the upstream's `context_tokens`.", ge=1_000
    )
    dashboard: Literal["changes", "always"] = setting(
        "changes", "When the model is shown the dashboard: when something in it has changed level, or always."
    )
    rounds: int = setting(6, "Rounds of our tools in one answer, at most.", ge=1, le=20)
    timeout: Period = setting(60, "Seconds that all rounds but the last may take.")
    spend: Dollars = setting(0.25, "US dollars that all rounds but the last of one answer may cost.")
    confirm: Literal["profile", "nothing"] = setting(
        "profile",
        "`profile`: what quotes a tool's result or a document gets into the profile and the facts only once a person "
        "has confirmed it.",
    )
    project: str = setting("", "Project whose context and task are loaded; `x-olvido-project` names another one.")
    identity: Folder | None = setting(
        None, "Folder with `identity.en.md` and `identity.es.md` in place of the built-in rules. Null: none."
    )
    sections: DeskSections = setting(DeskSections(), "Largest sizes of the sections.")
    tape_mb: int = setting(16, "Size at which a tape on disk is rotated, MiB.", ge=1)
    tape_ttl: Seconds = setting(90 * 86_400, "Seconds that a tape is kept. 0: for ever.")


class Memory(Section):
    """Memory of people and conversations."""

    role: Literal["user", "system"] = setting(
        "user", "Where the memory head stands: before the first kept user turn, or at the system's end."
    )
    facts: bool = setting(True, "Keep what the user explicitly asks to be remembered.")
    archive_ttl: Seconds = setting(90 * 86_400, "Seconds that turns outside the window are kept. 0: not at all.")
    undo: Seconds = setting(
        7 * 86_400, 'Seconds that "forget everything" can be undone: `olvido memory restore`. 0: gone at once.'
    )
    unconfirmed_after: Period = setting(
        90 * 86_400, "Seconds after which an unconfirmed fact below high confidence comes only by retrieval."
    )
    stale_after: Period = setting(180 * 86_400, "Seconds after which an unconfirmed fact is never injected.")
    drop_low_after: Period = setting(30 * 86_400, "Seconds after which an unconfirmed fact of low confidence is out.")
    commands: bool = setting(
        False,
        "Answer messages that are nothing but `/clear`, `/remember key: value`, `/forget key` or `/memory`; no "
        "upstream sees them, nor what was said before a `/clear`.",
    )
    idle: Period = setting(600, "Seconds after its last request at which a conversation has ended.")
    files: MemoryFiles | None = setting(
        None, "Memory as files: a folder per person, whose `MEMORY.md` may be edited. Null: there are none."
    )
    model: MemoryModel | None = setting(
        None, "A model that reads what conversations imply and keeps memory in order. Null: none, nothing is asked."
    )
    tools: MemoryTools = setting(MemoryTools(), "Tools by which the model manages its context; the client sees none.")
