-- Records of collections. The owner is empty if the records of the collection are shared.
CREATE TABLE data_records (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    collection TEXT NOT NULL,
    owner TEXT NOT NULL,
    -- JSON.
    data TEXT NOT NULL,
    -- Counts the changes.
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX data_records_collection ON data_records (collection, owner, id);

-- The values of the records, with which both databases filter and sort in the same way: a row for each
-- scalar, with the path of its field and its position in a list. Texts are compared by their bytes.
CREATE TABLE data_values (
    record_id TEXT COLLATE "C" NOT NULL REFERENCES data_records (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    field TEXT NOT NULL,
    item BIGINT NOT NULL,
    -- 0: boolean, 1: number, 2: text.
    kind BIGINT NOT NULL,
    -- Also of a boolean: 0 or 1.
    number DOUBLE PRECISION,
    text TEXT COLLATE "C",
    -- The text in lower case.
    folded TEXT COLLATE "C",
    PRIMARY KEY (record_id, field, item)
);
