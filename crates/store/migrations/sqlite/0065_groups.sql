-- Groups of the users of this server, whose members have their roles.
CREATE TABLE user_groups (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    -- The name in the form in which it is looked up: one for all ways to write it.
    name_key    TEXT    NOT NULL UNIQUE,
    description TEXT    NOT NULL,
    -- The roles of the members, a JSON list of texts.
    roles       TEXT    NOT NULL,
    -- 1: a directory sets the name and the members (SCIM).
    provisioned INTEGER NOT NULL,
    -- The id in the directory.
    external_id TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE user_group_members (
    group_id TEXT NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
) STRICT;

CREATE INDEX user_group_members_by_user ON user_group_members (user_id);

-- Users whom a directory manages (SCIM), as it describes them.
CREATE TABLE scim_users (
    user_id       TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    user_name     TEXT    NOT NULL,
    user_name_key TEXT    NOT NULL UNIQUE,
    -- The id in the directory.
    external_id   TEXT    UNIQUE,
    display_name  TEXT,
    -- A JSON object with the other attributes.
    attributes    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX scim_users_by_age ON scim_users (created_at, user_id);

-- The groups of the new account: a JSON list of ids.
ALTER TABLE invitations ADD COLUMN group_ids TEXT NOT NULL DEFAULT '[]';
