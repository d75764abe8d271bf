-- The authenticator apps of users who sign in with a password.
CREATE TABLE second_factors (
    user_id        TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- The secret that the server and the app share, encrypted by the server.
    secret         TEXT    NOT NULL,
    -- The time step of the last code: each code is accepted once.
    last_step      INTEGER NOT NULL,
    -- The hashes of the recovery codes that are not used up, a JSON list of texts.
    recovery_codes TEXT    NOT NULL,
    created_at     INTEGER NOT NULL
) STRICT;
