-- The run whose input this one was started with again; it may have been deleted since.
ALTER TABLE workflow_runs ADD COLUMN rerun_of TEXT;
-- The workflows whose events led to this run, from the first one, as JSON; those of the runs above are among them.
ALTER TABLE workflow_runs ADD COLUMN causes TEXT NOT NULL DEFAULT '[]';
-- The runs that wait for a decision.
CREATE INDEX workflow_steps_unknown ON workflow_steps (run_id) WHERE state = 'unknown';
