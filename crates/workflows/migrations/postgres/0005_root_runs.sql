-- The run at the top, which is the run itself if no other one started it: what waits in the runs below it is found without looking
-- at all open runs.
ALTER TABLE workflow_runs ADD COLUMN root_id TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE workflow_runs SET root_id = coalesce(ancestors::jsonb ->> -1, id);

CREATE INDEX workflow_runs_by_root ON workflow_runs (root_id) WHERE ended_at IS NULL;
