-- Identities of users at OpenID Connect providers. A user without a password has an empty one, which no password matches.
CREATE TABLE user_identities (
    id         TEXT    NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    -- The name at the provider, which is only shown.
    label      TEXT    NOT NULL,
    -- The roles that the last sign-in has given, a JSON list of texts. They count in sessions of this identity only.
    roles      TEXT    NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    UNIQUE (issuer, subject)
);

CREATE INDEX user_identities_of_user ON user_identities (user_id, created_at);

-- The identity that a session was begun with, and the provider's id of its own session.
ALTER TABLE sessions ADD COLUMN identity_id TEXT REFERENCES user_identities (id) ON DELETE CASCADE;
ALTER TABLE sessions ADD COLUMN provider_session TEXT;

CREATE INDEX sessions_of_identity ON sessions (identity_id);
