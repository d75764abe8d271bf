-- Definitions that are stored over the API, beside those of the config. They stay when their authors are deleted.
CREATE TABLE stored_workflows (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- The current version, from 1.
    version    INTEGER NOT NULL,
    definition TEXT    NOT NULL,
    is_enabled INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    -- Grows with each change, also of is_enabled.
    changes    INTEGER NOT NULL
) STRICT;

CREATE TABLE stored_workflow_versions (
    workflow_id TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    definition  TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, version)
) STRICT;
