CREATE TABLE notes (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    -- The text in lower case, in which is searched.
    folded     TEXT   NOT NULL,
    -- Unix time in milliseconds.
    created_at BIGINT NOT NULL
);

CREATE INDEX notes_by_owner ON notes (owner, created_at);
