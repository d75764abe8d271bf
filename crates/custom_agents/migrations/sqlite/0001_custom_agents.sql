-- Custom agents as they are now, and every version of them. `IF NOT EXISTS`, because migration 16 of the
-- crate `store` creates the same tables, from the time before capabilities had migrations.
CREATE TABLE IF NOT EXISTS custom_agents (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- Counts from 1.
    version    INTEGER NOT NULL,
    -- JSON.
    definition TEXT    NOT NULL,
    -- The administrator who created it.
    owner      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- Unix time in milliseconds; the versions of a deleted agent stay.
    deleted_at INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS custom_agent_versions (
    agent_id   TEXT    NOT NULL REFERENCES custom_agents (id),
    version    INTEGER NOT NULL,
    definition TEXT    NOT NULL,
    -- The administrator who saved it.
    author     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT;
