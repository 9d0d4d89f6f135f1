"""Step 2: what machines that share a database tell each other by it."""

STATEMENTS = (
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
