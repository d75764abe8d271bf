-- A file that is added to a message which waits already.
CREATE TRIGGER queued_file_added AFTER UPDATE OF queued_content ON queued_messages
    FOR EACH ROW WHEN (strpos(new.queued_content, '/api/files/') > 0) EXECUTE FUNCTION queued_file_used();
