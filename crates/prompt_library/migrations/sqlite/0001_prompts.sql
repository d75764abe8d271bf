-- Prompts of users, and those that administrators share.
CREATE TABLE prompts (
    id          TEXT    NOT NULL PRIMARY KEY,
    -- The user; empty for a shared prompt.
    owner       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    -- The name in lower case.
    name_key    TEXT    NOT NULL,
    description TEXT    NOT NULL,
    content     TEXT    NOT NULL,
    -- A JSON list: the roles that see a shared prompt; empty for everybody.
    roles       TEXT    NOT NULL,
    -- Counts from 1.
    version     INTEGER NOT NULL,
    -- Unix times in milliseconds.
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX prompts_by_name ON prompts (owner, name_key);
