//! The end of a run.

use super::drive::{Drive, wake_all};
use super::emitted::workflow_ended;
use crate::conversation::deliver_soon;
use crate::plan::{StepError, StepState};
use crate::store::{self, FinishedStep, RunState};
use ::store::append_event;
use jobs::{JobError, Outcome};
use serde_json::Value;
use web::times::now_millis;

impl Drive {
    /// Ends the run and its job in one transaction, which also stops the children, closes open
    /// questions, and gives the output to the run above.
    pub(super) async fn end(self, state: RunState, result: Result<Value, StepError>) -> Result<Outcome, JobError> {
        // Whatever still runs was stopped, or is not needed any more.
        self.cancel.cancel();
        let now = now_millis();
        let (run_id, job) = (self.run.id.clone(), self.job.clone());
        let parent = self.run.parent_id.clone().zip(self.run.parent_path.clone());
        let (owner, run_owner) = (self.run.owner.clone(), self.run.owner.clone());
        log_end(&self.run, state, &result);
        let event = workflow_ended(&self.run, state, result.as_ref().err(), now);
        let ended = self.job.finish(Outcome::DONE, move |db| {
            Box::pin(async move {
                let (output, error) = (result.as_ref().ok(), result.as_ref().err());
                if !store::end_run(db, &run_id, state, output, error, now).await? {
                    return Ok(());
                }
                if let Some(event) = event {
                    append_event(db, event).await?;
                }
                store::cancel_tasks(db, &run_id).await?;
                store::delete_waits(db, &run_id).await?;
                store::close_steps(db, &run_id, &StepError::cut_off(), now).await?;
                let mut woken = store::children(db, &run_id).await?;
                for (child, _) in &woken {
                    store::request_stop(db, child).await?;
                }
                if let Some((parent, path)) = parent {
                    let is_awaited = store::is_child(db, (&parent, &path), &run_id).await?;
                    let above = parent_step(&path, result);
                    if is_awaited && store::finish_step(db, &parent, &above, now).await? {
                        woken.push((parent, owner));
                    }
                }
                deliver_soon(job.jobs(), db, &run_id, &run_owner).await?;
                wake_all(&job, db, &woken).await
            })
        });
        Ok(ended.await?)
    }
}

/// Returns the end of the step whose child a run is. The child's usage was added to the runs above while
/// the child ran.
fn parent_step(path: &str, result: Result<Value, StepError>) -> FinishedStep {
    let result = result.map_err(|error| StepError { step: path.to_owned(), ..error });
    FinishedStep::ended(path.to_owned(), StepState::Waiting, result)
}

fn log_end(run: &store::RunRow, state: RunState, result: &Result<Value, StepError>) {
    let (run_id, workflow, state) = (&run.id, &run.workflow_id, state.name());
    match result {
        Ok(_) => tracing::info!(run = run_id, workflow, state, "a workflow's run ended"),
        Err(StepError { kind, step, .. }) => {
            tracing::warn!(run = run_id, workflow, state, kind, step, "a workflow's run ended");
        }
    }
}
