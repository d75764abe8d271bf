-- The events for which runs wait.
CREATE TABLE workflow_waits (
    run_id     TEXT COLLATE "C"    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    path       TEXT COLLATE "C"    NOT NULL,
    owner      TEXT COLLATE "C"    NOT NULL,
    event      TEXT COLLATE "C"    NOT NULL,
    -- The roles of those who may report the event, as JSON.
    senders    TEXT COLLATE "C"    NOT NULL,
    -- The condition with what it reads beside the event, as JSON; NULL if there is none.
    condition  TEXT COLLATE "C",
    -- From when on events count.
    since      BIGINT NOT NULL,
    -- The number of the last event that was compared, and up to when events were.
    checked_no BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, path)
);

CREATE INDEX workflow_waits_by_event ON workflow_waits (event, run_id, path);
CREATE INDEX workflow_waits_by_owner ON workflow_waits (owner);

-- When people are reminded next, the time between two reminders, and how many there are at most.
ALTER TABLE workflow_tasks ADD COLUMN remind_at BIGINT;
ALTER TABLE workflow_tasks ADD COLUMN remind_ms BIGINT;
ALTER TABLE workflow_tasks ADD COLUMN max_reminders BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_tasks ADD COLUMN reminders BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_tasks ADD COLUMN reminded_at BIGINT;

CREATE INDEX workflow_tasks_to_remind ON workflow_tasks (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
