//! Calls of agents and endpoints, and the records of their ends.

use super::drive::{Drive, size};
use super::outcome::Finished;
use super::{Call, CallError, CallOutcome, Remaining};
use crate::plan::{BUSY, Record, Start, StepError, StepState};
use crate::store::{self, FinishedStep, ResumedStep};
use ::store::StoreError;
use jobs::JobError;
use serde_json::Value;
use sha2::{Digest, Sha256};
use web::times::now_millis;
use workflow_definition::Step;

/// Returns the key of a step that stays the same over all attempts, also of those of the runs above. `base` is
/// [`store::RunRow::key_base`].
pub(super) fn idempotency_key(base: &str, path: &str) -> String {
    let digest = Sha256::digest(format!("{base}/{path}"));
    format!("workflow-{}", hex::encode(&digest[..16]))
}

impl Drive {
    /// Begins a call that is stored as running.
    pub(super) fn begin_call(&mut self, step: &Step, start: Start, remaining: Remaining, resumed: Option<ResumedStep>) {
        let Start { path, step_id, input, attempt } = start;
        self.reserved.insert(path.clone(), remaining);
        let cancel = self.cancel.child_token();
        self.cancels.insert(path.clone(), cancel.clone());
        let call = Call {
            caller: self.run.caller.caller(&self.run.owner),
            workflow_id: self.run.workflow_id.clone(),
            causes: self.run.chain(),
            tier: self.workflow.tier,
            step: step.clone(),
            input,
            key: idempotency_key(self.run.key_base(), &path),
            remaining,
            resumed,
            cancel,
        };
        let call = self.host.call(call);
        // In a task of its own, so that a panic in a tool is the error of its step.
        let task = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(call));
        self.calls.spawn(async move {
            let outcome = task.await.unwrap_or_else(|_| CallOutcome {
                result: Err(CallError::Failed(
                    "failed",
                    "The step ended unexpectedly; the server's log has the cause.".to_owned(),
                )),
                used: store::Used::default(),
            });
            Finished { path, step_id, attempt, outcome }
        });
    }

    /// Stores the end of a call, with what it used.
    pub(super) async fn record(&mut self, finished: Finished) -> Result<(), JobError> {
        let Finished { path, step_id, attempt, outcome: CallOutcome { result, used } } = finished;
        self.reserved.remove(&path);
        self.cancels.remove(&path);
        if self.records.get(&path).is_some_and(|record| record.state != StepState::Running) {
            return self.spend_after_end(path, used).await;
        }
        let now = now_millis();
        let suspended = self.suspended_step(&path, &result, now);
        // A call that was refused or interrupted continues from its stored state.
        let keeps_state =
            suspended.is_some() || matches!(result, Err(CallError::Refused { .. } | CallError::Interrupted));
        let record = match &suspended {
            Some(suspended) => suspended.record(attempt),
            None => self.end_of_attempt(&path, &step_id, attempt, result, now),
        };
        let (run_id, chain, owner) = (self.run.id.clone(), self.chain.clone(), self.run.owner.clone());
        let (workflows, waiting) = (self.run.chain(), self.host.waiting());
        let is_refused = record.is_refused();
        let stored = FinishedStep {
            path: path.clone(),
            from: StepState::Running,
            state: record.state,
            output: (record.state == StepState::Done).then(|| record.output.clone()),
            error: record.error.clone(),
            next_at: record.next_at,
            used,
        };
        let write = self.job.write(move |db| {
            Box::pin(async move {
                if !store::finish_step(db, &run_id, &stored, now).await? {
                    return Err(StoreError::Fenced);
                }
                if is_refused {
                    store::uncount_attempt(db, &run_id, &stored.path).await?;
                }
                if !keeps_state {
                    store::forget_suspended(db, &run_id, &stored.path).await?;
                }
                if let Some(suspended) = suspended {
                    suspended.store(db, (&run_id, &owner), &workflows, &waiting, now).await?;
                }
                store::spend(db, &chain, &used).await
            })
        });
        write.await?;
        self.set_record(path, record);
        Ok(())
    }

    /// Stores what a call has used that was cancelled, because the time of a step around it was over.
    async fn spend_after_end(&mut self, path: String, used: store::Used) -> Result<(), JobError> {
        let (run_id, chain) = (self.run.id.clone(), self.chain.clone());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                store::add_use(db, &run_id, &path, &used).await?;
                store::spend(db, &chain, &used).await
            })
        });
        Ok(write.await?)
    }

    /// Returns the record of a step after an attempt.
    fn end_of_attempt(
        &self,
        path: &str,
        step_id: &str,
        attempt: u32,
        result: Result<Value, CallError>,
        now: i64,
    ) -> Record {
        let most = self.bytes.output;
        let step = self.workflow.step(step_id);
        let record = |state: StepState, error: Option<StepError>, next_at: Option<i64>| Record {
            state,
            output: Value::Null,
            error,
            attempt,
            next_at,
            ended_at: now,
        };
        let (kind, message) = match result {
            Ok(output) if size(&output) > most => {
                ("limit", format!("The output is larger than {most} bytes (`workflowBytes.output`)."))
            }
            Ok(output) => return Record { output, ..record(StepState::Done, None, None) },
            Err(CallError::Failed(kind, message)) => (kind, message),
            Err(CallError::Refused { message, pause }) => {
                let next_at = now + i64::try_from(pause.as_millis()).unwrap_or_default();
                let refused = record(StepState::Retrying, Some(StepError::new(BUSY, message, path)), Some(next_at));
                // Nothing has run, so this does not count as an attempt.
                return Record { attempt: attempt.saturating_sub(1), ..refused };
            }
            // An agent waits for decisions, but its state is too large to be stored.
            Err(CallError::Asks(_)) => (
                "limit",
                format!("The state of the agent is larger than {} bytes (`workflowBytes.state`).", self.bytes.state),
            ),
            Err(CallError::Interrupted) => {
                let (state, next_at) = super::records::after_loss(step, now);
                return record(state, None, next_at);
            }
        };
        let error = StepError::new(kind, message, path);
        let retry = step.and_then(|step| step.retry.as_ref());
        match retry.filter(|retry| attempt < retry.attempts && retry.covers(kind)) {
            Some(retry) => record(StepState::Retrying, Some(error), Some(now + retry.delay_ms(attempt))),
            None => record(StepState::Failed, Some(error), None),
        }
    }
}
