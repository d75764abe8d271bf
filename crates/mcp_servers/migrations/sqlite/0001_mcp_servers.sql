-- MCP servers that administrators have added. All times are Unix times in milliseconds.
CREATE TABLE mcp_catalog (
    -- There is one row.
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Grows with each change of the other tables.
    version INTEGER NOT NULL
) STRICT;

CREATE TABLE mcp_servers (
    name       TEXT    NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    -- How to reach it and what agents get of it, without secrets: JSON.
    definition TEXT    NOT NULL,
    -- The secrets, encrypted. Empty if there are none.
    secrets    TEXT    NOT NULL,
    -- The administrators who have added it, and who have changed it last.
    created_by TEXT    NOT NULL,
    changed_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    -- What the last test has found: JSON. NULL before the first test.
    tested     TEXT
) STRICT;

-- Servers of the config that are switched off.
CREATE TABLE mcp_switched_off (
    server TEXT NOT NULL PRIMARY KEY
) STRICT;
