-- The tables as the migrations up to 0003_closed_cards leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE channel_bots (
    channel_id  TEXT    NOT NULL PRIMARY KEY,
    -- The name under which people find the bot.
    name        TEXT    NOT NULL
, position TEXT) STRICT;
CREATE TABLE channel_links (
    id           TEXT    NOT NULL PRIMARY KEY,
    channel_id   TEXT    NOT NULL,
    -- The person, as the platform numbers them.
    person_id    TEXT    NOT NULL,
    person_name  TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    -- The auth mode; in another mode the same id may be another user.
    mode         TEXT    NOT NULL,
    user_name    TEXT,
    -- The user's roles when they last opened the page with their links, as a JSON list. Those of accounts are not read here.
    roles        TEXT    NOT NULL,
    confirmed_at INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    UNIQUE (channel_id, person_id)
) STRICT;
CREATE INDEX channel_links_owner ON channel_links (owner);
CREATE TABLE channel_codes (
    code_hash  TEXT    NOT NULL PRIMARY KEY,
    channel_id TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    mode       TEXT    NOT NULL,
    user_name  TEXT,
    roles      TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (owner, channel_id)
) STRICT;
CREATE TABLE channel_chats (
    channel_id      TEXT    NOT NULL,
    chat_id         TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    -- NULL until the next message begins one.
    conversation_id TEXT,
    -- The id of the model that the user has chosen.
    model           TEXT,
    used_at         INTEGER NOT NULL,
    PRIMARY KEY (channel_id, chat_id, owner)
) STRICT;
CREATE INDEX channel_chats_owner ON channel_chats (owner);
CREATE TABLE channel_updates (
    channel_id TEXT    NOT NULL,
    update_id  INTEGER NOT NULL,
    queue      TEXT    NOT NULL,
    -- The link of the person who has sent it. If it is gone, nothing is done.
    link_id    TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    -- The incoming message, as JSON.
    content    TEXT    NOT NULL,
    -- The conversation, the answer and the number of its parts before this turn, once they are known.
    conversation_id TEXT,
    answer_id       TEXT,
    parts_before    INTEGER NOT NULL DEFAULT 0,
    -- Whether the turn has begun.
    is_submitted    INTEGER NOT NULL DEFAULT 0 CHECK (is_submitted IN (0, 1)),
    received_at INTEGER NOT NULL,
    done_at     INTEGER,
    PRIMARY KEY (channel_id, update_id)
) STRICT;
CREATE INDEX channel_updates_open ON channel_updates (channel_id, queue, update_id) WHERE done_at IS NULL;
CREATE INDEX channel_updates_owner ON channel_updates (owner);
CREATE INDEX channel_updates_done ON channel_updates (done_at);
CREATE TABLE channel_messages (
    channel_id TEXT    NOT NULL,
    update_id  INTEGER NOT NULL,
    part       INTEGER NOT NULL,
    owner      TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    sent_at    INTEGER NOT NULL,
    PRIMARY KEY (channel_id, update_id, part)
) STRICT;
CREATE INDEX channel_messages_owner ON channel_messages (owner);
CREATE INDEX channel_messages_sent ON channel_messages (sent_at);
CREATE TABLE channel_cards (
    id              TEXT    NOT NULL PRIMARY KEY,
    channel_id      TEXT    NOT NULL,
    chat_id         TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL,
    tool_call_id    TEXT    NOT NULL,
    -- Empty for a question.
    approval_id     TEXT    NOT NULL,
    -- The hash of the arguments that were shown.
    input_hash      TEXT    NOT NULL,
    -- The message that shows it; NULL while it is being sent.
    message_id      TEXT,
    created_at      INTEGER NOT NULL, closed_at INTEGER,
    UNIQUE (channel_id, chat_id, owner, conversation_id, tool_call_id, approval_id)
) STRICT;
CREATE INDEX channel_cards_owner ON channel_cards (owner);
CREATE INDEX channel_cards_message ON channel_cards (channel_id, chat_id, message_id);
CREATE INDEX channel_cards_created ON channel_cards (created_at);
