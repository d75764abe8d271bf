-- The events for which runs wait.
CREATE TABLE workflow_waits (
    run_id     TEXT    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    path       TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    event      TEXT    NOT NULL,
    -- The roles of those who may report the event, as JSON.
    senders    TEXT    NOT NULL,
    -- The condition with what it reads beside the event, as JSON; NULL if there is none.
    condition  TEXT,
    -- From when on events count.
    since      INTEGER NOT NULL,
    -- The number of the last event that was compared, and up to when events were.
    checked_no INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT;

CREATE INDEX workflow_waits_by_event ON workflow_waits (event, run_id, path);
CREATE INDEX workflow_waits_by_owner ON workflow_waits (owner);

-- When people are reminded next, the time between two reminders, and how many there are at most.
ALTER TABLE workflow_tasks ADD COLUMN remind_at INTEGER;
ALTER TABLE workflow_tasks ADD COLUMN remind_ms INTEGER;
ALTER TABLE workflow_tasks ADD COLUMN max_reminders INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_tasks ADD COLUMN reminders INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow_tasks ADD COLUMN reminded_at INTEGER;

CREATE INDEX workflow_tasks_to_remind ON workflow_tasks (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
