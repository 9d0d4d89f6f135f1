"""The schema of what the page reads, as a step of migrations.py: sums of requests, and what requests said."""

# The fields of `Sums` as they were then.
_SUMS = """
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, reused_exact INTEGER NOT NULL, reused_intent INTEGER NOT
    NULL, managed INTEGER NOT NULL, over_budget INTEGER NOT NULL, failed_open INTEGER NOT NULL, tokens_original
    INTEGER NOT NULL, tokens_sent INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_billed INTEGER NOT
    NULL, tokens_completion INTEGER NOT NULL, tokens_measured INTEGER NOT NULL, tokens_reused INTEGER NOT NULL,
    tokens_reused_prompt INTEGER NOT NULL, tokens_busted INTEGER NOT NULL, window INTEGER NOT NULL, capped
    INTEGER NOT NULL, tools INTEGER NOT NULL, elided INTEGER NOT NULL, summaries INTEGER NOT NULL, facts INTEGER
    NOT NULL, recall INTEGER NOT NULL, cost REAL NOT NULL, saved_exact REAL NOT NULL, saved_intent REAL NOT
    NULL, saved_context REAL NOT NULL, added_context REAL NOT NULL, overhead_seconds REAL NOT NULL
"""

ACCOUNTS = (
    "ALTER TABLE ledger ADD COLUMN trail TEXT NOT NULL DEFAULT 'null'",
    "ALTER TABLE ledger ADD COLUMN session_id INTEGER REFERENCES sessions",
    "CREATE INDEX ledger_of_session ON ledger (session_id)",
    # In the order rows are written, as they are asked for; by time they differ by a request's duration.
    "DROP INDEX ledger_newest",
    "CREATE INDEX ledger_of_scope ON ledger (scope_id)",
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
    f"""
    CREATE TABLE session_sums (
        session_id INTEGER PRIMARY KEY REFERENCES sessions,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        first_at REAL NOT NULL,
        last_at REAL NOT NULL,
        {_SUMS}
    )
    """,
    "CREATE INDEX session_sums_newest ON session_sums (last_at)",
    "CREATE INDEX session_sums_of_scope ON session_sums (scope_id, last_at)",
    # One row: minutes before `condensed` are in their hours and days; rows up to `backlog` are in no sum yet.
    "CREATE TABLE rollup_progress (condensed INTEGER NOT NULL, backlog INTEGER NOT NULL)",
    """
    INSERT INTO rollup_progress
    SELECT CAST(strftime('%s', 'now') AS INTEGER) / 60 * 60, coalesce(max(id), 0) FROM ledger
    """,
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
        state BLOB NOT NULL,
        answer BLOB NOT NULL,
        UNIQUE (scope_id, request_id)
    )
    """,
    "CREATE INDEX contents_of_session ON contents (session_id)",
    "CREATE INDEX contents_of_scope ON contents (scope_id)",
    "CREATE TABLE contents_size (bytes INTEGER NOT NULL)",
    "INSERT INTO contents_size VALUES (0)",
)
