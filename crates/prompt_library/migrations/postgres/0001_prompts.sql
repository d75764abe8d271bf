-- Prompts of users, and those that administrators share.
CREATE TABLE prompts (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- The user; empty for a shared prompt.
    owner       TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    -- The name in lower case.
    name_key    TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    content     TEXT COLLATE "C" NOT NULL,
    -- A JSON list: the roles that see a shared prompt; empty for everybody.
    roles       TEXT COLLATE "C" NOT NULL,
    -- Counts from 1.
    version     BIGINT NOT NULL,
    -- Unix times in milliseconds.
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE UNIQUE INDEX prompts_by_name ON prompts (owner, name_key);
