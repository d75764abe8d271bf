-- Users who get notifications by e-mail; see migrations/sqlite.
CREATE TABLE notification_emails (
    owner        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    address      TEXT COLLATE "C",
    token        TEXT COLLATE "C" NOT NULL UNIQUE,
    confirmed_at BIGINT,
    sent_at      BIGINT,
    asked_day    BIGINT           NOT NULL,
    asked        BIGINT           NOT NULL
);
