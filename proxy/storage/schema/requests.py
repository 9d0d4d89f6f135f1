"""Step 5: requests by route, and names that people give to scopes. Sums are grouped by route as well, so they are
written anew."""

from proxy.storage.schema.beginning import SUMS

# The columns with sums that there were by then.
_SUMMED = (*(column.split()[0] for column in SUMS.split(",")), "memory", "pruned", "desk")

STATEMENTS = (
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
        {SUMS},
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
