-- Skills that administrators have installed. All times are Unix times in milliseconds.
CREATE TABLE skills (
    name           TEXT    NOT NULL PRIMARY KEY,
    description    TEXT    NOT NULL,
    -- The hash of all files, as 64 hexadecimal digits.
    digest         TEXT    NOT NULL,
    -- The hash of the archive from which they came.
    archive_sha256 TEXT    NOT NULL,
    -- What the scan has found: JSON.
    findings       TEXT    NOT NULL,
    bytes          INTEGER NOT NULL,
    enabled        INTEGER NOT NULL,
    -- The administrators who have installed it, and who have enabled or disabled it.
    installed_by   TEXT    NOT NULL,
    changed_by     TEXT    NOT NULL,
    installed_at   INTEGER NOT NULL,
    changed_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE skill_files (
    skill  TEXT NOT NULL REFERENCES skills (name) ON DELETE CASCADE,
    -- The path below the skill's folder.
    path   TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes  BLOB NOT NULL,
    PRIMARY KEY (skill, path)
) STRICT;
