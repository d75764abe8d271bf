-- The skills of folders that an administrator has switched off, for all agents.
CREATE TABLE skill_switches (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    changed_by TEXT COLLATE "C" NOT NULL,
    changed_at BIGINT           NOT NULL
);
