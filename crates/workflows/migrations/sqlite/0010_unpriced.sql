-- The requests to models whose price is not known, so that the cost is not known either.
ALTER TABLE workflow_runs ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_steps ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
