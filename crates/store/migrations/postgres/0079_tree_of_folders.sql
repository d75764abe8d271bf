-- The folder that a folder is in. Not a foreign key: rows are copied in the order of their ids, and what a deleted folder has
-- moves to the folder around it.
ALTER TABLE folders ADD COLUMN parent_id TEXT COLLATE "C";
