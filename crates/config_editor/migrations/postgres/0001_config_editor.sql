-- The same tables as in migrations/sqlite.
CREATE TABLE config_editor (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

CREATE TABLE config_versions (
    version      BIGINT           NOT NULL PRIMARY KEY,
    text         TEXT COLLATE "C" NOT NULL,
    published_by TEXT COLLATE "C" NOT NULL,
    published_at BIGINT           NOT NULL,
    restored     BIGINT
);

CREATE TABLE config_drafts (
    owner      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    text       TEXT COLLATE "C" NOT NULL,
    based_on   BIGINT           NOT NULL,
    revision   BIGINT           NOT NULL,
    changed_at BIGINT           NOT NULL
);
