"""SQL that several stores share: the names of scopes and sessions."""

# Names come as one JSON array, `[scope, session, …]` a row: a statement a batch, see `Write`.
SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
ADD_SCOPES = """
    INSERT INTO scopes (name) SELECT DISTINCT json_extract(value, '$[0]') FROM json_each(:rows) WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SESSIONS = """
    INSERT INTO sessions (scope_id, name)
    SELECT DISTINCT scopes.id, json_extract(value, '$[1]')
    FROM json_each(:rows) CROSS JOIN scopes ON scopes.name = json_extract(value, '$[0]') WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING"
# From one scope to the next, however many conversations each has.
OWNERS = """
    owners (id) AS (
        SELECT min(scope_id) FROM session_sums
        UNION ALL
        SELECT (SELECT min(scope_id) FROM session_sums WHERE scope_id > owners.id) FROM owners
        WHERE owners.id IS NOT NULL
    )
"""
