-- The order in which a user has put their folders: from 1 on, 0 for a folder that is not in it.
ALTER TABLE folders ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
