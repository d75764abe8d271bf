-- A file whose message was removed is used no more, unless the conversation or another waiting message has it. A message that
-- was sent is in the conversation already.
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

-- A file that a change has taken out of its message.
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
