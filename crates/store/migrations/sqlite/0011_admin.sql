-- What administrators look at: all conversations, what was used by day, the audit log by what stands in it.

-- What a conversation took and what came of it, kept by triggers, so that a list of all conversations is read from an index. Sums of
-- tokens are floating point: a provider's nonsense cannot overflow them.
ALTER TABLE conversations ADD COLUMN tokens REAL NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN liked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN disliked INTEGER NOT NULL DEFAULT 0;

-- What a user took of an agent on a day (days since 1970, UTC). It names ids only, and outlives conversations and users: whoever deletes
-- a conversation does not get its messages back.
CREATE TABLE usage_days (
    owner         TEXT    NOT NULL,
    day           INTEGER NOT NULL,
    agent_id      TEXT    NOT NULL,
    -- Of users, and questions of programs.
    messages      INTEGER NOT NULL DEFAULT 0,
    -- Answers that failed or were cut off by the end of the server.
    failures      INTEGER NOT NULL DEFAULT 0,
    steps         INTEGER NOT NULL DEFAULT 0,
    input_tokens  REAL    NOT NULL DEFAULT 0,
    output_tokens REAL    NOT NULL DEFAULT 0,
    -- US dollars, as far as prices are known.
    cost_usd      REAL    NOT NULL DEFAULT 0,
    -- Sums over the steps.
    first_part_ms REAL    NOT NULL DEFAULT 0,
    whole_ms      REAL    NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, agent_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_days_by_day ON usage_days (day);

-- What is there already.
INSERT INTO usage_days (owner, day, agent_id, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms)
SELECT owner, at / 86400000, agent_id, count(*), total(input_tokens), total(output_tokens), total(cost_usd), total(first_part_ms),
       total(whole_ms)
FROM steps GROUP BY 1, 2, 3;
INSERT INTO usage_days (owner, day, agent_id, messages, failures)
SELECT c.owner, r.started_at / 86400000, c.agent_id,
       sum(r.submission_key NOT LIKE 'answers:%' AND r.submission_key NOT LIKE 'continue:%'), sum(r.status IN ('failed', 'interrupted'))
FROM runs r JOIN conversations c ON c.id = r.conversation_id WHERE true GROUP BY 1, 2, 3
ON CONFLICT DO UPDATE SET messages = excluded.messages, failures = excluded.failures;
INSERT INTO usage_days (owner, day, agent_id, messages)
SELECT owner, created_at / 86400000, agent_id, count(*) FROM invocations WHERE true GROUP BY 1, 2, 3
ON CONFLICT DO UPDATE SET messages = messages + excluded.messages;
UPDATE conversations SET (tokens, cost_usd) = (
    SELECT total(s.input_tokens) + total(s.output_tokens), total(s.cost_usd) FROM steps s WHERE s.conversation_id = conversations.id
);
UPDATE conversations SET
    failures = (SELECT count(*) FROM runs r WHERE r.conversation_id = conversations.id AND r.status IN ('failed', 'interrupted')),
    liked = (SELECT count(*) FROM feedback f WHERE f.conversation_id = conversations.id AND f.rating = 'up'),
    disliked = (SELECT count(*) FROM feedback f WHERE f.conversation_id = conversations.id AND f.rating = 'down');

CREATE TRIGGER usage_of_step AFTER INSERT ON steps BEGIN
    INSERT INTO usage_days (owner, day, agent_id, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms)
    VALUES (new.owner, new.at / 86400000, new.agent_id, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_usd, 0),
            new.first_part_ms, new.whole_ms)
    ON CONFLICT DO UPDATE SET
        steps = steps + 1,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        first_part_ms = first_part_ms + excluded.first_part_ms,
        whole_ms = whole_ms + excluded.whole_ms;
    UPDATE conversations SET
        tokens = tokens + CAST(new.input_tokens AS REAL) + new.output_tokens,
        cost_usd = cost_usd + coalesce(new.cost_usd, 0)
    WHERE id = new.conversation_id;
END;

-- Answers to an agent's questions are no messages, nor is going on with an answer.
CREATE TRIGGER usage_of_run AFTER INSERT ON runs
WHEN new.submission_key NOT LIKE 'answers:%' AND new.submission_key NOT LIKE 'continue:%' BEGIN
    INSERT INTO usage_days (owner, day, agent_id, messages)
    SELECT owner, new.started_at / 86400000, agent_id, 1 FROM conversations WHERE id = new.conversation_id
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;

CREATE TRIGGER usage_of_failed_run AFTER UPDATE OF status ON runs
WHEN old.status = 'running' AND new.status IN ('failed', 'interrupted') BEGIN
    INSERT INTO usage_days (owner, day, agent_id, failures)
    SELECT owner, coalesce(new.ended_at, new.started_at) / 86400000, agent_id, 1 FROM conversations WHERE id = new.conversation_id
    ON CONFLICT DO UPDATE SET failures = failures + 1;
    UPDATE conversations SET failures = failures + 1 WHERE id = new.conversation_id;
END;

CREATE TRIGGER usage_of_invocation AFTER INSERT ON invocations BEGIN
    INSERT INTO usage_days (owner, day, agent_id, messages) VALUES (new.owner, new.created_at / 86400000, new.agent_id, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;

CREATE TRIGGER feedback_given AFTER INSERT ON feedback BEGIN
    UPDATE conversations SET liked = liked + (new.rating = 'up'), disliked = disliked + (new.rating = 'down')
    WHERE id = new.conversation_id;
END;

CREATE TRIGGER feedback_changed AFTER UPDATE OF rating ON feedback BEGIN
    UPDATE conversations SET
        liked = liked + (new.rating = 'up') - (old.rating = 'up'),
        disliked = disliked + (new.rating = 'down') - (old.rating = 'down')
    WHERE id = new.conversation_id;
END;

CREATE TRIGGER feedback_taken_back AFTER DELETE ON feedback BEGIN
    UPDATE conversations SET liked = liked - (old.rating = 'up'), disliked = disliked - (old.rating = 'down')
    WHERE id = old.conversation_id;
END;

-- The lists of all conversations: newest first, those of one user or agent, the dearest first, and those that are rare.
CREATE INDEX conversations_all ON conversations (updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX conversations_of_owner ON conversations (owner, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX conversations_of_agent ON conversations (agent_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX conversations_by_cost ON conversations (cost_usd, id) WHERE deleted_at IS NULL;
CREATE INDEX conversations_failed ON conversations (updated_at, id) WHERE failures > 0 AND deleted_at IS NULL;
CREATE INDEX conversations_liked ON conversations (updated_at, id) WHERE liked > 0 AND deleted_at IS NULL;
CREATE INDEX conversations_disliked ON conversations (updated_at, id) WHERE disliked > 0 AND deleted_at IS NULL;

CREATE INDEX feedback_list ON feedback (updated_at, conversation_id, message_id);

CREATE INDEX audit_of_user ON audit (user_id, no);
CREATE INDEX audit_of_tool ON audit (tool, no);
CREATE INDEX audit_by_outcome ON audit (outcome, no);

CREATE INDEX users_by_age ON users (created_at, id);
-- An administrator deletes him with all that is his; the row goes last, so that it can be gone on with after a restart.
ALTER TABLE users ADD COLUMN deleted_at INTEGER;
