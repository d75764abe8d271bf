-- The accounts of users at services that are called on their behalf.
CREATE TABLE connected_accounts (
    id            TEXT    NOT NULL PRIMARY KEY,
    owner         TEXT    NOT NULL,
    -- The name of the service in the config.
    service       TEXT    NOT NULL,
    -- The tokens, encrypted; empty if they were refused.
    sealed        TEXT    NOT NULL,
    -- The granted scopes, with spaces between them.
    scopes        TEXT    NOT NULL,
    -- Scopes that the service has asked for since.
    needed_scopes TEXT    NOT NULL,
    -- Changes with the tokens.
    version       BIGINT  NOT NULL,
    -- Unix time in milliseconds.
    connected_at  BIGINT  NOT NULL,
    -- Which server refreshes the tokens, and until when the others wait for it.
    refreshed_by  TEXT    NOT NULL,
    refresh_until BIGINT  NOT NULL
);

CREATE UNIQUE INDEX connected_accounts_by_owner ON connected_accounts (owner, service);

-- The clients that authorization servers have registered for this site.
CREATE TABLE connected_account_clients (
    -- A hash of the authorization server and of the redirect URI.
    id         TEXT    NOT NULL PRIMARY KEY,
    -- The client, encrypted.
    sealed     TEXT    NOT NULL,
    -- Unix time in milliseconds.
    expires_at BIGINT  NOT NULL
);

-- What users have entered for variables of remote agents.
CREATE TABLE connected_account_variables (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    -- The id of the connection.
    service    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    -- The value, encrypted.
    sealed     TEXT    NOT NULL,
    -- Unix time in milliseconds.
    updated_at BIGINT  NOT NULL
);

CREATE UNIQUE INDEX connected_account_variables_by_owner ON connected_account_variables (owner, service, name);
