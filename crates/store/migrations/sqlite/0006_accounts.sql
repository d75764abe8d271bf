-- Users who sign in with a password, how they are signed in now, and the keys of their programs. Of tokens only hashes are kept.

CREATE TABLE users (
    id                  TEXT    NOT NULL PRIMARY KEY,
    -- As he wrote it.
    name                TEXT    NOT NULL,
    -- The name in the form in which it is looked up: one for all ways to write it.
    name_key            TEXT    NOT NULL UNIQUE,
    -- A hash in the PHC string format.
    password            TEXT    NOT NULL,
    -- A JSON list of texts.
    roles               TEXT    NOT NULL,
    created_at          INTEGER NOT NULL,
    password_changed_at INTEGER NOT NULL,
    -- He cannot sign in, and nothing that he is signed in with counts.
    disabled_at         INTEGER
) STRICT;

CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- SHA-256 of the cookie's token.
    token_hash BLOB    NOT NULL UNIQUE,
    -- The browser, in its own words, cut.
    agent      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    -- Not written at each request.
    seen_at    INTEGER NOT NULL
) STRICT;

-- A user's own, and the foreign key.
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
-- What is over is deleted.
CREATE INDEX sessions_by_age ON sessions (seen_at);

CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    -- SHA-256 of the key.
    key_hash   BLOB    NOT NULL UNIQUE,
    -- A JSON list of texts.
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Not written at each request.
    used_at    INTEGER
) STRICT;

-- A user's own, and the foreign key.
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);
