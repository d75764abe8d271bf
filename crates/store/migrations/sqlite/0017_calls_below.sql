-- Of a call of an agent below another one: that agent, and what was decided about the call before it ran (JSON, as in `audit`). No message
-- holds such a call, so this is what its audit row is made of when the server dies while it runs. NULL for all others.
ALTER TABLE tool_calls ADD COLUMN agent_id TEXT;
ALTER TABLE tool_calls ADD COLUMN gates TEXT;
