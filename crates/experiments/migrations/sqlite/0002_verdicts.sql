-- What people say of the answers in experiments, with which judges are compared. They go with the result.
CREATE TABLE experiment_verdicts (
    experiment_id   TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind = 'result'),
    config          TEXT NOT NULL,
    case_id         TEXT NOT NULL,
    repeat          INTEGER NOT NULL,
    -- The administrator who has read the answer.
    person          TEXT NOT NULL,
    -- The conversation of the answer: a result that is made again has another answer.
    conversation_id TEXT NOT NULL,
    liked           INTEGER NOT NULL CHECK (liked IN (0, 1)),
    given_at        INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, kind, config, case_id, repeat, person),
    FOREIGN KEY (experiment_id, kind, config, case_id, repeat)
        REFERENCES experiment_results (experiment_id, kind, config, case_id, repeat) ON DELETE CASCADE
) STRICT;
