-- Connections to model providers that administrators have added. All times are Unix times in milliseconds.
CREATE TABLE model_catalog (
    -- There is one row.
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Grows with each change of a connection.
    version INTEGER NOT NULL
) STRICT;

CREATE TABLE model_connections (
    name       TEXT    NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    -- The provider, its models and the agents that use them, without the key: JSON.
    definition TEXT    NOT NULL,
    -- The API key, encrypted. Empty if there is none.
    secret     TEXT    NOT NULL,
    -- The administrators who have added it, and who have changed it last.
    created_by TEXT    NOT NULL,
    changed_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    -- What the last test has found, and the provider's models when they were listed last: JSON. NULL before.
    tested     TEXT,
    listed     TEXT
) STRICT;
