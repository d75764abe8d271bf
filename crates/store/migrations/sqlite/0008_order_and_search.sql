-- Order in many conversations: folders, pins, the archive, what was read, deletion that can be undone; and search.

CREATE TABLE folders (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX folders_list ON folders (owner, created_at);

ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1));
ALTER TABLE conversations ADD COLUMN folder_id TEXT REFERENCES folders (id) ON DELETE SET NULL;
-- `updated_at` as its owner last saw it.
ALTER TABLE conversations ADD COLUMN read_at INTEGER NOT NULL DEFAULT 0;
-- Out of everyone's sight from then on; the row goes when the time for an undo is over.
ALTER TABLE conversations ADD COLUMN deleted_at INTEGER;
UPDATE conversations SET read_at = updated_at;

DROP INDEX conversations_list;
CREATE INDEX conversations_list ON conversations (owner, archived, pinned DESC, updated_at DESC, id DESC)
    WHERE deleted_at IS NULL;
-- Also for the foreign key.
CREATE INDEX conversations_in_folder ON conversations (folder_id, pinned DESC, updated_at DESC, id DESC)
    WHERE folder_id IS NOT NULL;
CREATE INDEX conversations_deleted ON conversations (deleted_at) WHERE deleted_at IS NOT NULL;

-- The texts of messages under their `no`, titles under the negative `no` of `titles`. The owner is a word of its own in each row, so
-- that a search reads the owner's part of the index only. Kept by triggers: whatever writes a message, the index is right. Text that
-- is deleted leaves the index at once, too.
CREATE VIRTUAL TABLE search USING fts5 (owner, text, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

CREATE TABLE titles (
    no              INTEGER NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL UNIQUE REFERENCES conversations (id) ON DELETE CASCADE
) STRICT;

-- A message that is being written has no text yet; it enters the index when it is complete. A body that is no JSON has no text.
CREATE TRIGGER search_new_message AFTER INSERT ON messages BEGIN
    INSERT INTO search (rowid, owner, text)
    SELECT new.no, (SELECT 'o' || hex(owner) FROM conversations WHERE id = new.conversation_id), texts.text
    FROM (
        SELECT group_concat(json_extract(new.body, part.fullkey || '.text'), char(10)) AS text
        FROM json_each(CASE WHEN json_valid(new.body) THEN new.body ELSE '{}' END, '$.parts') part
        WHERE json_extract(new.body, part.fullkey || '.type') = 'text'
    ) texts
    WHERE texts.text <> '';
END;

CREATE TRIGGER search_changed_message AFTER UPDATE OF body ON messages BEGIN
    DELETE FROM search WHERE rowid = old.no;
    INSERT INTO search (rowid, owner, text)
    SELECT new.no, (SELECT 'o' || hex(owner) FROM conversations WHERE id = new.conversation_id), texts.text
    FROM (
        SELECT group_concat(json_extract(new.body, part.fullkey || '.text'), char(10)) AS text
        FROM json_each(CASE WHEN json_valid(new.body) THEN new.body ELSE '{}' END, '$.parts') part
        WHERE json_extract(new.body, part.fullkey || '.type') = 'text'
    ) texts
    WHERE texts.text <> '';
END;

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

-- What is there already.
INSERT INTO titles (conversation_id) SELECT id FROM conversations;
INSERT INTO search (rowid, owner, text)
SELECT -t.no, 'o' || hex(c.owner), c.title FROM titles t JOIN conversations c ON c.id = t.conversation_id;
INSERT INTO search (rowid, owner, text)
SELECT m.no, 'o' || hex(c.owner), texts.text
FROM (
    SELECT m.no, group_concat(json_extract(m.body, part.fullkey || '.text'), char(10)) AS text
    FROM messages m, json_each(CASE WHEN json_valid(m.body) THEN m.body ELSE '{}' END, '$.parts') part
    WHERE json_extract(m.body, part.fullkey || '.type') = 'text'
    GROUP BY m.no
) texts
JOIN messages m ON m.no = texts.no JOIN conversations c ON c.id = m.conversation_id
WHERE texts.text <> '';

-- Copies of conversations that anyone may read who has the link.
CREATE TABLE shares (
    -- Unguessable: it is what lets in.
    id              TEXT    NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    -- JSON; the conversation as it was then.
    copy            TEXT    NOT NULL
) STRICT;

CREATE INDEX shares_of_conversation ON shares (conversation_id, created_at);
