-- A file whose message was removed, or that a change has taken out of its message, is used no more, unless the conversation
-- or another waiting message has it. A message that was sent is in the conversation already.
CREATE FUNCTION queued_file_released() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM file_uses u
    WHERE u.conversation_id = old.conversation_id AND u.is_attached = 1
        AND strpos(old.queued_content, '/api/files/' || u.file_id) > 0
        AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = old.conversation_id AND m.id = old.message_id)
        AND NOT EXISTS (
            SELECT 1 FROM queued_messages q
            WHERE q.conversation_id = old.conversation_id AND strpos(q.queued_content, '/api/files/' || u.file_id) > 0)
        AND NOT EXISTS (
            SELECT 1 FROM messages m
            WHERE m.conversation_id = old.conversation_id AND strpos(m.body, '/api/files/' || u.file_id) > 0);
    RETURN NULL;
END
$$;

CREATE TRIGGER queued_file_released AFTER DELETE ON queued_messages
    FOR EACH ROW WHEN (strpos(old.queued_content, '/api/files/') > 0) EXECUTE FUNCTION queued_file_released();

CREATE TRIGGER queued_file_removed AFTER UPDATE OF queued_content ON queued_messages
    FOR EACH ROW WHEN (strpos(old.queued_content, '/api/files/') > 0 AND old.queued_content <> new.queued_content)
    EXECUTE FUNCTION queued_file_released();
