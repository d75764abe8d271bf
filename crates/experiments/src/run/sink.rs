//! Keeps the results of an experiment in the database, as long as its job is this one.

use super::observe::Recorded;
use crate::store::{self, ResultRow};
use async_trait::async_trait;
use evaluation::{CaseResult, ComparisonResult, ResultSink};
use jobs::JobContext;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Stores the results of an experiment in the database.
pub(super) struct DatabaseSink {
    pub(super) job: JobContext,
    pub(super) experiment_id: String,
    /// The owners of the cases by their ids.
    pub(super) owners: HashMap<String, String>,
    pub(super) recorded: Recorded,
    /// The estimated cost of all cases in US dollars, once it is known.
    pub(super) estimate_usd: Arc<Mutex<Option<f64>>>,
}

impl fmt::Debug for DatabaseSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseSink").field("experiment_id", &self.experiment_id).finish_non_exhaustive()
    }
}

impl DatabaseSink {
    fn owner(&self, case: &str) -> String {
        self.owners.get(case).cloned().unwrap_or_default()
    }
}

#[async_trait]
impl ResultSink for DatabaseSink {
    async fn append(&mut self, results: &[CaseResult], comparisons: &[ComparisonResult]) -> Result<(), String> {
        let results = results.iter().map(|result| {
            let recording = self.recorded.take(&result.conversation_id);
            (ResultRow::Result(Box::new(result.clone()), recording), self.owner(&result.case))
        });
        let comparisons =
            comparisons.iter().map(|result| (ResultRow::Comparison(result.clone()), self.owner(&result.case)));
        let rows: Vec<_> = results.chain(comparisons).collect();
        let (id, estimate) = (self.experiment_id.clone(), *self.estimate_usd.lock());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                store::append(&mut *db, &id, rows, estimate).await?;
                // The user may have withdrawn their consent, or been deleted, while the case was evaluated.
                store::delete_orphaned(db, &id).await
            })
        });
        write.await.map_err(|error| format!("the results cannot be stored: {error}"))
    }
}
