//! The interface to workflows that triggers need.

use ::store::StoreError;
use ::store::sql::Db;
use capability::Context;
use futures::future::BoxFuture;
use operators::Operators;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use workflows::{ReportedEvent, RunEnd, StartOutcome, TriggeredRun, check_input, ends, report_event, start_in};

/// The engine of workflows.
pub(crate) trait Host: Send + Sync + 'static {
    /// Returns the operators of the program.
    fn operators(&self) -> Arc<Operators>;

    /// Checks the input of a run.
    fn check_input<'a>(&'a self, workflow_id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<(), String>>;

    /// Starts a run in a transaction.
    fn start<'a>(&'a self, db: &'a mut Db, run: TriggeredRun) -> BoxFuture<'a, Result<StartOutcome, StoreError>>;

    /// Stores an event for which runs wait. Returns false if none does.
    fn report(&self, reported: ReportedEvent) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Returns how these runs have ended; those that have not are left out.
    fn ends(&self, run_ids: Vec<String>) -> BoxFuture<'_, Result<HashMap<String, RunEnd>, StoreError>>;
}

/// The workflows of the running server.
pub(crate) struct WorkflowHost(pub(crate) Context);

impl Host for WorkflowHost {
    fn operators(&self) -> Arc<Operators> {
        self.0.current.operators()
    }

    fn check_input<'a>(&'a self, workflow_id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { check_input(&self.0.current.config(), workflow_id, input).await })
    }

    fn start<'a>(&'a self, db: &'a mut Db, run: TriggeredRun) -> BoxFuture<'a, Result<StartOutcome, StoreError>> {
        Box::pin(async move { start_in(db, self.0.chat.jobs(), &self.0.current.config(), run).await })
    }

    fn report(&self, reported: ReportedEvent) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(
            async move { report_event(&self.0.store, self.0.chat.jobs(), &self.0.current.config(), reported).await },
        )
    }

    fn ends(&self, run_ids: Vec<String>) -> BoxFuture<'_, Result<HashMap<String, RunEnd>, StoreError>> {
        Box::pin(ends(&self.0.store, run_ids))
    }
}
