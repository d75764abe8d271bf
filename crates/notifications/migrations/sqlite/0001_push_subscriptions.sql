-- Browsers that get the notifications of a user.
CREATE TABLE push_subscriptions (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    -- The address at the browser's push service. Whoever knows it and our key may send to the browser.
    endpoint   TEXT    NOT NULL UNIQUE,
    -- The browser's public key and its secret, with which messages are encrypted; in Base64.
    p256dh     TEXT    NOT NULL,
    auth       TEXT    NOT NULL,
    -- The browser and its system, for the user.
    browser    TEXT    NOT NULL,
    -- Unix times in milliseconds.
    created_at INTEGER NOT NULL,
    -- When something was last sent.
    sent_at    INTEGER
) STRICT;

CREATE INDEX push_subscriptions_of_owner ON push_subscriptions (owner, created_at);
