//! The operations of administrators on datasets and experiments, for the pages and the API alike.

mod answers;
mod datasets;
mod experiments;
mod upload;
mod verdicts;

pub use answers::{KeptCaseAnswer, answers_of_dataset};
pub(crate) use experiments::NewExperiment;
pub use upload::{KeepError, keep_results};

use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use capability::Context;
use futures::future::BoxFuture;
use jobs::Jobs;
use uuid::Uuid;
use web::admin::{Admin, from_store_error};
use wire::UserError;

/// The longest name of a dataset or an experiment, in characters.
const MAX_NAME: usize = 120;

/// Datasets and experiments.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) context: Context,
    pub(crate) jobs: Jobs,
}

/// Returns a new id, which begins with the time.
pub(crate) fn new_id() -> String {
    Uuid::now_v7().to_string()
}

impl Service {
    fn check_agent(&self, admin: &Admin, agent_id: &str) -> Result<(), UserError> {
        let usable = self.context.current.usable_agents(&admin.caller);
        if usable.iter().any(|usable| usable == agent_id) {
            Ok(())
        } else {
            Err(UserError::invalid("/agents", format!("There is no agent `{agent_id}`.")))
        }
    }

    /// Writes together with an entry of the audit log.
    async fn write<T, F>(&self, audit: AuditEntry, work: F) -> Result<T, UserError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Db) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let write = self.context.store.write(move |db| {
            Box::pin(async move {
                let done = work(&mut *db).await?;
                append_audit(db, vec![audit]).await?;
                Ok(done)
            })
        });
        write.await.map_err(from_store_error)
    }
}

fn valid_name(name: &str) -> Result<String, UserError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(UserError::invalid("/name", "The name needs 1 to 120 characters on one line."));
    }
    Ok(name.to_owned())
}
