-- Browsers that get the notifications of a user; see migrations/sqlite.
CREATE TABLE push_subscriptions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner      TEXT COLLATE "C" NOT NULL,
    endpoint   TEXT COLLATE "C" NOT NULL UNIQUE,
    p256dh     TEXT COLLATE "C" NOT NULL,
    auth       TEXT COLLATE "C" NOT NULL,
    browser    TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    sent_at    BIGINT
);

CREATE INDEX push_subscriptions_of_owner ON push_subscriptions (owner, created_at);
