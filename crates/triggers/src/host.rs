//! What triggers need of workflows.

use crate::definition::Trigger;
use ::store::StoreError;
use ::store::sql::Db;
use capability::Context;
use config::Config;
use futures::future::BoxFuture;
use serde_json::Value;
use std::collections::HashMap;

/// A workflow that has triggers.
#[derive(Clone, Debug)]
pub(crate) struct TriggeredWorkflow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) triggers: Vec<Trigger>,
}

/// Returns the workflows of a config that have triggers.
pub(crate) fn triggered_workflows(_config: &Config) -> Vec<TriggeredWorkflow> {
    Vec::new()
}

/// A run to start.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) workflow_id: String,
    /// The input, which was checked.
    pub(crate) input: Value,
    /// The user to whom the run belongs.
    pub(crate) user_id: String,
    /// The roles of the steps.
    pub(crate) roles: Vec<String>,
    /// What the run is for. There is one run with a key.
    pub(crate) unique_key: String,
    /// Unix time in milliseconds.
    pub(crate) now: i64,
}

/// The outcome of starting a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartOutcome {
    /// The run with this id has started.
    Started(String),
    /// The user has too many runs that have not ended.
    Full,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunOutcome {
    Done,
    Failed(String),
    Stopped,
    /// The run was deleted.
    Gone,
}

/// The engine of workflows.
pub(crate) trait Host: Send + Sync + 'static {
    /// Checks the input of a run.
    fn check_input<'a>(&'a self, workflow_id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<(), String>>;

    /// Starts a run in a transaction.
    fn start<'a>(&'a self, db: &'a mut Db, new: NewRun) -> BoxFuture<'a, Result<StartOutcome, StoreError>>;

    /// Returns how these runs have ended; those that have not are left out.
    fn outcomes(&self, run_ids: Vec<String>) -> BoxFuture<'_, Result<HashMap<String, RunOutcome>, StoreError>>;
}

/// The workflows of the running server.
pub(crate) struct WorkflowHost(pub(crate) Context);

impl Host for WorkflowHost {
    fn check_input<'a>(&'a self, _: &'a str, _: &'a Value) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn start<'a>(&'a self, _: &'a mut Db, _: NewRun) -> BoxFuture<'a, Result<StartOutcome, StoreError>> {
        Box::pin(std::future::ready(Ok(StartOutcome::Full)))
    }

    fn outcomes(&self, _: Vec<String>) -> BoxFuture<'_, Result<HashMap<String, RunOutcome>, StoreError>> {
        Box::pin(std::future::ready(Ok(HashMap::new())))
    }
}
