"""Step 6: keys that this proxy gives out, what each tenant has spent, and conversations that have returned to
pass-through."""

STATEMENTS = (
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
