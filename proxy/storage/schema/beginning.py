"""Step 1: sessions, ledger, contents, reuse and memory, as they were at first."""

# The fields of `Sums` of the first step, which rollups and session_sums add up.
SUMS = """
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
        {SUMS},
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
        {SUMS}
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

STATEMENTS = (*_SESSIONS, *_LEDGER, *_REUSE, *_MEMORY, *_CONTENTS, *_WIPES)
