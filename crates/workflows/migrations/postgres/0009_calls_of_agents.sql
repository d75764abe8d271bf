-- The state of an agent whose calls wait for decisions, as JSON, and how often it has waited.
ALTER TABLE workflow_steps ADD COLUMN suspended TEXT;
ALTER TABLE workflow_steps ADD COLUMN suspensions BIGINT NOT NULL DEFAULT 0;
-- The call that a question is about.
ALTER TABLE workflow_tasks ADD COLUMN call_id TEXT;
