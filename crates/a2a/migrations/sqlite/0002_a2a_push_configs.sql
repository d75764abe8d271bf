-- Where clients want to be told what becomes of their tasks.
CREATE TABLE a2a_push_configs (
    task_id TEXT NOT NULL REFERENCES a2a_tasks (id) ON DELETE CASCADE,
    -- The client's id.
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    url TEXT NOT NULL,
    -- The token and the credentials, encrypted.
    sealed TEXT NOT NULL,
    -- The origin of this server for the client, for the addresses of files.
    origin TEXT NOT NULL,
    -- When the state was reached of which the client was told last. Unix time in milliseconds.
    sent_at INTEGER NOT NULL,
    -- 0 when the client was told the end of the task, or cannot be reached.
    is_open INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, id)
) STRICT;
CREATE INDEX a2a_push_configs_open ON a2a_push_configs (task_id) WHERE is_open = 1;
CREATE INDEX a2a_push_configs_owner ON a2a_push_configs (owner);
