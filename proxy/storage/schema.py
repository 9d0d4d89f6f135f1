"""The schema of every database, in named steps, in the words of SQLite. `postgres/schema.py` says the few words that
differ there in PostgreSQL's.

A step that has been released is never edited; a change is a new step at the end.
"""

from collections.abc import Mapping, Sequence

# The fields of `Sums` of the first step, which rollups and session_sums add up.
_SUMS = """
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, reused_exact INTEGER NOT NULL, reused_intent INTEGER NOT
    NULL, managed INTEGER NOT NULL, over_budget INTEGER NOT NULL, failed_open INTEGER NOT NULL, tokens_original
    INTEGER NOT NULL, tokens_sent INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_billed INTEGER NOT
    NULL, tokens_completion INTEGER NOT NULL, tokens_measured INTEGER NOT NULL, tokens_reused INTEGER NOT NULL,
    tokens_reused_prompt INTEGER NOT NULL, tokens_busted INTEGER NOT NULL, "window" INTEGER NOT NULL, capped
    INTEGER NOT NULL, tools INTEGER NOT NULL, elided INTEGER NOT NULL, summaries INTEGER NOT NULL, facts INTEGER
    NOT NULL, recall INTEGER NOT NULL, cost REAL NOT NULL, saved_exact REAL NOT NULL, saved_intent REAL NOT
    NULL, saved_context REAL NOT NULL, added_context REAL NOT NULL, overhead_seconds REAL NOT NULL
"""
# The fields of `Fact`, in `facts` and in what is put aside of it.
_FACT = """
    id TEXT NOT NULL,
    domain TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    confidence TEXT NOT NULL,
    source TEXT NOT NULL,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    created_at REAL NOT NULL,
    last_confirmed_at REAL NOT NULL,
    pinned INTEGER NOT NULL,
    superseded_by TEXT,
    superseded_at REAL NOT NULL,
    links TEXT NOT NULL,
    doubted_by TEXT
"""
# An archived turn with its vectors, in `archive` and in what is put aside of it. A row with no `at` is a link that was
# forgotten: nothing of it is left but whom it followed.
_TURN = """
    scope_id INTEGER NOT NULL REFERENCES scopes,
    link BLOB NOT NULL,
    parent BLOB,
    session_id INTEGER REFERENCES sessions,
    turn INTEGER,
    at REAL,
    dimensions INTEGER,
    vectors BLOB,
    utterances TEXT,
    messages BLOB
"""

