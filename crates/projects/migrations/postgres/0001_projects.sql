-- Projects: folders with settings and members.
CREATE TABLE projects (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner        TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    color        TEXT COLLATE "C" NOT NULL,
    instructions TEXT COLLATE "C" NOT NULL,
    -- Who has changed the instructions last.
    written_by   TEXT COLLATE "C" NOT NULL,
    -- A JSON list of ids.
    libraries    TEXT COLLATE "C" NOT NULL,
    -- The agent and the model of new conversations; empty if none.
    agent_id     TEXT COLLATE "C" NOT NULL,
    model_id     TEXT COLLATE "C" NOT NULL,
    -- Counts from 1.
    version      BIGINT NOT NULL,
    -- Unix times in milliseconds.
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);

CREATE INDEX projects_by_owner ON projects (owner);

-- The users of a project, its owner included, each with a folder of their own.
CREATE TABLE project_members (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id    TEXT COLLATE "C" NOT NULL,
    role       TEXT COLLATE "C" NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    -- None if the user has deleted the folder, or had no room for it.
    folder_id  TEXT COLLATE "C" REFERENCES folders (id) ON DELETE SET NULL,
    joined_at  BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
);

CREATE INDEX project_members_by_user ON project_members (user_id);
CREATE UNIQUE INDEX project_members_by_folder ON project_members (folder_id);

-- What a conversation was told about its project when it began. It stays the same, so that the beginning of each request does.
CREATE TABLE project_blocks (
    conversation_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner           TEXT COLLATE "C" NOT NULL,
    project_id      TEXT COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    content         TEXT COLLATE "C" NOT NULL,
    -- Whether others than the owner of the conversation may have written it.
    is_foreign      BIGINT NOT NULL CHECK (is_foreign IN (0, 1)),
    created_at      BIGINT NOT NULL
);

CREATE INDEX project_blocks_by_owner ON project_blocks (owner, project_id);
CREATE INDEX project_blocks_by_project ON project_blocks (project_id);
