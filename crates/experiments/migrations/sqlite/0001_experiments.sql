-- Datasets, and experiments with them. They belong to the administrators; what comes from a user's conversation
-- belongs to that user, and goes with them. All times are Unix times in milliseconds.
CREATE TABLE eval_datasets (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    -- The agent whose answers it is about.
    agent_id   TEXT NOT NULL,
    -- A list of scorers, as YAML.
    scorers    TEXT NOT NULL,
    -- Grows with each change of a case or of the scorers.
    version    INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Cases of all versions: a version has those that were added with it or before, and not removed until then.
CREATE TABLE eval_cases (
    id              TEXT NOT NULL PRIMARY KEY,
    dataset_id      TEXT NOT NULL REFERENCES eval_datasets (id) ON DELETE CASCADE,
    case_id         TEXT NOT NULL,
    added_in        INTEGER NOT NULL,
    removed_in      INTEGER,
    -- The user whose conversation it comes from; '' if it comes from none.
    owner           TEXT NOT NULL,
    conversation_id TEXT,
    message_id      TEXT,
    -- Whether personal data was masked, since the user has not agreed to keep it.
    is_masked       INTEGER NOT NULL CHECK (is_masked IN (0, 1)),
    created_by      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    -- The case, as JSON.
    content         TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX eval_cases_current ON eval_cases (dataset_id, case_id) WHERE removed_in IS NULL;
CREATE UNIQUE INDEX eval_cases_source ON eval_cases (dataset_id, message_id) WHERE removed_in IS NULL AND message_id IS NOT NULL;
CREATE INDEX eval_cases_of_dataset ON eval_cases (dataset_id, id);
CREATE INDEX eval_cases_of_owner ON eval_cases (owner);

CREATE TABLE experiments (
    -- Begins with the time.
    id              TEXT NOT NULL PRIMARY KEY,
    name            TEXT NOT NULL,
    dataset_id      TEXT REFERENCES eval_datasets (id) ON DELETE CASCADE,
    dataset_version INTEGER,
    -- What is run and within which bounds, as JSON.
    settings        TEXT NOT NULL,
    -- The names of what is compared, as a JSON list.
    configs         TEXT NOT NULL,
    -- The hash of the config with which it ran.
    fingerprint     TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'stopped', 'failed')),
    job_id          TEXT,
    total           INTEGER NOT NULL,
    done            INTEGER NOT NULL,
    -- What all of it will cost, once the first case is known.
    estimate_usd    REAL,
    spent_usd       REAL NOT NULL,
    -- The measures of each config once it is done, as JSON.
    summary         TEXT,
    -- Why it was not completed.
    cause           TEXT,
    created_by      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    decision        TEXT CHECK (decision IN ('adopted', 'rejected')),
    decision_note   TEXT,
    decided_by      TEXT,
    decided_at      INTEGER
) STRICT;
CREATE INDEX experiments_of_dataset ON experiments (dataset_id, id);

-- The result of each case.
CREATE TABLE experiment_results (
    experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    kind          TEXT NOT NULL CHECK (kind IN ('result', 'comparison')),
    config        TEXT NOT NULL,
    case_id       TEXT NOT NULL,
    repeat        INTEGER NOT NULL,
    -- The user whose conversation the case comes from, or ''.
    owner         TEXT NOT NULL,
    -- The result, as JSON.
    content       TEXT NOT NULL,
    -- What the agent did, as a file of recordings.
    recording     TEXT,
    PRIMARY KEY (experiment_id, kind, config, case_id, repeat)
) STRICT;
CREATE INDEX experiment_results_of_owner ON experiment_results (owner);

-- The users who agree that their rated answers become cases as they are.
CREATE TABLE eval_consents (
    owner     TEXT NOT NULL PRIMARY KEY,
    agreed_at INTEGER NOT NULL
) STRICT;
