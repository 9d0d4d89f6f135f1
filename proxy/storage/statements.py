"""The SQL of sqlite.py: what is read, and what is written a batch at a time."""

# Links come as one JSON array with one blob beside it: a statement a batch, see `Write`. (Ledger rows have too many
# columns for that: taking them out of JSON costs 43 µs a row, binding them 7.)
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
# `Link.merged` in SQL. Every right side sees the old row; the session that comes must be strictly newer to lead.
MERGE_LINKS = """
    INSERT INTO links (scope_id, link, session_id, at, went_on)
    SELECT scopes.id, substr(:digests, each.key * :width + 1, :width), sessions.id,
        json_extract(each.value, '$[2]'), json_extract(each.value, '$[3]')
    FROM json_each(:rows) AS each
    CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    CROSS JOIN sessions ON sessions.scope_id = scopes.id AND sessions.name = json_extract(each.value, '$[1]')
    WHERE true
    ON CONFLICT (scope_id, link) DO UPDATE SET
        other_session_id = CASE
            WHEN excluded.session_id = session_id THEN other_session_id
            WHEN excluded.at > at THEN session_id
            WHEN other_at IS NULL OR excluded.at > other_at THEN excluded.session_id
            ELSE other_session_id END,
        other_at = CASE
            WHEN excluded.session_id = session_id THEN other_at
            WHEN excluded.at > at THEN at
            WHEN other_at IS NULL OR excluded.at > other_at THEN excluded.at
            ELSE other_at END,
        session_id = CASE WHEN excluded.at > at THEN excluded.session_id ELSE session_id END,
        at = max(at, excluded.at),
        went_on = max(went_on, excluded.went_on)
"""
GO_ON = """
    UPDATE links SET went_on = 1 WHERE (scope_id, link) IN (
        SELECT scopes.id, substr(:digests, each.key * :width + 1, :width)
        FROM json_each(:rows) AS each CROSS JOIN scopes ON scopes.name = json_extract(each.value, '$[0]')
    )
"""
# One statement however long the chain is: it walks from the newest link back and stops at the first that is known.
LONGEST_PREFIX = """
    WITH RECURSIVE
        scope (id) AS (SELECT id FROM scopes WHERE name = :scope),
        newest (length) AS (SELECT :length UNION ALL SELECT length - 1 FROM newest WHERE length > 1),
        known (length) AS (
            SELECT length FROM newest
            WHERE EXISTS (
                SELECT 1 FROM links
                WHERE scope_id = (SELECT id FROM scope) AND link = substr(:chain, (length - 1) * :width + 1, :width)
            )
            LIMIT 1
        )
    SELECT known.length, links.went_on, lead.name, links.at, other.name, links.other_at
    FROM known
    JOIN links ON links.scope_id = (SELECT id FROM scope)
        AND links.link = substr(:chain, (known.length - 1) * :width + 1, :width)
    JOIN sessions AS lead ON lead.id = links.session_id
    LEFT JOIN sessions AS other ON other.id = links.other_session_id
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
