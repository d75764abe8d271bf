-- Whether the library has the files of a project. Its id is that of the project, whose members may read it.
ALTER TABLE knowledge_libraries ADD COLUMN of_project INTEGER NOT NULL DEFAULT 0;

-- The files that a user has added to projects count as theirs.
CREATE INDEX knowledge_documents_by_user ON knowledge_documents (added_by);
