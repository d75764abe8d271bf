-- Projects: folders with settings and members.
CREATE TABLE projects (
    id           TEXT    NOT NULL PRIMARY KEY,
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    color        TEXT    NOT NULL,
    instructions TEXT    NOT NULL,
    -- Who has changed the instructions last.
    written_by   TEXT    NOT NULL,
    -- A JSON list of ids.
    libraries    TEXT    NOT NULL,
    -- The agent and the model of new conversations; empty if none.
    agent_id     TEXT    NOT NULL,
    model_id     TEXT    NOT NULL,
    -- Counts from 1.
    version      INTEGER NOT NULL,
    -- Unix times in milliseconds.
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX projects_by_owner ON projects (owner);

-- The users of a project, its owner included, each with a folder of their own.
CREATE TABLE project_members (
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id    TEXT    NOT NULL,
    role       TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    -- None if the user has deleted the folder, or had no room for it.
    folder_id  TEXT    REFERENCES folders (id) ON DELETE SET NULL,
    joined_at  INTEGER NOT NULL,
    PRIMARY KEY (project_id, user_id)
) STRICT;

CREATE INDEX project_members_by_user ON project_members (user_id);
CREATE UNIQUE INDEX project_members_by_folder ON project_members (folder_id);

-- What a conversation was told about its project when it began. It stays the same, so that the beginning of each request does.
CREATE TABLE project_blocks (
    conversation_id TEXT    NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner           TEXT    NOT NULL,
    project_id      TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    content         TEXT    NOT NULL,
    -- Whether others than the owner of the conversation may have written it.
    is_foreign      INTEGER NOT NULL CHECK (is_foreign IN (0, 1)),
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX project_blocks_by_owner ON project_blocks (owner, project_id);
CREATE INDEX project_blocks_by_project ON project_blocks (project_id);
