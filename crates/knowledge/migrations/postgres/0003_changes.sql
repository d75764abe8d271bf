-- Pages ask for what has changed in a library.
CREATE INDEX knowledge_documents_updated ON knowledge_documents (library_id, updated_at, id);
