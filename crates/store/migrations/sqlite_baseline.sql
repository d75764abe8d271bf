-- The tables as the migrations up to 0080 leave them, with which a new SQLite database begins. A test compares the two.
-- These are the statements in `sqlite_master` of a database that the migrations alone made, and what they inserted.

CREATE TABLE conversations (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    page_id    TEXT    NOT NULL,
    agent_id   TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    -- The newest message of the active branch.
    head       TEXT    NOT NULL,
    -- Counts the runs; a stream cursor is EPOCH.SEQ, so no number is used twice for different events.
    epoch      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
, named_by_user INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)), archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)), folder_id TEXT REFERENCES folders (id) ON DELETE SET NULL, read_at INTEGER NOT NULL DEFAULT 0, deleted_at INTEGER, tokens REAL NOT NULL DEFAULT 0, cost_usd REAL NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, liked INTEGER NOT NULL DEFAULT 0, disliked INTEGER NOT NULL DEFAULT 0, expires_at INTEGER, model_id TEXT, rewrites INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE messages (
    -- The order of insertion.
    no              INTEGER NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    id              TEXT    NOT NULL,
    -- A parent is older than its children, so messages form a tree.
    parent_id       TEXT    CHECK (parent_id <> id),
    role            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    body            TEXT    NOT NULL,
    UNIQUE (conversation_id, id),
    FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id)
) STRICT;
CREATE INDEX messages_children ON messages (conversation_id, parent_id);
CREATE INDEX messages_in_order ON messages (conversation_id, no);
CREATE TABLE runs (
    no              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    submission_key  TEXT    NOT NULL,
    -- The assistant message that the run writes.
    message_id      TEXT    NOT NULL,
    epoch           INTEGER NOT NULL,
    status          TEXT    NOT NULL
        CHECK (status IN ('running', 'done', 'waiting', 'stopped', 'limit', 'failed', 'interrupted')),
    started_at      INTEGER NOT NULL,
    lease_until     INTEGER NOT NULL,
    ended_at        INTEGER,
    usage           TEXT,
    -- The cause, for the operator.
    error           TEXT,
    -- Its events are rows of run_events after the first and up to the second number; open while it is active.
    events_after    INTEGER NOT NULL,
    events_until    INTEGER, replica TEXT, stop_requested INTEGER NOT NULL DEFAULT 0 CHECK (stop_requested IN (0, 1)), last_seq INTEGER, reason TEXT, stop_reason TEXT,
    CHECK ((status = 'running') = (ended_at IS NULL)),
    UNIQUE (conversation_id, submission_key),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id)
) STRICT;
CREATE UNIQUE INDEX runs_active ON runs (conversation_id) WHERE status = 'running';
CREATE INDEX runs_ended ON runs (ended_at);
CREATE TABLE run_events (
    no        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run       INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL CHECK (last_seq >= first_seq),
    frames    BLOB    NOT NULL
) STRICT;
CREATE INDEX run_events_stripes ON run_events (no / 4096, run, last_seq);
CREATE TABLE tool_calls (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    call_id         TEXT    NOT NULL,
    run             INTEGER NOT NULL REFERENCES runs (no) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    input           TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    outcome         TEXT    CHECK (outcome IN ('ok', 'error')), agent_id TEXT, gates TEXT, fingerprint TEXT, idempotent INTEGER NOT NULL DEFAULT 0,
    CHECK ((outcome IS NULL) = (finished_at IS NULL)),
    PRIMARY KEY (conversation_id, call_id)
) STRICT;
CREATE INDEX tool_calls_run ON tool_calls (run);
CREATE TABLE invocations (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    agent_id   TEXT    NOT NULL,
    status     TEXT    NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'timeout')),
    -- JSON; only of one that succeeded.
    output     TEXT,
    -- For the caller; only of one that did not.
    error      TEXT,
    -- Tokens, as JSON.
    usage      TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER, replica TEXT, reason TEXT, stop_requested INTEGER NOT NULL DEFAULT 0,
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX invocations_list ON invocations (owner, created_at DESC, id DESC);
CREATE TABLE audit (
    -- From 1 on, without gaps.
    no              INTEGER NOT NULL PRIMARY KEY,
    -- When the call ended.
    at              INTEGER NOT NULL,
    user_id         TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    run_id          TEXT    NOT NULL,
    call_id         TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    -- JSON; secrets masked, long texts cut.
    arguments       TEXT    NOT NULL,
    -- JSON: what was decided about the call, in order.
    gates           TEXT    NOT NULL,
    outcome         TEXT    NOT NULL CHECK (outcome IN ('ok', 'error', 'denied', 'refused', 'interrupted')),
    -- How long the tool ran; only where that is known.
    duration_ms     INTEGER,
    -- SHA-256 in hexadecimal: the hash of the row before, and of this row with it.
    previous        TEXT    NOT NULL,
    hash            TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_calls ON audit (conversation_id, message_id, call_id);
CREATE TABLE grants (
    id              TEXT    NOT NULL PRIMARY KEY,
    owner           TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    -- Of the tool as it was; it does not hold for another one.
    fingerprint     TEXT    NOT NULL,
    conversation_id TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX grants_calls ON grants (owner, agent_id, tool, coalesce(conversation_id, ''));
CREATE INDEX grants_conversations ON grants (conversation_id);
CREATE TABLE users (
    id                  TEXT    NOT NULL PRIMARY KEY,
    -- As he wrote it.
    name                TEXT    NOT NULL,
    -- The name in the form in which it is looked up: one for all ways to write it.
    name_key            TEXT    NOT NULL UNIQUE,
    -- A hash in the PHC string format.
    password            TEXT    NOT NULL,
    -- A JSON list of texts.
    roles               TEXT    NOT NULL,
    created_at          INTEGER NOT NULL,
    password_changed_at INTEGER NOT NULL,
    -- He cannot sign in, and nothing that he is signed in with counts.
    disabled_at         INTEGER
, deleted_at INTEGER, must_change_password INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- SHA-256 of the cookie's token.
    token_hash BLOB    NOT NULL UNIQUE,
    -- The browser, in its own words, cut.
    agent      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    -- Not written at each request.
    seen_at    INTEGER NOT NULL
, identity_id TEXT REFERENCES user_identities (id) ON DELETE CASCADE, provider_session TEXT) STRICT;
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_age ON sessions (seen_at);
CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    -- SHA-256 of the key.
    key_hash   BLOB    NOT NULL UNIQUE,
    -- A JSON list of texts.
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Not written at each request.
    used_at    INTEGER
) STRICT;
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);
CREATE TABLE feedback (
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    rating          TEXT    NOT NULL CHECK (rating IN ('up', 'down')),
    reason          TEXT,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id, owner),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE deleted_messages (
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    -- The head of the active branch before.
    head            TEXT    NOT NULL,
    deleted_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX deleted_messages_due ON deleted_messages (deleted_at);
CREATE INDEX runs_of_message ON runs (conversation_id, message_id);
CREATE TABLE folders (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
, color TEXT, position INTEGER NOT NULL DEFAULT 0, parent_id TEXT) STRICT;
CREATE INDEX folders_list ON folders (owner, created_at);
CREATE INDEX conversations_list ON conversations (owner, archived, pinned DESC, updated_at DESC, id DESC)
    WHERE deleted_at IS NULL;
CREATE INDEX conversations_in_folder ON conversations (folder_id, pinned DESC, updated_at DESC, id DESC)
    WHERE folder_id IS NOT NULL;
CREATE INDEX conversations_deleted ON conversations (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE VIRTUAL TABLE search USING fts5 (owner, text, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
CREATE TABLE titles (
    no              INTEGER NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL UNIQUE REFERENCES conversations (id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER search_deleted_message AFTER DELETE ON messages BEGIN
    DELETE FROM search WHERE rowid = old.no;
END;
CREATE TRIGGER search_new_conversation AFTER INSERT ON conversations BEGIN
    INSERT INTO titles (conversation_id) VALUES (new.id);
    INSERT INTO search (rowid, owner, text)
    SELECT -no, 'o' || hex(new.owner), new.title FROM titles WHERE conversation_id = new.id;
END;
CREATE TRIGGER search_changed_title AFTER UPDATE OF title ON conversations WHEN old.title <> new.title BEGIN
    UPDATE search SET text = new.title WHERE rowid = (SELECT -no FROM titles WHERE conversation_id = new.id);
END;
CREATE TRIGGER search_deleted_title AFTER DELETE ON titles BEGIN
    DELETE FROM search WHERE rowid = -old.no;
END;
CREATE TRIGGER search_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE search SET owner = 'o' || hex(new.owner)
    WHERE rowid IN (
        SELECT no FROM messages WHERE conversation_id = new.id
        UNION ALL SELECT -no FROM titles WHERE conversation_id = new.id
    );
END;
CREATE TABLE shares (
    -- Unguessable: it is what lets in.
    id              TEXT    NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    -- JSON; the conversation as it was then.
    copy            TEXT    NOT NULL
) STRICT;
CREATE INDEX shares_of_conversation ON shares (conversation_id, created_at);
CREATE TABLE files (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    -- Empty as long as it is still arriving; then what its bytes say that it is.
    media_type TEXT    NOT NULL DEFAULT '',
    -- Bytes; as long as it is arriving, the room that is kept for it.
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX files_of_owner ON files (owner);
CREATE INDEX files_by_age ON files (created_at);
CREATE TABLE file_pieces (
    file_id TEXT    NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    no      INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (file_id, no)
) STRICT;
CREATE TABLE file_uses (
    file_id         TEXT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, is_attached INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (file_id, conversation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_uses_of_conversation ON file_uses (conversation_id);
CREATE TRIGGER file_used AFTER INSERT ON messages WHEN new.role = 'user' AND instr(new.body, '/api/files/') > 0 BEGIN
    INSERT OR IGNORE INTO file_uses (file_id, conversation_id)
    SELECT f.id, c.id
    FROM json_each(CASE WHEN json_valid(new.body) THEN new.body ELSE '{}' END, '$.parts') part
        JOIN files f ON f.id = substr(json_extract(new.body, part.fullkey || '.url'), 12)
        JOIN conversations c ON c.id = new.conversation_id AND c.owner = f.owner
    WHERE json_extract(new.body, part.fullkey || '.type') = 'file'
        AND json_extract(new.body, part.fullkey || '.url') LIKE '/api/files/%';
END;
CREATE TRIGGER file_unused AFTER DELETE ON file_uses BEGIN
    DELETE FROM files
    WHERE id = old.file_id AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = old.file_id);
END;
CREATE TRIGGER file_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE files SET owner = new.owner
    WHERE id IN (SELECT file_id FROM file_uses WHERE conversation_id = new.id);
END;
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
, saved_usd REAL) STRICT;
CREATE INDEX steps_conversation ON steps (conversation_id, no) WHERE conversation_id IS NOT NULL;
CREATE INDEX steps_owner ON steps (owner, at);
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
    whole_ms      REAL    NOT NULL DEFAULT 0, saved_usd REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, agent_id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE replicas (
    id          TEXT    NOT NULL PRIMARY KEY,
    alive_until INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_to_stop ON runs (replica) WHERE stop_requested = 1 AND status = 'running';
CREATE TABLE secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE INDEX conversations_expiring ON conversations (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX invocations_ended ON invocations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX grants_all ON grants (created_at, id);
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
CREATE TABLE outside_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- How callers were told apart when it was made: in another mode the same id may be somebody else.
    mode       TEXT    NOT NULL,
    user_id    TEXT    NOT NULL,
    user_name  TEXT,
    -- Those that he had when he came last: a JSON list of texts.
    roles      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    -- SHA-256 of the key.
    key_hash   BLOB    NOT NULL UNIQUE,
    -- A JSON list of texts.
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Not written at each request.
    used_at    INTEGER
) STRICT;
CREATE INDEX outside_keys_of_user ON outside_keys (user_id, mode, created_at);
CREATE INDEX grants_by_tool ON grants (tool, id);
CREATE INDEX conversations_of_agent_by_cost ON conversations (agent_id, cost_usd, id) WHERE deleted_at IS NULL;
CREATE INDEX audit_of_agent ON audit (agent_id, no);
CREATE TRIGGER search_new_message AFTER INSERT ON messages BEGIN
    INSERT INTO search (rowid, owner, text)
    SELECT new.no, (SELECT 'o' || hex(owner) FROM conversations WHERE id = new.conversation_id),
        group_concat(part.value ->> '$.text', char(10))
    FROM jsonb_each(CASE json_error_position(new.body) WHEN 0 THEN new.body ELSE '{}' END, '$.parts') part
    WHERE CASE part.type WHEN 'object' THEN part.value ->> '$.type' END = 'text'
    HAVING total(octet_length(part.value ->> '$.text')) > 0;
END;
CREATE TRIGGER search_changed_message AFTER UPDATE OF body ON messages BEGIN
    DELETE FROM search WHERE rowid = old.no;
    INSERT INTO search (rowid, owner, text)
    SELECT new.no, (SELECT 'o' || hex(owner) FROM conversations WHERE id = new.conversation_id),
        group_concat(part.value ->> '$.text', char(10))
    FROM jsonb_each(CASE json_error_position(new.body) WHEN 0 THEN new.body ELSE '{}' END, '$.parts') part
    WHERE CASE part.type WHEN 'object' THEN part.value ->> '$.type' END = 'text'
    HAVING total(octet_length(part.value ->> '$.text')) > 0;
END;
CREATE INDEX conversations_of_agent_failed ON conversations (agent_id, updated_at, id) WHERE failures > 0 AND deleted_at IS NULL;
CREATE TABLE event_claims (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      TEXT    NOT NULL,
    key             TEXT    NOT NULL,
    claimed_by      TEXT    NOT NULL,
    claimed_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_claims_by_time ON event_claims (claimed_at);
CREATE TABLE jobs (
    id               TEXT    NOT NULL PRIMARY KEY,
    kind             TEXT    NOT NULL,
    -- The user whose work it is, and with whom it is deleted; NULL for work of the server.
    owner            TEXT,
    payload          TEXT    NOT NULL,
    -- At most one job of a kind with this key waits or runs.
    unique_key       TEXT,
    state            TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    due_at           INTEGER NOT NULL,
    -- When the delay until due_at began; NULL if due_at is a time that the caller has chosen.
    delayed_at       INTEGER,
    -- The time between two runs of a recurring job; NULL for others.
    every_ms         INTEGER,
    attempts         INTEGER NOT NULL DEFAULT 0,
    -- Grows with each attempt. Every write of an attempt names it.
    fence            INTEGER NOT NULL DEFAULT 0,
    -- The worker that runs it, and a number that grows as long as this worker lives.
    holder           TEXT,
    beat             INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    -- When it is due again, if it was enqueued with its key while it ran.
    again_at         INTEGER,
    -- Why the last attempt failed.
    error            TEXT,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    ended_at         INTEGER
) STRICT;
CREATE INDEX jobs_waiting ON jobs (kind, due_at, id) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (kind) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (state, ended_at, kind) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_delayed ON jobs (delayed_at) WHERE state = 'waiting' AND delayed_at IS NOT NULL;
CREATE INDEX jobs_of_owner ON jobs (owner) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX jobs_pending_keys ON jobs (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running');
CREATE TABLE invocation_calls (
    invocation_id TEXT    NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
    call_id       TEXT    NOT NULL,
    agent_id      TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    arguments     TEXT    NOT NULL,
    gates         TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    PRIMARY KEY (invocation_id, call_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_runs (
    id         TEXT    NOT NULL PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    phase      TEXT    NOT NULL CHECK (phase IN ('pending', 'running', 'waiting')),
    -- As whom, and the request, as JSON.
    caller     TEXT    NOT NULL,
    request    TEXT    NOT NULL,
    -- From where it continues, as JSON; none before the first tool call.
    state      TEXT,
    -- The questions that wait for an answer, as JSON; none unless it waits.
    questions  TEXT,
    -- For how long it has run, in milliseconds, without the time that it waited.
    active_ms  INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_runs_of_owner ON agent_runs (owner, phase);
CREATE INDEX agent_runs_open ON agent_runs (phase, updated_at);
CREATE TABLE events (
    name      TEXT    NOT NULL,
    -- A text that no other event of this name has.
    event_key TEXT    NOT NULL,
    -- Grows with each event, in the order of the transactions.
    no        INTEGER NOT NULL,
    -- Unix time in milliseconds.
    at        INTEGER NOT NULL,
    -- What has happened, as a JSON object.
    data      TEXT    NOT NULL,
    -- The roles of the user who has reported it, as JSON; NULL for events of the product.
    roles     TEXT,
    PRIMARY KEY (name, event_key)
) STRICT;
CREATE UNIQUE INDEX events_by_number ON events (no);
CREATE INDEX events_by_name ON events (name, no);
CREATE INDEX events_by_time ON events (name, at, event_key);
CREATE INDEX events_by_age ON events (at);
CREATE INDEX jobs_of_turns ON jobs (kind, coalesce(owner, ''), due_at, id) WHERE state = 'waiting';
CREATE TABLE agent_run_approvers (
    run_id TEXT NOT NULL REFERENCES agent_runs (id) ON DELETE CASCADE,
    role   TEXT NOT NULL,
    PRIMARY KEY (run_id, role)
) STRICT;
CREATE INDEX agent_run_approvers_by_role ON agent_run_approvers (role, run_id);
CREATE TABLE user_identities (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    -- The name at the provider, which is only shown.
    label      TEXT    NOT NULL,
    -- The roles that the last sign-in has given, a JSON list of texts. They count in sessions of this identity only.
    roles      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    UNIQUE (issuer, subject)
) STRICT;
CREATE INDEX user_identities_of_user ON user_identities (user_id, created_at);
CREATE INDEX sessions_of_identity ON sessions (identity_id);
CREATE TABLE invitations (
    id         TEXT   NOT NULL PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    -- For whom it is, as the administrator has written it.
    label      TEXT   NOT NULL,
    -- The roles of the new account, a JSON list of texts.
    roles      TEXT   NOT NULL,
    created_by TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, group_ids TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE INDEX invitations_by_creator ON invitations (created_by);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
CREATE TABLE second_factors (
    user_id        TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- The secret that the server and the app share, encrypted by the server.
    secret         TEXT    NOT NULL,
    -- The time step of the last code: each code is accepted once.
    last_step      INTEGER NOT NULL,
    -- The hashes of the recovery codes that are not used up, a JSON list of texts.
    recovery_codes TEXT    NOT NULL,
    created_at     INTEGER NOT NULL
, wrong_codes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TRIGGER usage_of_step AFTER INSERT ON steps BEGIN
    INSERT INTO usage_days
        (owner, day, agent_id, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms, saved_usd)
    VALUES (new.owner, new.at / 86400000, new.agent_id, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_usd, 0),
            new.first_part_ms, new.whole_ms, coalesce(new.saved_usd, 0))
    ON CONFLICT DO UPDATE SET
        steps = steps + 1,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        first_part_ms = first_part_ms + excluded.first_part_ms,
        whole_ms = whole_ms + excluded.whole_ms,
        saved_usd = saved_usd + excluded.saved_usd;
    UPDATE conversations SET
        tokens = tokens + CAST(new.input_tokens AS REAL) + new.output_tokens,
        cost_usd = cost_usd + coalesce(new.cost_usd, 0)
    WHERE id = new.conversation_id;
END;
CREATE INDEX usage_days_by_day ON usage_days
    (day, agent_id, owner, messages, failures, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms,
     saved_usd);
CREATE INDEX invocations_of_all ON invocations (created_at DESC, id DESC);
CREATE INDEX steps_outside ON steps (run_id) WHERE conversation_id IS NULL;
CREATE TABLE user_groups (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    -- The name in the form in which it is looked up: one for all ways to write it.
    name_key    TEXT    NOT NULL UNIQUE,
    description TEXT    NOT NULL,
    -- The roles of the members, a JSON list of texts.
    roles       TEXT    NOT NULL,
    -- 1: a directory sets the name and the members (SCIM).
    provisioned INTEGER NOT NULL,
    -- The id in the directory.
    external_id TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE user_group_members (
    group_id TEXT NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
) STRICT;
CREATE INDEX user_group_members_by_user ON user_group_members (user_id);
CREATE TABLE scim_users (
    user_id       TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    user_name     TEXT    NOT NULL,
    user_name_key TEXT    NOT NULL UNIQUE,
    -- The id in the directory.
    external_id   TEXT    UNIQUE,
    display_name  TEXT,
    -- A JSON object with the other attributes.
    attributes    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX scim_users_by_age ON scim_users (created_at, user_id);
CREATE TABLE model_days (
    day           INTEGER NOT NULL,
    agent_id      TEXT    NOT NULL,
    owner         TEXT    NOT NULL,
    provider      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    steps         INTEGER NOT NULL,
    input_tokens  REAL    NOT NULL,
    output_tokens REAL    NOT NULL,
    -- US dollars, as far as prices are known.
    cost_usd      REAL    NOT NULL,
    saved_usd     REAL    NOT NULL,
    -- Sums over the steps.
    first_part_ms REAL    NOT NULL,
    whole_ms      REAL    NOT NULL,
    -- The day first: sums over many days read a part of the table.
    PRIMARY KEY (day, agent_id, owner, provider, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER model_usage_of_step AFTER INSERT ON steps BEGIN
    INSERT INTO model_days
    VALUES (new.at / 86400000, new.agent_id, new.owner, new.provider, new.model, 1, new.input_tokens, new.output_tokens,
            coalesce(new.cost_usd, 0), coalesce(new.saved_usd, 0), new.first_part_ms, new.whole_ms)
    ON CONFLICT DO UPDATE SET
        steps = steps + 1,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        saved_usd = saved_usd + excluded.saved_usd,
        first_part_ms = first_part_ms + excluded.first_part_ms,
        whole_ms = whole_ms + excluded.whole_ms;
END;
