-- The workspaces of conversations. What is in a file is a row of `files`, as with the files that users attach:
-- a row of `file_uses` keeps it as long as the conversation, so that quotas, backups and deletion hold.

-- Counts the versions of all files of a conversation, so that a number never means another version later.
CREATE TABLE workspaces (
    conversation_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    last_version    BIGINT  NOT NULL
);

CREATE TABLE workspace_versions (
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    version         BIGINT  NOT NULL,
    path            TEXT COLLATE "C" NOT NULL,
    file_id         TEXT COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    -- Bytes.
    size            BIGINT  NOT NULL,
    -- 1 for the newest version of the file.
    is_current      BIGINT  NOT NULL,
    -- 1 if it was shown to the user as a result, so that it is not dropped for newer ones.
    is_presented    BIGINT  NOT NULL DEFAULT 0,
    created_at      BIGINT  NOT NULL,
    PRIMARY KEY (conversation_id, version)
);

-- For the foreign key, and to tell attached files from those of the workspace.
CREATE INDEX workspace_versions_of_file ON workspace_versions (file_id);
