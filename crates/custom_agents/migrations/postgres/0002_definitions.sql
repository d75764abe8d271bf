-- The name by which a program has stored the agent; NULL for those that were made in the console.
ALTER TABLE custom_agents ADD COLUMN name TEXT COLLATE "C";

CREATE UNIQUE INDEX custom_agents_by_name ON custom_agents (lower(name)) WHERE deleted_at IS NULL;
