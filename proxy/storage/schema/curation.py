"""Step 3: memory with a model's help: jobs, what they cost, and what they have made. Rows that are
made by jobs name theirs, which may have been deleted by then."""

STATEMENTS = (
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
    "CREATE INDEX jobs_under_way ON jobs (scope_id, kind, subject) WHERE state IN ('running', 'answered')",
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
