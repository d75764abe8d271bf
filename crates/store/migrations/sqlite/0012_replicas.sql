-- Several servers on one database. With SQLite there is one, so here these tables stay empty and the columns NULL; they are there because both
-- databases have the same rows.

-- Servers that serve the database now. What one of them drives is its own until its time is over; times are the database's.
CREATE TABLE replicas (
    id          TEXT    NOT NULL PRIMARY KEY,
    alive_until INTEGER NOT NULL
) STRICT;

-- Who drives it; only he writes.
ALTER TABLE runs ADD COLUMN replica TEXT;
-- Somebody asked another server to end it.
ALTER TABLE runs ADD COLUMN stop_requested INTEGER NOT NULL DEFAULT 0 CHECK (stop_requested IN (0, 1));
-- The number of its last event, where the journal has all of them; a run that was cut off has none.
ALTER TABLE runs ADD COLUMN last_seq INTEGER;
ALTER TABLE invocations ADD COLUMN replica TEXT;

CREATE INDEX runs_to_stop ON runs (replica) WHERE stop_requested = 1 AND status = 'running';

-- What all servers of a database know and nobody else.
CREATE TABLE secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
