"""Step 4: memory that the model manages itself. A desk is a session's; it gives the numbers of its lines and events,
none twice, and so it stays when they have left."""

STATEMENTS = (
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
