-- The document of a chunk, which stays when a newer version of it has other chunks.
ALTER TABLE knowledge_citations ADD COLUMN document_id TEXT COLLATE "C";
UPDATE knowledge_citations SET document_id =
    (SELECT v.document_id FROM knowledge_versions v WHERE v.id = split_part(chunk_id, '.', 1));
