-- Changes of the config that administrators have published. All times are Unix times in milliseconds.
CREATE TABLE config_editor (
    -- There is one row.
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- The newest version.
    version INTEGER NOT NULL
) STRICT;

CREATE TABLE config_versions (
    version      INTEGER NOT NULL PRIMARY KEY,
    -- YAML: sections of a config.
    text         TEXT    NOT NULL,
    published_by TEXT    NOT NULL,
    published_at INTEGER NOT NULL,
    -- The earlier version that it repeats; 0 stands for the files alone. NULL if it was written.
    restored     INTEGER
) STRICT;

CREATE TABLE config_drafts (
    -- The administrator who writes it.
    owner      TEXT    NOT NULL PRIMARY KEY,
    text       TEXT    NOT NULL,
    -- The version that was the newest one when the draft was begun.
    based_on   INTEGER NOT NULL,
    -- Grows with each change.
    revision   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
