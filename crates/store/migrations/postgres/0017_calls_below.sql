-- What is known of the calls of agents below others; see migrations/sqlite.
ALTER TABLE tool_calls ADD COLUMN agent_id TEXT COLLATE "C";
ALTER TABLE tool_calls ADD COLUMN gates TEXT COLLATE "C";
