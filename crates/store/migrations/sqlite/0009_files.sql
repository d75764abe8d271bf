-- Files that users attach to messages. In the database: they are saved, copied and deleted with the conversations that they belong to.

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

-- In pieces, so that nobody has to hold a whole file in memory, and no write keeps others waiting for long.
CREATE TABLE file_pieces (
    file_id TEXT    NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    no      INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (file_id, no)
) STRICT;

-- Which conversations a file belongs to. Kept by triggers: whatever writes a message, the file stays as long as the message does.
CREATE TABLE file_uses (
    file_id         TEXT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    PRIMARY KEY (file_id, conversation_id)
) STRICT, WITHOUT ROWID;

-- For the foreign key.
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

-- With its last conversation it goes, too.
CREATE TRIGGER file_unused AFTER DELETE ON file_uses BEGIN
    DELETE FROM files
    WHERE id = old.file_id AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file_id = old.file_id);
END;

CREATE TRIGGER file_changed_owner AFTER UPDATE OF owner ON conversations WHEN old.owner <> new.owner BEGIN
    UPDATE files SET owner = new.owner
    WHERE id IN (SELECT file_id FROM file_uses WHERE conversation_id = new.id);
END;
