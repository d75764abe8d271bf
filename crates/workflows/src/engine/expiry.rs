//! The end of steps of steps whose time is over, with everything in them.

use super::drive::{Drive, wake_all};
use crate::plan::{Record, StepError, StepState};
use crate::store::{self, FinishedStep, StartedStep};
use ::store::StoreError;
use jobs::JobError;
use serde_json::Value;
use std::sync::Arc;
use web::times::now_millis;

/// Returns whether a path is that of a step within another one, such as `each[3]/post` within `each`.
fn is_within(path: &str, container: &str) -> bool {
    path.strip_prefix(container).is_some_and(|rest| rest.starts_with(['/', '.', '[']))
}

impl Drive {
    /// Ends the steps whose time is over. Those within others end with these.
    pub(super) async fn expire_all(&mut self, expired: &[(String, String)]) -> Result<(), JobError> {
        let is_inner = |path: &str| expired.iter().any(|(container, _)| is_within(path, container));
        for (path, step_id) in expired.iter().filter(|(path, _)| !is_inner(path)) {
            self.expire(path, step_id).await?;
        }
        Ok(())
    }

    /// Stores that the time of a step is over, and ends the steps within it that have not ended: calls are cancelled,
    /// questions and waits are closed, and children stop. All of this is one transaction.
    async fn expire(&mut self, path: &str, step_id: &str) -> Result<(), JobError> {
        let Some(step) = self.workflow.step(step_id) else { return Ok(()) };
        let message = format!("The steps did not end within {} s.", step.timeout_seconds.unwrap_or_default());
        let error = StepError::new("timeout", message, path);
        let is_open = |record: &Record| !matches!(record.state, StepState::Done | StepState::Failed);
        let inner: Vec<String> = self
            .records
            .iter()
            .filter(|(inner, record)| is_within(inner, path) && is_open(record))
            .map(|(inner, _)| inner.clone())
            .collect();
        let started = StartedStep {
            path: path.to_owned(),
            step_id: step_id.to_owned(),
            kind: step.type_name(),
            state: StepState::Waiting,
            attempt: 1,
            input: Value::Null,
            child_id: None,
            next_at: None,
        };
        let (now, run_id, owner) = (now_millis(), self.run.id.clone(), self.run.owner.clone());
        let ended = FinishedStep::ended(path.to_owned(), StepState::Waiting, Err(error.clone()));
        let (cut_off, paths, job) = (StepError::out_of_time(path), inner.clone(), self.job.clone());
        let (cause, number) = (cut_off.clone(), i64::from(self.run.steps) + 1);
        let write = self.job.write(move |db| {
            Box::pin(async move {
                store::start_step(db, (&run_id, &owner), &started, number, now).await?;
                if !store::finish_step(db, &run_id, &ended, now).await? {
                    return Err(StoreError::Fenced);
                }
                store::expire_steps(db, &run_id, &paths, &cause, now).await?;
                let children = store::open_children_at(db, &run_id, &paths).await?;
                for (child, _) in &children {
                    store::request_stop(db, child).await?;
                }
                for path in &paths {
                    store::cancel_task(db, &run_id, path).await?;
                    store::delete_wait(db, &run_id, path).await?;
                }
                wake_all(&job, db, &children).await
            })
        });
        write.await?;
        for inner in inner {
            if let Some(cancel) = self.cancels.remove(&inner) {
                cancel.cancel();
            }
            self.close(inner, cut_off.clone(), now);
        }
        self.close(path.to_owned(), error, now);
        Ok(())
    }

    /// Notes that a step has ended with an error.
    fn close(&mut self, path: String, error: StepError, now: i64) {
        let attempt = self.records.get(&path).map_or(1, |record| record.attempt);
        let record = Record {
            state: StepState::Failed,
            output: Value::Null,
            error: Some(error),
            attempt,
            next_at: None,
            ended_at: now,
        };
        Arc::make_mut(&mut self.records).insert(path, record);
    }
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn steps_within_others_are_told_by_their_paths() {
        let check = |path: &str, container: &str, expected: bool| {
            assert_eq!(is_within(path, container), expected, "{path} in {container}");
        };
        check("each[3]/post", "each", true);
        check("both.left/post", "both", true);
        check("choice/post", "choice", true);
        check("choice", "choice", false);
        check("choices/post", "choice", false);
        check("each[31]/post", "each[3]", false);
    }
}
