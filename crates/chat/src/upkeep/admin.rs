//! Administrative actions on the runs of other users, and on expired data. Reading is done by the
//! store; the routes check the rights.

use crate::Chat;
use crate::errors::Error;
use crate::upkeep::jobs;
use crate::upkeep::retention::SweepResult;
use settings::Retention;
use store::RunsToStop;
use wire::{EndReason, UserError};

impl Chat {
    /// Stops all runs of a user whose access was revoked. The text so far stays.
    pub fn stop_user_runs(&self, user_id: &str) {
        self.stop_all(user_id, EndReason::StoppedByAdmin);
    }

    fn stop_all(&self, user_id: &str, why: EndReason) {
        let live = self.inner.registry.all().into_iter().filter(|run| run.identity.owner == user_id);
        live.for_each(|run| run.stop(why));
        if self.inner.store.is_shared() {
            let (store, user_id) = (self.inner.store.clone(), user_id.to_owned());
            self.inner.tasks.spawn(async move {
                if let Err(error) = store.request_stop(&user_id, RunsToStop::All, why).await {
                    tracing::error!(%error, "other servers could not be asked to stop a user's answers");
                }
            });
        }
    }

    /// Stops the runs of a user who is being deleted, and enqueues the deletion of their data. If the
    /// server dies before, a recurring job finds the user.
    pub fn begin_deletions(&self, user_id: &str) {
        self.stop_all(user_id, EndReason::Deleted);
        let (queue, user_id) = (self.inner.workers.jobs().clone(), user_id.to_owned());
        self.inner.tasks.spawn(async move {
            if let Err(error) = jobs::enqueue_deletion(&queue, &user_id).await {
                tracing::error!(%error, "a deleted user's data could not be removed yet");
            }
        });
    }

    /// Returns the current retention settings.
    pub fn retention(&self) -> Retention {
        self.inner.agents.retention()
    }

    /// Deletes expired data now instead of in the next round, and returns the amounts.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn sweep(&self) -> Result<SweepResult, UserError> {
        Ok(self.inner.sweeper.sweep().await.map_err(Error::from)?)
    }
}
