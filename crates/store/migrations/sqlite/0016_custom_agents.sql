-- Agents that administrators made, as they are now, and every version of them.
CREATE TABLE custom_agents (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- Counts from 1.
    version    INTEGER NOT NULL,
    -- JSON.
    definition TEXT    NOT NULL,
    -- Who made it.
    owner      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- It cannot be asked any more; its versions stay.
    deleted_at INTEGER
) STRICT;

CREATE TABLE custom_agent_versions (
    agent_id   TEXT    NOT NULL REFERENCES custom_agents (id),
    version    INTEGER NOT NULL,
    definition TEXT    NOT NULL,
    -- Who wrote it.
    author     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT;
