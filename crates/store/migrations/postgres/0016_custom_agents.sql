-- Agents that administrators made, as they are now, and every version of them; see migrations/sqlite.
CREATE TABLE custom_agents (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version    BIGINT           NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    updated_at BIGINT           NOT NULL,
    deleted_at BIGINT
);

CREATE TABLE custom_agent_versions (
    agent_id   TEXT COLLATE "C" NOT NULL REFERENCES custom_agents (id),
    version    BIGINT           NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    PRIMARY KEY (agent_id, version)
);
