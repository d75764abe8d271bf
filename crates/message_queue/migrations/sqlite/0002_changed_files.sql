-- A file that is added to a message which waits already.
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
