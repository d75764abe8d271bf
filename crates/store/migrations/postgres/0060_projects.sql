-- Folders that are projects have a colour, and a conversation that begins in a project may have a model to begin with.
ALTER TABLE folders ADD COLUMN color TEXT COLLATE "C";
ALTER TABLE conversations ADD COLUMN model_id TEXT COLLATE "C";
