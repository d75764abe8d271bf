-- Users who get notifications by e-mail, and those who have switched them off again.
CREATE TABLE notification_emails (
    owner        TEXT    NOT NULL PRIMARY KEY,
    -- NULL: switched off.
    address      TEXT,
    -- Part of the links in e-mails: whoever knows it has read the mailbox. New for each address.
    token        TEXT    NOT NULL UNIQUE,
    -- Unix times in milliseconds. When the user has confirmed the address; nothing else is sent to it before.
    confirmed_at INTEGER,
    -- When an e-mail about answers was last sent.
    sent_at      INTEGER,
    -- The day (since 1970, UTC) of the last confirmation that was asked for, and how many were on it.
    asked_day    INTEGER NOT NULL,
    asked        INTEGER NOT NULL
) STRICT;
