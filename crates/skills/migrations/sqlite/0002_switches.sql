-- The skills of folders that an administrator has switched off, for all agents.
CREATE TABLE skill_switches (
    name       TEXT    NOT NULL PRIMARY KEY,
    changed_by TEXT    NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
