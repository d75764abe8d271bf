-- Agents that users have made for themselves.
CREATE TABLE own_agents (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner       TEXT COLLATE "C" NOT NULL,
    -- Its name among the agents of the user.
    name        TEXT COLLATE "C" NOT NULL,
    -- Counts from 1.
    version     BIGINT NOT NULL,
    -- JSON.
    definition  TEXT COLLATE "C" NOT NULL,
    -- JSON: with whom it is shared.
    sharing     TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    -- Unix time in milliseconds at which an administrator switched it off.
    disabled_at BIGINT
);

CREATE UNIQUE INDEX own_agents_by_name ON own_agents (owner, lower(name));

CREATE TABLE own_agent_versions (
    agent_id   TEXT COLLATE "C" NOT NULL REFERENCES own_agents (id) ON DELETE CASCADE,
    version    BIGINT NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, version)
);

CREATE INDEX own_agent_versions_by_owner ON own_agent_versions (owner);
