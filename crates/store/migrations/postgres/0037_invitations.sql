-- 1: an administrator has set the password, which the user replaces before they are signed in.
ALTER TABLE users ADD COLUMN must_change_password BIGINT NOT NULL DEFAULT 0;

-- Invitations that nobody has accepted yet.
CREATE TABLE invitations (
    id         TEXT   NOT NULL PRIMARY KEY,
    token_hash BYTEA NOT NULL UNIQUE,
    -- For whom it is, as the administrator has written it.
    label      TEXT   NOT NULL,
    -- The roles of the new account, a JSON list of texts.
    roles      TEXT   NOT NULL,
    created_by TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX invitations_by_creator ON invitations (created_by);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
