-- The roles whose users decide on the calls of a run without a conversation; see migrations/sqlite.
CREATE TABLE agent_run_approvers (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES agent_runs (id) ON DELETE CASCADE,
    role   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, role)
);

CREATE INDEX agent_run_approvers_by_role ON agent_run_approvers (role, run_id);
