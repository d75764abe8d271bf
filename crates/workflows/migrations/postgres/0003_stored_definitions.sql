-- Definitions that are stored over the API, beside those of the config. They stay when their authors are deleted.
CREATE TABLE stored_workflows (
    id         TEXT COLLATE "C"    NOT NULL PRIMARY KEY,
    -- The current version, from 1.
    version    BIGINT NOT NULL,
    definition TEXT COLLATE "C"    NOT NULL,
    is_enabled BIGINT NOT NULL,
    author     TEXT COLLATE "C"    NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    -- Grows with each change, also of is_enabled.
    changes    BIGINT NOT NULL
);

CREATE TABLE stored_workflow_versions (
    workflow_id TEXT COLLATE "C"    NOT NULL,
    version     BIGINT NOT NULL,
    definition  TEXT COLLATE "C"    NOT NULL,
    author      TEXT COLLATE "C"    NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, version)
);
