-- What was left out of the version that is found, as a list in JSON; none if it was read completely.
ALTER TABLE knowledge_documents ADD COLUMN warnings TEXT;