_SESSIONS = (
    # Names are kept once: a link and a ledger row carry 8 bytes for a scope that may be 100 long.
    "CREATE TABLE scopes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        name TEXT NOT NULL,
        UNIQUE (scope_id, name)
    )
    """,
    # One row a link, with the two sessions that went through it last: the link of a system prompt belongs to every
    # conversation of its scope, and a row for each would make looking it up ever slower. They are not declared as
    # references: a session that leaves would be looked for in every link.
    """
    CREATE TABLE links (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        link BLOB NOT NULL,
        session_id INTEGER NOT NULL,
        at REAL NOT NULL,
        other_session_id INTEGER,
        other_at REAL,
        went_on INTEGER NOT NULL,
        PRIMARY KEY (scope_id, link)
    ) WITHOUT ROWID
    """,
)

_LEDGER = (
    """
    CREATE TABLE ledger (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        session_id INTEGER NOT NULL REFERENCES sessions,
        request_id TEXT NOT NULL,
        at REAL NOT NULL,
        session TEXT NOT NULL,
        model TEXT NOT NULL,
        upstream TEXT NOT NULL,
        source TEXT NOT NULL,
        status INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        stream INTEGER NOT NULL,
        plan TEXT NOT NULL,
        plan_reason TEXT NOT NULL,
        reuse_reason TEXT NOT NULL,
        intent_reason TEXT NOT NULL,
        tokens_original INTEGER NOT NULL,
        tokens_sent INTEGER NOT NULL,
        tokens_cached INTEGER NOT NULL,
        tokens_billed INTEGER NOT NULL,
        tokens_completion INTEGER NOT NULL,
        tokens_busted INTEGER NOT NULL,
        measured INTEGER NOT NULL,
        cost REAL NOT NULL,
        cost_saved REAL NOT NULL,
        total_seconds REAL NOT NULL,
        upstream_seconds REAL NOT NULL,
        retries INTEGER NOT NULL,
        mechanisms TEXT NOT NULL,
        trail TEXT NOT NULL,
        stage_seconds TEXT NOT NULL,
        UNIQUE (scope_id, request_id)
    )
    """,
    # In the order rows are written, as they are asked for; by time they differ by a request's duration.
    "CREATE INDEX ledger_of_scope ON ledger (scope_id)",
    "CREATE INDEX ledger_of_session ON ledger (session_id)",
    # What the judge of reuse has cost today is asked for before every question to it.
    "CREATE INDEX ledger_judged ON ledger (scope_id, at) WHERE reuse_reason = 'judge'",
    "CREATE TABLE rollup_labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "INSERT INTO rollup_labels (name) VALUES ('other')",
    # Requests of `width` seconds from `at` on. Scope 0: of all scopes.
    f"""
    CREATE TABLE rollups (
        width INTEGER NOT NULL,
        at INTEGER NOT NULL,
        scope_id INTEGER NOT NULL,
        model INTEGER NOT NULL,
        upstream INTEGER NOT NULL,
        source INTEGER NOT NULL,
        plan INTEGER NOT NULL,
        {_SUMS},
        PRIMARY KEY (width, at, scope_id, model, upstream, source, plan)
    ) WITHOUT ROWID
    """,
    # One row: minutes before `condensed` are in their hours and days.
    "CREATE TABLE rollup_progress (condensed INTEGER NOT NULL)",
    "INSERT INTO rollup_progress VALUES (CAST(strftime('%s', 'now') AS INTEGER) / 60 * 60)",
    f"""
    CREATE TABLE session_sums (
        session_id INTEGER NOT NULL PRIMARY KEY REFERENCES sessions,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        first_at REAL NOT NULL,
        last_at REAL NOT NULL,
        {_SUMS}
    )
    """,
    "CREATE INDEX session_sums_newest ON session_sums (last_at)",
    "CREATE INDEX session_sums_of_scope ON session_sums (scope_id, last_at)",
)

_CONTENTS = (
    """
    CREATE TABLE contents (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        session_id INTEGER NOT NULL REFERENCES sessions,
        request_id TEXT NOT NULL,
        at REAL NOT NULL,
        size INTEGER NOT NULL,
        headers TEXT NOT NULL,
        body BLOB NOT NULL,
        sent BLOB NOT NULL,
        fates BLOB NOT NULL,
        answer BLOB NOT NULL,
        UNIQUE (scope_id, request_id)
    )
    """,
    "CREATE INDEX contents_of_session ON contents (session_id)",
    "CREATE INDEX contents_of_scope ON contents (scope_id)",
    "CREATE TABLE contents_size (bytes INTEGER NOT NULL)",
    "INSERT INTO contents_size VALUES (0)",
)

_REUSE = (
    # Whatever changes moves to the end: a reader asks for what came after the last row that it has seen.
    """
    CREATE TABLE reuse_entries (
        change INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        id TEXT NOT NULL,
        partition TEXT NOT NULL,
        question TEXT NOT NULL,
        context TEXT NOT NULL,
        answer_key TEXT NOT NULL,
        created_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        min_cosine REAL NOT NULL,
        strikes INTEGER NOT NULL,
        served INTEGER NOT NULL,
        evicted_at REAL NOT NULL,
        judged TEXT NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (id, scope_id)
    )
    """,
    "CREATE INDEX reuse_changes ON reuse_entries (scope_id, partition)",
    "CREATE INDEX reuse_ends ON reuse_entries (expires_at)",
    """
    CREATE TABLE reuse_log (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        request_id TEXT NOT NULL,
        at REAL NOT NULL,
        result TEXT NOT NULL,
        entry_id TEXT NOT NULL,
        cosine REAL NOT NULL,
        question TEXT NOT NULL,
        earlier_question TEXT NOT NULL,
        guards TEXT NOT NULL
    )
    """,
    "CREATE INDEX reuse_log_newest ON reuse_log (scope_id)",
)

_MEMORY = (
    f"""
    CREATE TABLE facts (
        number INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        {_FACT},
        UNIQUE (id, scope_id)
    )
    """,
    "CREATE INDEX facts_oldest ON facts (scope_id, created_at)",
    # Whatever changes gets a number that no row has ever had (AUTOINCREMENT), so that any row may be deleted.
    # `forgotten_at`: when a link was; `lifted`: it was forgotten once, and may come again.
    f"""
    CREATE TABLE archive (
        change INTEGER PRIMARY KEY AUTOINCREMENT,
        {_TURN},
        forgotten_at REAL,
        lifted INTEGER NOT NULL DEFAULT 0,
        UNIQUE (scope_id, link),
        CHECK ((at IS NULL) = (messages IS NULL))
    )
    """,
    "CREATE INDEX archive_changes ON archive (scope_id)",
    "CREATE INDEX archive_newest ON archive (session_id, at, turn)",
    "CREATE INDEX archive_oldest ON archive (at)",
    # The other links that a turn is forgotten by. Two answers to one message are two turns.
    """
    CREATE TABLE archive_links (
        link BLOB NOT NULL,
        change INTEGER NOT NULL REFERENCES archive ON DELETE CASCADE,
        PRIMARY KEY (link, change)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX archive_links_of ON archive_links (change)",
    # Which embedding model made the vectors of the archive.
    "CREATE TABLE embedded_by (model TEXT NOT NULL)",
    "INSERT INTO embedded_by VALUES ('minilm-l6-v2/int8/2')",
    """
    CREATE TABLE path_states (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        session_id INTEGER NOT NULL REFERENCES sessions,
        at REAL NOT NULL,
        link BLOB NOT NULL,
        state BLOB NOT NULL,
        UNIQUE (scope_id, link)
    )
    """,
    "CREATE INDEX path_states_newest ON path_states (session_id, at)",
    "CREATE INDEX path_states_oldest ON path_states (at)",
)

