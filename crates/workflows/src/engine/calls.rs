//! Calls of agents and endpoints, and the records of their ends.

use super::drive::{Drive, size};
use super::{Call, CallOutcome, Remaining};
use crate::definition::Step;
use crate::plan::{Record, Start, StepError, StepState};
use crate::store::{self, FinishedStep};
use ::store::StoreError;
use jobs::JobError;
use serde_json::Value;
use sha2::{Digest, Sha256};
use web::times::now_millis;

/// A call that has ended.
pub(super) struct Finished {
    pub(super) path: String,
    pub(super) step_id: String,
    pub(super) attempt: u32,
    pub(super) outcome: CallOutcome,
}

/// Returns the key of a step that stays the same over all attempts.
pub(super) fn idempotency_key(run_id: &str, path: &str) -> String {
    let digest = Sha256::digest(format!("{run_id}/{path}"));
    format!("workflow-{}", hex::encode(&digest[..16]))
}

impl Drive {
    /// Begins a call that is stored as running.
    pub(super) fn begin_call(&mut self, step: &Step, start: Start, remaining: Remaining) {
        let Start { path, step_id, input, attempt } = start;
        self.reserved.insert(path.clone(), remaining);
        let call = Call {
            caller: self.run.caller.caller(&self.run.owner),
            workflow_id: self.run.workflow_id.clone(),
            tier: self.workflow.tier,
            step: step.clone(),
            input,
            key: idempotency_key(&self.run.id, &path),
            remaining,
            cancel: self.cancel.clone(),
        };
        let call = self.host.call(call);
        // In a task of its own, so that a panic in a tool is the error of its step.
        let task = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(call));
        self.calls.spawn(async move {
            let outcome = task.await.unwrap_or_else(|_| CallOutcome {
                result: Err(("failed", "The step ended unexpectedly; the server's log has the cause.".to_owned())),
                used: store::Used::default(),
            });
            Finished { path, step_id, attempt, outcome }
        });
    }

    /// Stores the end of a call, with what it used.
    pub(super) async fn record(&mut self, finished: Finished) -> Result<(), JobError> {
        let Finished { path, step_id, attempt, outcome: CallOutcome { result, used } } = finished;
        self.reserved.remove(&path);
        let now = now_millis();
        let most = self.bytes.output;
        let result = result.and_then(|output| match size(&output) > most {
            true => Err(("limit", format!("The output is larger than {most} bytes (`workflowBytes.output`)."))),
            false => Ok(output),
        });
        let retry = self.workflow.step(&step_id).and_then(|step| step.retry.as_ref());
        let (state, output, error, next_at) = match result {
            Ok(output) => (StepState::Done, output, None, None),
            Err((kind, message)) => {
                let error = StepError::new(kind, message, &path);
                let again = retry.filter(|retry| attempt < retry.attempts && retry.covers(kind));
                match again {
                    Some(retry) => (StepState::Retrying, Value::Null, Some(error), Some(now + retry.delay_ms(attempt))),
                    None => (StepState::Failed, Value::Null, Some(error), None),
                }
            }
        };
        let (run_id, chain) = (self.run.id.clone(), self.chain.clone());
        let stored = FinishedStep {
            path: path.clone(),
            from: StepState::Running,
            state,
            output: (state == StepState::Done).then(|| output.clone()),
            error: error.clone(),
            next_at,
            used,
        };
        let write = self.job.write(move |db| {
            Box::pin(async move {
                if !store::finish_step(db, &run_id, &stored, now).await? {
                    return Err(StoreError::Fenced);
                }
                store::spend(db, &chain, &used).await
            })
        });
        write.await?;
        self.set_record(path, Record { state, output, error, attempt, next_at, ended_at: now });
        Ok(())
    }
}
