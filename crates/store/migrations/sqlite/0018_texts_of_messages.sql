-- What a message's text is, found in one pass: before, each part was looked for from the beginning of the body, twice, so that the time
-- grew with the square of their number. PostgreSQL reads them in one pass already.
DROP TRIGGER search_new_message;
DROP TRIGGER search_changed_message;

-- `json_error_position` lets go of what it has parsed, `json_valid` keeps a copy for the statement. Only in a part that is an object
-- anything can be looked for, and the order of conditions is SQLite's, so that is within the condition.
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
