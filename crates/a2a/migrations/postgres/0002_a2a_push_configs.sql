-- Where clients want to be told what becomes of their tasks.
CREATE TABLE a2a_push_configs (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES a2a_tasks (id) ON DELETE CASCADE,
    -- The client's id.
    id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    -- The token and the credentials, encrypted.
    sealed TEXT COLLATE "C" NOT NULL,
    -- The origin of this server for the client, for the addresses of files.
    origin TEXT COLLATE "C" NOT NULL,
    -- When the state was reached of which the client was told last. Unix time in milliseconds.
    sent_at BIGINT NOT NULL,
    -- 0 when the client was told the end of the task, or cannot be reached.
    is_open BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (task_id, id)
);
CREATE INDEX a2a_push_configs_open ON a2a_push_configs (task_id) WHERE is_open = 1;
CREATE INDEX a2a_push_configs_owner ON a2a_push_configs (owner);
