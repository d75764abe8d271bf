-- The tables as the migrations up to 0004_attempts leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE queued_messages (
    conversation_id  TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The id that the message gets in the conversation.
    message_id       TEXT    NOT NULL,
    -- The order in the conversation.
    queue_place      INTEGER NOT NULL,
    -- The message, as JSON.
    queued_content   TEXT    NOT NULL,
    -- The state of the composer, as JSON.
    composer_choices TEXT    NOT NULL,
    -- 1 if only an open page may send it.
    needs_page       INTEGER NOT NULL,
    -- The server does not send it before this time. This and the next one are Unix times in milliseconds.
    held_until       INTEGER NOT NULL,
    queued_at        INTEGER NOT NULL,
    -- Why the server could not send it.
    refusal          TEXT, attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0, sending_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation_id, message_id)
) STRICT;
CREATE INDEX queued_messages_in_order ON queued_messages (conversation_id, queue_place);
CREATE TRIGGER queued_message_sent AFTER INSERT ON messages WHEN new.role = 'user' BEGIN
    DELETE FROM queued_messages WHERE conversation_id = new.conversation_id AND message_id = new.id;
END;
CREATE TRIGGER queued_file_used AFTER INSERT ON queued_messages WHEN instr(new.queued_content, '/api/files/') > 0 BEGIN
    INSERT OR IGNORE INTO file_uses (file_id, conversation_id)
    SELECT f.id, c.id
    FROM json_each(CASE WHEN json_valid(new.queued_content) THEN new.queued_content ELSE '{}' END, '$.parts') part
        JOIN files f ON f.id = substr(json_extract(new.queued_content, part.fullkey || '.url'), 12)
        JOIN conversations c ON c.id = new.conversation_id AND c.owner = f.owner
    WHERE json_extract(new.queued_content, part.fullkey || '.type') = 'file'
        AND json_extract(new.queued_content, part.fullkey || '.url') LIKE '/api/files/%';
END;
CREATE TRIGGER queued_file_added AFTER UPDATE OF queued_content ON queued_messages
WHEN instr(new.queued_content, '/api/files/') > 0 BEGIN
    INSERT OR IGNORE INTO file_uses (file_id, conversation_id)
    SELECT f.id, c.id
    FROM json_each(CASE WHEN json_valid(new.queued_content) THEN new.queued_content ELSE '{}' END, '$.parts') part
        JOIN files f ON f.id = substr(json_extract(new.queued_content, part.fullkey || '.url'), 12)
        JOIN conversations c ON c.id = new.conversation_id AND c.owner = f.owner
    WHERE json_extract(new.queued_content, part.fullkey || '.type') = 'file'
        AND json_extract(new.queued_content, part.fullkey || '.url') LIKE '/api/files/%';
END;
CREATE TRIGGER queued_file_released AFTER DELETE ON queued_messages WHEN instr(old.queued_content, '/api/files/') > 0 BEGIN
    DELETE FROM file_uses
    WHERE conversation_id = old.conversation_id AND is_attached = 1
        AND instr(old.queued_content, '/api/files/' || file_id) > 0
        AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = old.conversation_id AND m.id = old.message_id)
        AND NOT EXISTS (
            SELECT 1 FROM queued_messages q
            WHERE q.conversation_id = old.conversation_id AND instr(q.queued_content, '/api/files/' || file_uses.file_id) > 0)
        AND NOT EXISTS (
            SELECT 1 FROM messages m
            WHERE m.conversation_id = old.conversation_id AND instr(m.body, '/api/files/' || file_uses.file_id) > 0);
END;
CREATE TRIGGER queued_file_removed AFTER UPDATE OF queued_content ON queued_messages
WHEN instr(old.queued_content, '/api/files/') > 0 AND old.queued_content <> new.queued_content BEGIN
    DELETE FROM file_uses
    WHERE conversation_id = old.conversation_id AND is_attached = 1
        AND instr(old.queued_content, '/api/files/' || file_id) > 0
        AND NOT EXISTS (
            SELECT 1 FROM queued_messages q
            WHERE q.conversation_id = old.conversation_id AND instr(q.queued_content, '/api/files/' || file_uses.file_id) > 0)
        AND NOT EXISTS (
            SELECT 1 FROM messages m
            WHERE m.conversation_id = old.conversation_id AND instr(m.body, '/api/files/' || file_uses.file_id) > 0);
END;
