-- What requests to models took: one row for each, those of agents below and of programs' questions included. It names ids only, so that
-- what a user has used stays known when a conversation is deleted.
CREATE TABLE steps (
    no                 INTEGER NOT NULL PRIMARY KEY,
    -- When the reply ended.
    at                 INTEGER NOT NULL,
    owner              TEXT    NOT NULL,
    -- Neither for a question of a program.
    conversation_id    TEXT,
    message_id         TEXT,
    -- The run, or the invocation.
    run_id             TEXT    NOT NULL,
    agent_id           TEXT    NOT NULL,
    -- Of an agent below: the call that started it; of one further below, the calls on the way with `/` between them.
    call_id            TEXT,
    -- Counts from 1 within the run of its agent.
    number             INTEGER NOT NULL,
    provider           TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    finish_reason      TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    -- US dollars; NULL where the price is not known.
    cost_usd           REAL,
    -- From the request to the first part of the reply, and to its end, in milliseconds.
    first_part_ms      INTEGER NOT NULL,
    whole_ms           INTEGER NOT NULL
) STRICT;

-- What a conversation took.
CREATE INDEX steps_conversation ON steps (conversation_id, no) WHERE conversation_id IS NOT NULL;
-- What a user took in a span of time.
CREATE INDEX steps_owner ON steps (owner, at);
