//! The records of a run: read when a drive begins, and what others change while it continues.

use super::drive::Drive;
use crate::plan::{Record, Records, StepState};
use crate::store::{self, FinishedStep, StepRow, Used};
use jobs::JobError;
use std::sync::Arc;
use web::times::now_millis;
use workflow_definition::Step;

/// Returns what becomes of a step whose call was lost, and when it continues: it runs again if it may, otherwise a
/// person decides.
pub(super) fn after_loss(step: Option<&Step>, now: i64) -> (StepState, Option<i64>) {
    if step.is_some_and(Step::is_idempotent) { (StepState::Retrying, Some(now)) } else { (StepState::Unknown, None) }
}

impl Drive {
    /// Decides about steps that a killed server left, and reads the records.
    pub(super) async fn recover(&mut self, rows: Vec<StepRow>) -> Result<(), JobError> {
        let (now, mut lost, mut again) = (now_millis(), Vec::new(), Vec::new());
        let mut records = Records::new();
        for row in rows {
            let step = self.workflow.step(&row.step_id);
            let (path, mut record, retried) = self.settled(row, now);
            again.extend(retried);
            if record.state == StepState::Running {
                (record.state, record.next_at) = after_loss(step, now);
                lost.push((path.clone(), record.state, record.next_at));
            }
            records.insert(path, record);
        }
        self.records = Arc::new(records);
        if lost.is_empty() && again.is_empty() {
            return Ok(());
        }
        let run_id = self.run.id.clone();
        let write = self.job.write(move |db| {
            Box::pin(async move {
                store::lose_steps(db, &run_id, &lost).await?;
                for retrying in again {
                    store::finish_step(db, &run_id, &retrying, now).await?;
                }
                Ok(())
            })
        });
        Ok(write.await?)
    }

    /// Reads the records of steps that others have ended since: a person who answered or decided, an event, or a
    /// child's end.
    pub(super) async fn read_changed(&mut self) -> Result<(), JobError> {
        let is_open = |record: &Record| matches!(record.state, StepState::Waiting | StepState::Unknown);
        let open: Vec<_> =
            self.records.iter().filter(|(_, record)| is_open(record)).map(|(path, _)| path.clone()).collect();
        if open.is_empty() {
            return Ok(());
        }
        let rows = store::settled_steps(self.job.store(), &self.run.id, open).await?;
        for row in rows {
            let now = now_millis();
            let (path, record, retried) = self.settled(row, now);
            if let Some(retrying) = retried {
                let run_id = self.run.id.clone();
                let write = self.job.write(move |db| {
                    Box::pin(async move { store::finish_step(db, &run_id, &retrying, now).await.map(drop) })
                });
                write.await?;
            }
            self.set_record(path, record);
        }
        Ok(())
    }

    /// Returns the path and the record of a row. If the step of a child has failed and its `retry` says that it is
    /// tried again, this also returns the change of the step that is to be stored.
    fn settled(&self, row: StepRow, now: i64) -> (String, Record, Option<FinishedStep>) {
        let retry = self.workflow.step(&row.step_id).and_then(|step| step.retry.as_ref());
        let has_failed = row.state == StepState::Failed && row.kind == "workflow";
        let (path, mut record) = row.record();
        let covers = |kind: &str| retry.filter(|retry| record.attempt < retry.attempts && retry.covers(kind));
        let retry = record.error.as_ref().filter(|_| has_failed).and_then(|error| covers(&error.kind));
        let Some(retry) = retry else { return (path, record, None) };
        record.state = StepState::Retrying;
        record.next_at = Some(now + retry.delay_ms(record.attempt));
        let retrying = FinishedStep {
            path: path.clone(),
            from: StepState::Failed,
            state: StepState::Retrying,
            output: None,
            error: record.error.clone(),
            next_at: record.next_at,
            used: Used::default(),
        };
        (path, record, Some(retrying))
    }
}
