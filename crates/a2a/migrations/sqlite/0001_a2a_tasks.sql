-- The tasks of Agent2Agent: each is an answer in a conversation, from which everything else about it is derived.
CREATE TABLE a2a_tasks (
    -- The answer.
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (conversation_id, id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX a2a_tasks_owner ON a2a_tasks (owner, agent_id);
CREATE INDEX a2a_tasks_conversation ON a2a_tasks (conversation_id, id);

-- The messages that clients have sent, so that a repeated one has no further effect.
CREATE TABLE a2a_messages (
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    task_id TEXT NOT NULL REFERENCES a2a_tasks (id) ON DELETE CASCADE,
    -- The requests to the user that the message answers, as a JSON list of ids; NULL for the message that began the task.
    answers TEXT,
    PRIMARY KEY (owner, agent_id, message_id)
) STRICT;
CREATE INDEX a2a_messages_task ON a2a_messages (task_id);
