-- Where values of records are from: the words of a document that say them, which the server has found there. The
-- document may have been deleted since.
CREATE TABLE data_sources (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES data_records (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    -- The path of the value, or of values below it.
    field TEXT NOT NULL,
    document_id TEXT NOT NULL,
    file_name TEXT NOT NULL,
    -- Such as `page 3`.
    place TEXT NOT NULL,
    quote TEXT NOT NULL,
    PRIMARY KEY (record_id, field, document_id)
);
