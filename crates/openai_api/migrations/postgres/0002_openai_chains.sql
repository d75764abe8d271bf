-- The response that a response continues, and the system and developer messages of its own input.
ALTER TABLE openai_responses ADD COLUMN previous_id TEXT;
ALTER TABLE openai_responses ADD COLUMN instructions TEXT;
