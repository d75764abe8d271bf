-- Agents that users have made for themselves.
CREATE TABLE own_agents (
    id          TEXT    NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,
    -- Its name among the agents of the user.
    name        TEXT    NOT NULL,
    -- Counts from 1.
    version     INTEGER NOT NULL,
    -- JSON.
    definition  TEXT    NOT NULL,
    -- JSON: with whom it is shared.
    sharing     TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    -- Unix time in milliseconds at which an administrator switched it off.
    disabled_at INTEGER
) STRICT;

CREATE UNIQUE INDEX own_agents_by_name ON own_agents (owner, lower(name));

CREATE TABLE own_agent_versions (
    agent_id   TEXT    NOT NULL REFERENCES own_agents (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    owner      TEXT    NOT NULL,
    definition TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, version)
) STRICT;

CREATE INDEX own_agent_versions_by_owner ON own_agent_versions (owner);
