-- The same tables as in migrations/sqlite.
CREATE TABLE model_catalog (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

CREATE TABLE model_connections (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version    BIGINT           NOT NULL,
    enabled    BIGINT           NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    secret     TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    changed_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    changed_at BIGINT           NOT NULL,
    tested     TEXT COLLATE "C",
    listed     TEXT COLLATE "C"
);
