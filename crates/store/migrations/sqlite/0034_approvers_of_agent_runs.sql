-- The roles whose users decide on the calls of a run without a conversation. Without any, its owner decides.
CREATE TABLE agent_run_approvers (
    run_id TEXT NOT NULL REFERENCES agent_runs (id) ON DELETE CASCADE,
    role   TEXT NOT NULL,
    PRIMARY KEY (run_id, role)
) STRICT;

-- What waits for the users with a role.
CREATE INDEX agent_run_approvers_by_role ON agent_run_approvers (role, run_id);
