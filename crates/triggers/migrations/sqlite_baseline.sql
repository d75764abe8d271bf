-- The tables as the migrations up to 0002_delivery_headers leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE trigger_states (
    workflow_id TEXT    NOT NULL,
    trigger_id  TEXT    NOT NULL,
    -- What it waits for. If the config changes it, checking begins anew.
    subject     TEXT    NOT NULL,
    -- Up to when ticks and events were considered.
    checked_at  INTEGER NOT NULL,
    -- How many runs have failed one after the other.
    failures    INTEGER NOT NULL DEFAULT 0,
    -- How many deliveries came again.
    repeats     INTEGER NOT NULL DEFAULT 0,
    paused_at   INTEGER,
    -- The administrator who has paused it; NULL if it was paused after failures.
    paused_by   TEXT,
    PRIMARY KEY (workflow_id, trigger_id)
) STRICT;
CREATE TABLE trigger_deliveries (
    -- Begins with the time.
    id           TEXT    NOT NULL PRIMARY KEY,
    workflow_id  TEXT    NOT NULL,
    trigger_id   TEXT    NOT NULL,
    -- What is the same when the delivery comes again: the sender's id, the tick, or the event.
    delivery_key TEXT    NOT NULL,
    received_at  INTEGER NOT NULL,
    is_test      INTEGER NOT NULL CHECK (is_test IN (0, 1)),
    outcome      TEXT    NOT NULL CHECK (outcome IN ('running', 'done', 'failed', 'stopped', 'filtered', 'refused')),
    -- Why it has failed or was refused.
    detail       TEXT,
    run_id       TEXT,
    content_type TEXT,
    -- The body of the request as it was received.
    body         BLOB, headers TEXT,
    UNIQUE (workflow_id, trigger_id, delivery_key)
) STRICT;
CREATE INDEX trigger_deliveries_newest ON trigger_deliveries (workflow_id, trigger_id, id);
CREATE INDEX trigger_deliveries_running ON trigger_deliveries (id) WHERE outcome = 'running';
CREATE INDEX trigger_deliveries_bodies ON trigger_deliveries (workflow_id, trigger_id, id) WHERE body IS NOT NULL;
CREATE INDEX trigger_deliveries_by_age ON trigger_deliveries (received_at);