# Rows of `facts` and `archive` as they were when a scope's memory was wiped, which nothing reads but what brings them
# back.
_WIPES = (
    f"""
    CREATE TABLE wiped_facts (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        {_FACT},
        UNIQUE (scope_id, id)
    )
    """,
    f"""
    CREATE TABLE wiped_archive (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        {_TURN},
        UNIQUE (scope_id, link)
    )
    """,
    # Links that a wipe has made forgotten: of turns, of their messages, and (no turn) of its own request.
    """
    CREATE TABLE wiped_links (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        link BLOB NOT NULL,
        turn BLOB NOT NULL,
        until REAL NOT NULL,
        PRIMARY KEY (scope_id, link, turn)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX wiped_links_of ON wiped_links (scope_id, turn)",
)

_MANY_MACHINES = (
    # How often each part of what is kept of a scope has changed (`versions.py`), and when it was wiped last.
    *(
        f"ALTER TABLE scopes ADD COLUMN {part}_changes INTEGER NOT NULL DEFAULT 0"
        for part in ("paths", "facts", "turns", "reuse")
    ),
    "ALTER TABLE scopes ADD COLUMN wiped_at REAL NOT NULL DEFAULT 0",
    # The search index of a large scope, with its archive up to a change: a copy, which is made again when it is missed.
    # `oldest`: the time of its first turn.
    """
    CREATE TABLE shelves (
        scope_id INTEGER NOT NULL PRIMARY KEY REFERENCES scopes,
        upto INTEGER NOT NULL,
        oldest REAL NOT NULL,
        shelf BLOB NOT NULL
    )
    """,
    # Scopes that were erased, by a hash: what processes still have of one in memory, or waiting, is from before.
    """
    CREATE TABLE erased (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scope BLOB NOT NULL UNIQUE,
        at REAL NOT NULL
    )
    """,
)

_UNDER_WAY = "state IN ('running', 'answered')"
# Memory with a model's help. Rows that are made by jobs name theirs, which may have been deleted by then.
_CURATION = (
    # Numbers are never used again: what a job has cost, and has read, stays longer than it. `held_until`: what it was
    # put off to. `stale`: since it was claimed, something was forgotten that it may have read.
    """
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at REAL NOT NULL,
        due_at REAL NOT NULL,
        held_until REAL NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        reason TEXT NOT NULL DEFAULT '',
        owner TEXT NOT NULL DEFAULT '',
        lease_until REAL NOT NULL DEFAULT 0,
        done_at REAL NOT NULL DEFAULT 0,
        model TEXT NOT NULL DEFAULT '',
        prompt TEXT NOT NULL DEFAULT '',
        spent REAL NOT NULL DEFAULT 0,
        stale INTEGER NOT NULL DEFAULT 0,
        shown BLOB NOT NULL,
        answer BLOB NOT NULL
    )
    """,
    "CREATE INDEX jobs_of_scope ON jobs (scope_id)",
    "CREATE UNIQUE INDEX jobs_waiting ON jobs (scope_id, kind, subject) WHERE state = 'waiting'",
    f"CREATE INDEX jobs_under_way ON jobs (scope_id, kind, subject) WHERE {_UNDER_WAY}",
    "CREATE INDEX jobs_due ON jobs (due_at) WHERE state IN ('waiting', 'running', 'answered')",
    "CREATE INDEX jobs_ended ON jobs (done_at) WHERE done_at > 0",
    """
    CREATE TABLE job_lines (
        job INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
        place INTEGER NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        op TEXT NOT NULL,
        result TEXT NOT NULL,
        reason TEXT NOT NULL,
        domain TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        quote TEXT NOT NULL,
        turn INTEGER NOT NULL,
        link BLOB NOT NULL,
        fact_id TEXT NOT NULL,
        ended TEXT NOT NULL,
        PRIMARY KEY (job, place)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX job_lines_of_scope ON job_lines (scope_id)",
    # Messages that the model was shown. `at`: when their job was done; 0: it is not.
    """
    CREATE TABLE job_links (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        link BLOB NOT NULL,
        job INTEGER NOT NULL,
        place INTEGER NOT NULL,
        at REAL NOT NULL DEFAULT 0,
        PRIMARY KEY (scope_id, link, job)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX job_links_of_job ON job_links (job, place)",
    "CREATE INDEX job_links_oldest ON job_links (at) WHERE at > 0",
    # A call each. `scope_id`: of the end user; 0: of one who was erased. `day`: of UTC, since the epoch.
    """
    CREATE TABLE spending (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL,
        job INTEGER NOT NULL,
        owner TEXT NOT NULL,
        day INTEGER NOT NULL,
        at REAL NOT NULL,
        dollars REAL NOT NULL
    )
    """,
    "CREATE INDEX spending_of_day ON spending (day)",
    "CREATE INDEX spending_of_scope ON spending (scope_id, day)",
    "CREATE INDEX spending_of_job ON spending (job)",
    "CREATE INDEX spending_oldest ON spending (at)",
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        code TEXT NOT NULL,
        job INTEGER NOT NULL,
        at REAL NOT NULL,
        session TEXT NOT NULL,
        turn INTEGER NOT NULL,
        text TEXT NOT NULL,
        link BLOB NOT NULL,
        UNIQUE (scope_id, code)
    )
    """,
    "CREATE INDEX events_of_scope ON events (scope_id, at)",
    "CREATE INDEX events_of_job ON events (job)",
    "CREATE INDEX events_oldest ON events (at)",
    """
    CREATE TABLE digests (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        span TEXT NOT NULL,
        at REAL NOT NULL,
        text TEXT NOT NULL,
        by_model INTEGER NOT NULL,
        PRIMARY KEY (scope_id, span, at)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX digests_oldest ON digests (at) WHERE span = 'hour'",
    """
    CREATE TABLE summaries (
        number INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        link BLOB NOT NULL,
        job INTEGER NOT NULL,
        session TEXT NOT NULL,
        at REAL NOT NULL,
        summary TEXT NOT NULL,
        UNIQUE (scope_id, link)
    )
    """,
    "CREATE INDEX summaries_of_scope ON summaries (scope_id, at)",
    "CREATE INDEX summaries_of_job ON summaries (job)",
    "CREATE INDEX summaries_oldest ON summaries (at)",
    # What memory's own calls have cost.
    "ALTER TABLE rollups ADD COLUMN memory REAL NOT NULL DEFAULT 0",
    "ALTER TABLE session_sums ADD COLUMN memory REAL NOT NULL DEFAULT 0",
)

# Memory that the model manages itself. A desk is a session's; it gives the numbers of its lines and events, none twice,
# and so it stays when they have left.
_DESK = (
    """
    CREATE TABLE desks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        session TEXT NOT NULL,
        last_at REAL NOT NULL,
        line INTEGER NOT NULL DEFAULT 0,
        event INTEGER NOT NULL DEFAULT 0,
        UNIQUE (scope_id, session)
    )
    """,
    "CREATE INDEX desks_newest ON desks (scope_id, last_at)",
    # A line that is redacted gets a new `change`, for tapes on disk that follow.
    """
    CREATE TABLE desk_lines (
        change INTEGER PRIMARY KEY AUTOINCREMENT,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        desk INTEGER NOT NULL REFERENCES desks ON DELETE CASCADE,
        id INTEGER NOT NULL,
        link BLOB NOT NULL,
        at REAL NOT NULL,
        role TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        hidden INTEGER NOT NULL,
        content BLOB,
        UNIQUE (desk, id),
        UNIQUE (desk, link)
    )
    """,
    "CREATE INDEX desk_lines_of_scope ON desk_lines (scope_id)",
    "CREATE INDEX desk_lines_with ON desk_lines (scope_id, link)",
    "CREATE INDEX desk_lines_asked ON desk_lines (desk, id) WHERE role = 'user'",
    "CREATE INDEX desk_lines_hidden ON desk_lines (scope_id) WHERE hidden = 1 AND content IS NOT NULL",
    "CREATE INDEX desk_lines_oldest ON desk_lines (at)",
    # `batch`: of one call that wrote it, by which the call finds what it has written already.
    """
    CREATE TABLE desk_events (
        id INTEGER PRIMARY KEY,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        desk INTEGER NOT NULL REFERENCES desks ON DELETE CASCADE,
        number INTEGER NOT NULL,
        batch INTEGER NOT NULL,
        at REAL NOT NULL,
        request_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload BLOB NOT NULL,
        UNIQUE (desk, number)
    )
    """,
    "CREATE INDEX desk_events_of_scope ON desk_events (scope_id, kind)",
    "CREATE INDEX desk_events_oldest ON desk_events (at)",
    # Texts are bytes: people's hold anything.
    """
    CREATE TABLE desk_documents (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        at REAL NOT NULL,
        edited_by TEXT NOT NULL,
        removed INTEGER NOT NULL,
        text BLOB NOT NULL,
        PRIMARY KEY (scope_id, name)
    )
    """,
    """
    CREATE TABLE desk_older (
        scope_id INTEGER NOT NULL REFERENCES scopes,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        at REAL NOT NULL,
        edited_by TEXT NOT NULL,
        removed INTEGER NOT NULL,
        text BLOB NOT NULL,
        PRIMARY KEY (scope_id, name, version)
    )
    """,
    # What a wipe has put aside of them, which only `restore` reads. `present`: it was no earlier version.
    """
    CREATE TABLE wiped_desk_lines (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        desk INTEGER NOT NULL REFERENCES desks ON DELETE CASCADE,
        id INTEGER NOT NULL,
        content BLOB NOT NULL,
        UNIQUE (desk, id)
    )
    """,
    "CREATE INDEX wiped_desk_lines_of_scope ON wiped_desk_lines (scope_id)",
    """
    CREATE TABLE wiped_desk_events (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        desk INTEGER NOT NULL REFERENCES desks ON DELETE CASCADE,
        event INTEGER NOT NULL,
        at REAL NOT NULL,
        request_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload BLOB NOT NULL,
        UNIQUE (desk, event)
    )
    """,
    "CREATE INDEX wiped_desk_events_of_scope ON wiped_desk_events (scope_id)",
    """
    CREATE TABLE wiped_desk_documents (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        at REAL NOT NULL,
        edited_by TEXT NOT NULL,
        present INTEGER NOT NULL,
        text BLOB NOT NULL,
        UNIQUE (scope_id, name, version)
    )
    """,
    # Tokens by mechanism: what the model has pruned, what its own memory adds.
    "ALTER TABLE rollups ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE rollups ADD COLUMN desk INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session_sums ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session_sums ADD COLUMN desk INTEGER NOT NULL DEFAULT 0",
)

# Requests by route; names that people give to scopes. Sums are grouped by route as well, so they are written anew.
_SUMMED = (
    *("requests", "errors", "reused_exact", "reused_intent", "managed", "over_budget", "failed_open"),
    *("tokens_original", "tokens_sent", "tokens_cached", "tokens_billed", "tokens_completion", "tokens_measured"),
    *("tokens_reused", "tokens_reused_prompt", "tokens_busted", '"window"', "capped", "tools", "elided", "summaries"),
    *("facts", "recall", "cost", "saved_exact", "saved_intent", "saved_context", "added_context", "overhead_seconds"),
    *("memory", "pruned", "desk"),
)
_REQUESTS = (
    "ALTER TABLE ledger ADD COLUMN route TEXT NOT NULL DEFAULT '/v1/chat/completions'",
    "INSERT INTO rollup_labels (name) VALUES ('/v1/chat/completions') ON CONFLICT DO NOTHING",
    f"""
    CREATE TABLE rollups_by_route (
        width INTEGER NOT NULL,
        at INTEGER NOT NULL,
        scope_id INTEGER NOT NULL,
        model INTEGER NOT NULL,
        upstream INTEGER NOT NULL,
        source INTEGER NOT NULL,
        plan INTEGER NOT NULL,
        route INTEGER NOT NULL,
        {_SUMS},
        memory REAL NOT NULL DEFAULT 0,
        pruned INTEGER NOT NULL DEFAULT 0,
        desk INTEGER NOT NULL DEFAULT 0,
        unmanaged INTEGER NOT NULL DEFAULT 0,
        unmanaged_cost REAL NOT NULL DEFAULT 0,
        PRIMARY KEY (width, at, scope_id, model, upstream, source, plan, route)
    ) WITHOUT ROWID
    """,
    f"""
    INSERT INTO rollups_by_route (width, at, scope_id, model, upstream, source, plan, route, {", ".join(_SUMMED)})
    SELECT width, at, scope_id, model, upstream, source, plan,
        (SELECT id FROM rollup_labels WHERE name = '/v1/chat/completions'), {", ".join(_SUMMED)}
    FROM rollups
    """,  # noqa: S608 (our own names)
    "DROP TABLE rollups",
    "ALTER TABLE rollups_by_route RENAME TO rollups",
    "ALTER TABLE session_sums ADD COLUMN unmanaged INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session_sums ADD COLUMN unmanaged_cost REAL NOT NULL DEFAULT 0",
    "CREATE TABLE aliases (scope_id INTEGER NOT NULL PRIMARY KEY REFERENCES scopes, alias TEXT NOT NULL)",
)

# Keys that this proxy gives out, what each tenant has spent, and conversations that have returned to pass-through.
_KEYS = (
    # `hash`: keyed, of the key. A name may be given again once its key is revoked. `limits`: JSON.
    """
    CREATE TABLE api_keys (
        id TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        hash BLOB NOT NULL UNIQUE,
        team TEXT NOT NULL,
        limits TEXT NOT NULL,
        created_at REAL NOT NULL,
        revoked_at REAL NOT NULL,
        last_used_at REAL NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX api_keys_that_hold ON api_keys (name) WHERE revoked_at = 0",
    # Of all scopes of a tenant. `day`: of UTC, since the epoch.
    """
    CREATE TABLE key_sums (
        day INTEGER NOT NULL,
        tenant TEXT NOT NULL,
        requests INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        dollars REAL NOT NULL,
        saved REAL NOT NULL,
        PRIMARY KEY (tenant, day)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX key_sums_of_day ON key_sums (day)",
    # `number`: grows, so that processes see what others have added.
    """
    CREATE TABLE returned_sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        session TEXT NOT NULL,
        reason TEXT NOT NULL,
        at REAL NOT NULL,
        UNIQUE (scope_id, session)
    )
    """,
    "CREATE INDEX returned_sessions_oldest ON returned_sessions (at)",
    # All scopes of a tenant, for the page of a key.
    "CREATE INDEX scopes_of_tenant ON scopes (substr(name, 1, 33))",
)

# Managed answers beside those of the same request as it was.
_QUALITY = (
    # `texts`: JSON of question, both answers and the judge's reason; empty where contents are not kept.
    """
    CREATE TABLE quality (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        request_id TEXT NOT NULL,
        session TEXT NOT NULL,
        at REAL NOT NULL,
        model TEXT NOT NULL,
        upstream TEXT NOT NULL,
        saved REAL NOT NULL,
        cost REAL NOT NULL,
        tokens_original INTEGER NOT NULL,
        tokens_sent INTEGER NOT NULL,
        held INTEGER NOT NULL,
        reason TEXT NOT NULL,
        way TEXT NOT NULL,
        measures TEXT NOT NULL,
        texts BLOB NOT NULL,
        UNIQUE (scope_id, request_id)
    )
    """,
    "CREATE INDEX quality_oldest ON quality (at)",
    # What each request of ours was expected to cost, then what it has cost. Nobody's: a limit of all is kept by it.
    """
    CREATE TABLE quality_spending (
        id INTEGER PRIMARY KEY,
        day INTEGER NOT NULL,
        at REAL NOT NULL,
        dollars REAL NOT NULL
    )
    """,
    "CREATE INDEX quality_spending_of_day ON quality_spending (day)",
    "CREATE INDEX quality_spending_oldest ON quality_spending (at)",
    "ALTER TABLE rollups ADD COLUMN quality REAL NOT NULL DEFAULT 0",
    "ALTER TABLE session_sums ADD COLUMN quality REAL NOT NULL DEFAULT 0",
)

MIGRATIONS: Mapping[str, Sequence[str]] = {  # statements of each step
    "0001_schema": (*_SESSIONS, *_LEDGER, *_REUSE, *_MEMORY, *_CONTENTS, *_WIPES),
    "0002_many_machines": _MANY_MACHINES,
    "0003_curation": _CURATION,
    "0004_desk": _DESK,
    "0005_requests": _REQUESTS,
    "0006_keys": _KEYS,
    "0007_quality": _QUALITY,
}
