-- Messages that wait for the end of an answer.
CREATE TABLE queued_messages (
    conversation_id  TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The id that the message gets in the conversation.
    message_id       TEXT COLLATE "C" NOT NULL,
    -- The order in the conversation.
    queue_place      BIGINT NOT NULL,
    -- The message, as JSON.
    queued_content   TEXT COLLATE "C" NOT NULL,
    -- The state of the composer, as JSON.
    composer_choices TEXT COLLATE "C" NOT NULL,
    -- 1 if only an open page may send it.
    needs_page       BIGINT NOT NULL,
    -- The server does not send it before this time. This and the next one are Unix times in milliseconds.
    held_until       BIGINT NOT NULL,
    queued_at        BIGINT NOT NULL,
    -- Why the server could not send it.
    refusal          TEXT COLLATE "C",
    PRIMARY KEY (conversation_id, message_id)
);

CREATE INDEX queued_messages_in_order ON queued_messages (conversation_id, queue_place);

-- Whoever has sent it: it does not wait any more.
CREATE FUNCTION queued_message_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM queued_messages WHERE conversation_id = new.conversation_id AND message_id = new.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER queued_message_sent AFTER INSERT ON messages
    FOR EACH ROW WHEN (new.role = 'user') EXECUTE FUNCTION queued_message_sent();

-- A file stays as long as a message waits that has it, as with messages of the conversation.
CREATE FUNCTION queued_file_used() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    parts json;
BEGIN
    parts := new.queued_content::json -> 'parts';
    IF json_typeof(parts) = 'array' THEN
        INSERT INTO file_uses (file_id, conversation_id)
        SELECT DISTINCT f.id, c.id
        FROM json_array_elements(parts) part
            JOIN files f ON f.id = substr(part ->> 'url', 12)
            JOIN conversations c ON c.id = new.conversation_id AND c.owner = f.owner
        WHERE json_typeof(part) = 'object' AND part ->> 'type' = 'file' AND part ->> 'url' LIKE '/api/files/%'
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END
$$;

CREATE TRIGGER queued_file_used AFTER INSERT ON queued_messages
    FOR EACH ROW WHEN (strpos(new.queued_content, '/api/files/') > 0) EXECUTE FUNCTION queued_file_used();
