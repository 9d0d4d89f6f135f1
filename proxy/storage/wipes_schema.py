"""The schema of what is put aside when all memory of a scope is wiped, as a step of migrations.py."""

WIPES = (
    # When a link was forgotten; and whether it was once, and may come again.
    "ALTER TABLE archive ADD COLUMN forgotten_at REAL",
    "ALTER TABLE archive ADD COLUMN lifted INTEGER NOT NULL DEFAULT 0",
    # Rows of `facts` and `archive` as they were, which nothing reads but what brings them back.
    """
    CREATE TABLE wiped_facts (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
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
        UNIQUE (scope_id, id)
    )
    """,
    """
    CREATE TABLE wiped_archive (
        number INTEGER PRIMARY KEY,
        until REAL NOT NULL,
        scope_id INTEGER NOT NULL REFERENCES scopes,
        link BLOB NOT NULL,
        parent BLOB,
        session_id INTEGER NOT NULL REFERENCES sessions,
        turn INTEGER NOT NULL,
        at REAL NOT NULL,
        dimensions INTEGER,
        vectors BLOB,
        utterances TEXT NOT NULL,
        messages BLOB NOT NULL,
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
