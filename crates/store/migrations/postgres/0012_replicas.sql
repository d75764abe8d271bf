-- Several servers on one database; see migrations/sqlite.

CREATE TABLE replicas (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    alive_until BIGINT           NOT NULL
);

ALTER TABLE runs
    ADD COLUMN replica        TEXT COLLATE "C",
    ADD COLUMN stop_requested BIGINT NOT NULL DEFAULT 0 CHECK (stop_requested IN (0, 1)),
    ADD COLUMN last_seq       BIGINT;
ALTER TABLE invocations ADD COLUMN replica TEXT COLLATE "C";

CREATE INDEX runs_to_stop ON runs (replica) WHERE stop_requested = 1 AND status = 'running';

CREATE TABLE secrets (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    bytes BYTEA            NOT NULL
);

-- The database's clock: those of the servers may differ. Unix time, milliseconds.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
