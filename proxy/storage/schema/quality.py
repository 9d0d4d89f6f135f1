"""Step 7: managed answers beside those of the same request as it was, and what comparing has cost."""

STATEMENTS = (
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
