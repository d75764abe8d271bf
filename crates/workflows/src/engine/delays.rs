//! Delays after the clock was set back. The times at which steps continue are stored; without a correction a pause
//! of a second would take as long as the clock was set back.

use super::drive::Drive;
use super::outcome::MAX_PAUSE;
use crate::plan::{Record, StepState};
use crate::store;
use jobs::JobError;
use std::sync::Arc;
use web::times::now_millis;
use workflow_definition::{Step, StepKind, WaitStep};

/// The maximum difference between the clocks of two servers, in milliseconds.
const TOLERANCE: i64 = 1_000;

/// Returns how long a step waits at most, in milliseconds; `None` if it does not wait, or until a time
/// that the workflow has chosen.
fn delay_ms(step: &Step, record: &Record) -> Option<i64> {
    if record.is_refused() {
        return i64::try_from(MAX_PAUSE.as_millis()).ok();
    }
    let seconds = match (&record.state, &step.kind) {
        (StepState::Retrying, _) => return Some(step.retry.as_ref()?.delay_ms(record.attempt)),
        (StepState::Waiting, StepKind::Wait(WaitStep { event: Some(_), .. })) => step.timeout_seconds,
        (StepState::Waiting, StepKind::Wait(wait)) => wait.seconds,
        (StepState::Waiting, StepKind::Human(human)) => human.due_seconds,
        _ => None,
    };
    Some(i64::from(seconds?) * 1_000)
}

impl Drive {
    /// Corrects the delays if the clock was set back since the last call.
    pub(super) async fn follow_clock(&mut self) -> Result<(), JobError> {
        let (now, before) = (now_millis(), self.seen_at);
        self.seen_at = now;
        if now + TOLERANCE < before { self.correct_delays().await } else { Ok(()) }
    }

    /// Lets delays begin now that would end later than that: the clock was set back after they began.
    pub(super) async fn correct_delays(&mut self) -> Result<(), JobError> {
        let (now, run_id) = (now_millis(), self.run.id.clone());
        let mut corrected = Vec::new();
        for (path, record) in self.records.iter() {
            let Some(next_at) = record.next_at else { continue };
            // A path ends with the id of its step.
            let step = path.rsplit('/').next().and_then(|step_id| self.workflow.step(step_id));
            let Some(delay) = step.and_then(|step| delay_ms(step, record)) else { continue };
            if next_at > now + delay + TOLERANCE {
                corrected.push((path.clone(), now + delay));
            }
        }
        if corrected.is_empty() {
            return Ok(());
        }
        tracing::warn!(run = run_id, steps = corrected.len(), "the clock was set back; delays of steps begin now");
        let stored = corrected.clone();
        let write = self.job.write(move |db| Box::pin(async move { store::delay_steps(db, &run_id, &stored).await }));
        write.await?;
        let records = Arc::make_mut(&mut self.records);
        for (path, next_at) in corrected {
            if let Some(record) = records.get_mut(&path) {
                record.next_at = Some(next_at);
            }
        }
        Ok(())
    }
}
