-- The same tables as in migrations/sqlite.
CREATE TABLE skills (
    name           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    description    TEXT COLLATE "C" NOT NULL,
    digest         TEXT COLLATE "C" NOT NULL,
    archive_sha256 TEXT COLLATE "C" NOT NULL,
    findings       TEXT COLLATE "C" NOT NULL,
    bytes          BIGINT           NOT NULL,
    enabled        BIGINT           NOT NULL,
    installed_by   TEXT COLLATE "C" NOT NULL,
    changed_by     TEXT COLLATE "C" NOT NULL,
    installed_at   BIGINT           NOT NULL,
    changed_at     BIGINT           NOT NULL
);

CREATE TABLE skill_files (
    skill  TEXT COLLATE "C" NOT NULL REFERENCES skills (name) ON DELETE CASCADE,
    path   TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    bytes  BYTEA            NOT NULL,
    PRIMARY KEY (skill, path)
);
