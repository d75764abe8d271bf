-- Whether the author of the current version is a user of this server and was no administrator when they saved it: it is not
-- used any more when they are deleted.
ALTER TABLE stored_workflows ADD COLUMN limited_author INTEGER NOT NULL DEFAULT 0;
-- Why it was disabled without anybody's doing.
ALTER TABLE stored_workflows ADD COLUMN disabled_because TEXT;
