//! The tables.

mod cases;
mod consents;
mod datasets;
mod experiment;
mod experiments;
mod results;
mod verdicts;

pub(crate) use cases::{
    CaseRow, NewCase, Put, add_case, case_of_version, cases_of_version, current_case, current_cases, put_cases,
    remove_case,
};
pub(crate) use consents::{has_consent, hold_consent, set_consent};
pub(crate) use datasets::{Dataset, dataset, datasets, delete_dataset, feedback_dataset, insert_dataset, set_scorers};
pub(crate) use experiment::{ConfigSummary, Decision, Ending, Experiment, MeasureSummary, Settings, State};
pub(crate) use experiments::{
    begin, continue_with, decide, end, end_abandoned, experiment, experiments, insert, of_dataset, prune, set_job,
};
pub(crate) use results::{KeptResults, ResultRow, append, delete_orphaned, recordings_of, results, results_of_case};
pub(crate) use verdicts::{Given, NewVerdict, Verdict, give_verdict};

use ::store::{CapabilityTables, Migration, StoreError, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "experiments",
    migrations: &[
        Migration {
            name: "experiments",
            sqlite: include_str!("../../migrations/sqlite/0001_experiments.sql"),
            postgres: include_str!("../../migrations/postgres/0001_experiments.sql"),
        },
        Migration {
            name: "verdicts",
            sqlite: include_str!("../../migrations/sqlite/0002_verdicts.sql"),
            postgres: include_str!("../../migrations/postgres/0002_verdicts.sql"),
        },
    ],
    tables: &[
        Table { name: "eval_datasets", key: "id", owner: None },
        Table { name: "eval_cases", key: "id", owner: Some("owner") },
        Table { name: "experiments", key: "id", owner: None },
        Table { name: "experiment_results", key: "experiment_id, kind, config, case_id, repeat", owner: Some("owner") },
        Table { name: "experiment_verdicts", key: "experiment_id, kind, config, case_id, repeat, person", owner: None },
        Table { name: "eval_consents", key: "owner", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The error of a row that another version of the program has written.
const UNREADABLE: StoreError = StoreError::Invalid("a row of an experiment was written by another version");

/// The error of a row that cannot be serialized, which is a bug.
const UNWRITABLE: StoreError = StoreError::Invalid("a row of an experiment cannot be written as JSON");
