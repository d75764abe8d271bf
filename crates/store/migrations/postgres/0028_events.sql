-- What capabilities emit and programs report, for workflows that wait for it. Other events are found in the tables in which they are stored.
CREATE TABLE events (
    name      TEXT COLLATE "C"    NOT NULL,
    -- A text that no other event of this name has.
    event_key TEXT COLLATE "C"    NOT NULL,
    -- Grows with each event, in the order of the transactions.
    no        BIGINT  NOT NULL,
    -- Unix time in milliseconds.
    at        BIGINT  NOT NULL,
    -- What has happened, as a JSON object.
    data      TEXT COLLATE "C"    NOT NULL,
    -- The roles of the user who has reported it, as JSON; NULL for events of the product.
    roles     TEXT COLLATE "C",
    PRIMARY KEY (name, event_key)
);

CREATE UNIQUE INDEX events_by_number ON events (no);
CREATE INDEX events_by_name ON events (name, no);
CREATE INDEX events_by_time ON events (name, at, event_key);
CREATE INDEX events_by_age ON events (at);
