-- Alerts are in the config; here is their state. All times are Unix times in milliseconds.
CREATE TABLE alert_states (
    alert_id    TEXT    NOT NULL,
    -- The user that an alert about users is about, '' for other alerts.
    owner       TEXT    NOT NULL,
    -- What the alert waits for. If the config changes it, the state begins anew.
    condition   TEXT    NOT NULL,
    is_firing   INTEGER NOT NULL CHECK (is_firing IN (0, 1)),
    -- Since when it is so.
    since       INTEGER NOT NULL,
    -- Since when the value is on the other side of the limit; NULL while it is not.
    turning_at  INTEGER,
    -- When people were told last.
    notified_at INTEGER,
    value       REAL    NOT NULL,
    checked_at  INTEGER NOT NULL,
    PRIMARY KEY (alert_id, owner)
) STRICT;

-- What people were told.
CREATE TABLE alert_events (
    -- Begins with the time.
    id       TEXT    NOT NULL PRIMARY KEY,
    alert_id TEXT    NOT NULL,
    owner    TEXT    NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind IN ('firing', 'still', 'resolved', 'test')),
    at       INTEGER NOT NULL,
    title    TEXT    NOT NULL,
    text     TEXT    NOT NULL
) STRICT;

-- To whom each of them is sent.
CREATE TABLE alert_deliveries (
    event_id TEXT    NOT NULL REFERENCES alert_events (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    -- Names the receiver without secrets.
    receiver TEXT    NOT NULL,
    outcome  TEXT    NOT NULL CHECK (outcome IN ('waiting', 'sent', 'failed')),
    -- Why it was not sent, or not yet.
    cause    TEXT,
    PRIMARY KEY (event_id, number)
) STRICT;
