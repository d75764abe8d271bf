//! Results of `chatwright eval`, which become experiments.

use super::{Service, new_id, valid_name};
use crate::report::summary;
use crate::store::{self, Experiment, ResultRow, Settings, State};
use ::store::sql::Db;
use ::store::{Store, StoreError};
use evaluation::{Finished, ResultsText};
use serde_json::json;
use std::fmt;
use web::admin::Admin;
use web::busy;
use web::times::now_millis;
use wire::UserError;

/// The most results of an upload.
const MAX_RESULTS: usize = 50_000;

impl Service {
    /// Stores the results of `chatwright eval`. Returns the id of the experiment.
    pub(crate) async fn upload(
        &self,
        admin: &Admin,
        (name, dataset_id): (Option<&str>, Option<&str>),
        text: &str,
    ) -> Result<String, UserError> {
        let file = ResultsText::parse(text).map_err(|problem| UserError::invalid("/", problem))?;
        if let Some(id) = dataset_id {
            self.dataset(id).await?;
        }
        let name = valid_name(name.unwrap_or(&file.evaluation))?;
        let about = json!({ "evaluation": file.evaluation, "configs": file.configs });
        let audit = admin.audit_entry("upload_experiment", "", about);
        let by = admin.caller.user_id.clone();
        let new = uploaded(file, (name, dataset_id.map(str::to_owned), by)).await?;
        let id = new.0.id.clone();
        self.write(audit, move |db| Box::pin(async move { insert_with_results(db, new).await })).await?;
        Ok(id)
    }
}

/// Why results are not kept.
#[derive(Debug)]
pub enum KeepError {
    /// They cannot be used. The message is for who wants to keep them.
    Refused(String),
    /// The database failed.
    Store(StoreError),
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) => f.write_str(message),
            Self::Store(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for KeepError {}

/// Keeps the results of a program in a database of a server, as an experiment. Returns its id.
///
/// # Errors
/// There are too many results or configs, or the database failed.
pub async fn keep_results(store: &Store, results: ResultsText, created_by: &str) -> Result<String, KeepError> {
    let name = valid_name(&results.evaluation).map_err(|error| KeepError::Refused(error.message))?;
    let new = uploaded(results, (name, None, created_by.to_owned()));
    let new = new.await.map_err(|error| KeepError::Refused(error.message))?;
    let id = new.0.id.clone();
    let write = store.write(move |db| Box::pin(async move { insert_with_results(db, new).await }));
    write.await.map_err(KeepError::Store)?;
    Ok(id)
}

/// Stores an experiment that was run elsewhere.
pub(crate) async fn insert_with_results(
    db: &mut Db,
    (experiment, results): (Experiment, Vec<ResultRow>),
) -> Result<(), StoreError> {
    store::insert(&mut *db, &experiment).await?;
    let results = results.into_iter().map(|result| (result, String::new())).collect();
    store::append(db, &experiment.id, results, None).await
}

/// Returns the experiment of results that were made elsewhere: its name, its dataset, and who uploads it.
pub(crate) async fn uploaded(
    file: ResultsText,
    (name, dataset_id, created_by): (String, Option<String>, String),
) -> Result<(Experiment, Vec<ResultRow>), UserError> {
    if file.results.is_empty() || file.results.len() + file.comparisons.len() > MAX_RESULTS {
        return Err(UserError::invalid("/", "There are no results in it, or more than 50,000."));
    }
    if !(1..=2).contains(&file.configs.len()) {
        return Err(UserError::invalid("/", "The results are of one config, or of two."));
    }
    let now = now_millis();
    let finished = Finished::last(file.results, file.comparisons);
    let (summary, finished) = summary(&file.configs, finished).await.map_err(|_| busy())?;
    let experiment = Experiment {
        summary,
        id: new_id(),
        name,
        dataset_id,
        dataset_version: None,
        settings: Settings { repeat: 1, ..Settings::default() },
        configs: file.configs.clone(),
        fingerprint: file.fingerprint,
        state: State::Done,
        job_id: None,
        total: finished.results.len() as i64,
        done: 0,
        estimate_usd: None,
        spent_usd: 0.0,
        cause: None,
        created_by,
        created_at: now,
        ended_at: Some(now),
        decision: None,
    };
    let results = finished.results.into_iter().map(|result| ResultRow::Result(Box::new(result), None));
    Ok((experiment, results.chain(finished.comparisons.into_iter().map(ResultRow::Comparison)).collect()))
}
