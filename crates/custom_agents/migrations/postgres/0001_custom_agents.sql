-- The same tables as in migrations/sqlite.
CREATE TABLE IF NOT EXISTS custom_agents (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version    BIGINT           NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    updated_at BIGINT           NOT NULL,
    deleted_at BIGINT
);

CREATE TABLE IF NOT EXISTS custom_agent_versions (
    agent_id   TEXT COLLATE "C" NOT NULL REFERENCES custom_agents (id),
    version    BIGINT           NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    PRIMARY KEY (agent_id, version)
);
