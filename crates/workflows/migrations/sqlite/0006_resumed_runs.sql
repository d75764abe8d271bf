-- What the idempotency keys of the run's steps begin with: the id of the run at the top and the path to this run, so that they stay the
-- same when a step of the run above is repeated. Empty: the id.
ALTER TABLE workflow_runs ADD COLUMN key_base TEXT NOT NULL DEFAULT '';
-- When the run went on after its end, and what it had used by then, as JSON: its limits count from there.
ALTER TABLE workflow_runs ADD COLUMN resumed_at INTEGER;
ALTER TABLE workflow_runs ADD COLUMN used_before TEXT;
