//! The loop that drives one run.

use super::outcome::Finished;
use super::start::Started;
use super::{CallError, DRIVE_TIME, Remaining, StepHost, wake};
use crate::plan::{End, LAPSED, Plan, Record, Records, RunFacts, StepError, StepState, plan};
use crate::repeat;
use crate::store::{self, FinishedStep, RunRow, RunState, StepRow};
use ::store::StoreError;
use jobs::{Due, JobContext, JobError, Outcome};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use web::times::now_millis;
use workflow_definition::{OnLapse, Step, StepKind, WaitStep, Workflow, WorkflowBytes};

/// The interval at which a run that executes steps checks for changes by others.
const TICK: Duration = Duration::from_secs(1);
/// The time for which steps may continue while the server shuts down.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);

/// A run that is driven.
pub(super) struct Drive {
    pub(super) host: Arc<dyn StepHost>,
    pub(super) job: JobContext,
    pub(super) run: RunRow,
    /// The run and the runs above.
    pub(super) chain: Vec<String>,
    pub(super) workflow: Arc<Workflow>,
    pub(super) facts: Arc<RunFacts>,
    pub(super) records: Arc<Records>,
    pub(super) state_bytes: usize,
    /// The size limits of the run.
    pub(super) bytes: WorkflowBytes,
    pub(super) calls: JoinSet<Finished>,
    /// The budgets that are reserved for running calls, by path.
    pub(super) reserved: HashMap<String, Remaining>,
    /// Cancels single calls, by path.
    pub(super) cancels: HashMap<String, CancellationToken>,
    /// Cancels the calls when the drive ends.
    pub(super) cancel: CancellationToken,
    /// The time of the last round.
    pub(super) seen_at: i64,
    /// When it was looked last at what others have changed.
    pub(super) looked_at: Option<Instant>,
}

/// The next action of the loop after a round.
enum Next {
    Again,
    End(RunState, Result<Value, StepError>),
    Wait(Option<i64>),
}

/// Drives a run until it ends or waits.
pub(super) async fn drive(host: Arc<dyn StepHost>, job: JobContext, run_id: String) -> Result<Outcome, JobError> {
    let db = job.store().clone();
    let Some(run) = store::run(&db, &run_id).await?.filter(|run| run.ended_at.is_none()) else {
        return Ok(Outcome::DONE);
    };
    let Some(workflow) = store::definition(&db, &run.workflow_id, &run.version).await? else {
        return Err(JobError::fail("the definition of the run is gone"));
    };
    let rows = store::steps_of(&db, &run_id).await?;
    let cancel = CancellationToken::new();
    let _ended = cancel.clone().drop_guard();
    let facts = repeat::facts(&run, host.operators());
    let mut drive = Drive {
        bytes: host.bytes(),
        host,
        job,
        chain: std::iter::once(run_id).chain(run.ancestors.iter().cloned()).collect(),
        run,
        workflow: Arc::new(workflow),
        facts: Arc::new(facts),
        state_bytes: rows.iter().map(|row| size(&row.output)).sum(),
        records: Arc::default(),
        calls: JoinSet::new(),
        reserved: HashMap::new(),
        cancels: HashMap::new(),
        cancel,
        seen_at: now_millis(),
        looked_at: None,
    };
    drive.recover(rows).await?;
    drive.correct_delays().await?;
    drive.run_to_rest().await
}

impl Drive {
    async fn run_to_rest(mut self) -> Result<Outcome, JobError> {
        let begin = Instant::now();
        loop {
            if self.job.stop().is_cancelled() {
                return self.leave().await;
            }
            let may_start = begin.elapsed() <= DRIVE_TIME && !self.job.draining().is_cancelled();
            match self.round(may_start).await? {
                Next::Again => {}
                Next::End(state, result) => return self.end(state, result).await,
                Next::Wait(wakes_at) => return self.park(wakes_at).await,
            }
        }
    }

    /// Does what can be done now, or waits for a call to end. Steps that are not started now are started when the
    /// run continues, by this server or another one.
    async fn round(&mut self, may_start: bool) -> Result<Next, JobError> {
        self.follow_clock().await?;
        if self.look_outside().await? {
            return Ok(stopped());
        }
        let deadline = self.run.deadline();
        if now_millis() >= deadline {
            return Ok(limit_end(format!("limits.timeoutSeconds: {}", self.run.limits.timeout_ms() / 1_000)));
        }
        if self.state_bytes > self.bytes.state {
            return Ok(limit_end(format!("workflowBytes.state: {}", self.bytes.state)));
        }
        let Plan { start, due, expired, wakes_at, end } = self.plan().await?;
        match end {
            Some(End::Done(output)) => return Ok(Next::End(RunState::Done, Ok(output))),
            Some(End::Failed(error)) => return Ok(Next::End(RunState::Failed, Err(error))),
            None => {}
        }
        if !expired.is_empty() {
            self.expire_all(&expired).await?;
            return Ok(Next::Again);
        }
        if !due.is_empty() {
            for (path, step_id) in due {
                self.lapse(path, &step_id).await?;
            }
            return Ok(Next::Again);
        }
        let is_put_off = !start.is_empty() && !may_start;
        if !start.is_empty() && may_start {
            match self.start(start).await? {
                Started::Some => return Ok(Next::Again),
                Started::Limit(limit) => return Ok(limit_end(limit)),
                Started::Stopped => return Ok(stopped()),
                // The end of a call or a child is the next event.
                Started::Nothing => {}
            }
        }
        if self.calls.is_empty() {
            let wakes_at = if is_put_off { Some(now_millis()) } else { wakes_at };
            return Ok(Next::Wait(Some(wakes_at.map_or(deadline, |wakes| wakes.min(deadline)))));
        }
        let wait =
            wakes_at.map_or(TICK, |at| Duration::from_millis((at - now_millis()).max(1).unsigned_abs())).min(TICK);
        tokio::select! {
            Some(Ok(finished)) = self.calls.join_next() => self.record(finished).await?,
            () = tokio::time::sleep(wait) => {}
            () = self.job.stop().cancelled() => {}
        }
        Ok(Next::Again)
    }

    /// Looks once in a while at what others have changed: reads the records of steps that ended outside, and
    /// returns whether the run was asked to stop. The start of a step looks at the latter as well.
    async fn look_outside(&mut self) -> Result<bool, JobError> {
        if self.looked_at.is_some_and(|looked_at| looked_at.elapsed() < TICK) {
            return Ok(false);
        }
        let is_first = self.looked_at.replace(Instant::now()).is_none();
        if store::is_stop_requested(self.job.store(), &self.run.id).await? {
            return Ok(true);
        }
        if !is_first {
            self.read_changed().await?;
        }
        Ok(false)
    }

    async fn plan(&self) -> Result<Plan, JobError> {
        let (workflow, facts, records) = (self.workflow.clone(), self.facts.clone(), self.records.clone());
        // Expressions may take seconds.
        let planned = tokio::task::spawn_blocking(move || plan(&workflow, &facts, &records, now_millis())).await;
        planned.map_err(|_| JobError::retry("the plan could not be made"))
    }

    pub(super) fn set_record(&mut self, path: String, record: Record) {
        self.state_bytes += size(&record.output);
        Arc::make_mut(&mut self.records).insert(path, record);
    }

    /// Ends the wait of a step whose time has come.
    async fn lapse(&mut self, path: String, step_id: &str) -> Result<(), JobError> {
        let step = self.workflow.step(step_id);
        if step.is_some_and(|step| matches!(step.kind, StepKind::Agent(_))) {
            return self.lapse_agent(path).await;
        }
        let result = end_of_wait(step, &path);
        let (now, run_id) = (now_millis(), self.run.id.clone());
        let finished = FinishedStep::ended(path.clone(), StepState::Waiting, result);
        let FinishedStep { state, output, error, .. } = finished.clone();
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let is_lapsed = store::finish_step(db, &run_id, &finished, now).await?;
                if is_lapsed {
                    store::lapse_task(db, &run_id, &finished.path).await?;
                    store::delete_wait(db, &run_id, &finished.path).await?;
                }
                Ok(is_lapsed)
            })
        });
        if !write.await? {
            // Somebody answered, or the event happened, at the same moment: that counts.
            return self.read_again(&path).await;
        }
        let attempt = self.records.get(&path).map_or(1, |record| record.attempt);
        let output = output.unwrap_or_default();
        self.set_record(path, Record { state, output, error, attempt, next_at: None, ended_at: now });
        Ok(())
    }

    /// Reads the record of a step that others have changed.
    pub(super) async fn read_again(&mut self, path: &str) -> Result<(), JobError> {
        let rows = store::steps_of(self.job.store(), &self.run.id).await?;
        if let Some((path, record)) = rows.into_iter().find(|row| row.path == path).map(StepRow::record) {
            self.set_record(path, record);
        }
        Ok(())
    }

    /// Ends the job of a run that waits. It continues after what is left by this server's clock: that of the
    /// database may be another one, and the queue corrects delays when its clock is set back.
    async fn park(self, wakes_at: Option<i64>) -> Result<Outcome, JobError> {
        let run_id = self.run.id.clone();
        let left = |at: i64| Duration::from_millis(u64::try_from(at - now_millis()).unwrap_or_default());
        let outcome = wakes_at.map_or(Outcome::DONE, |at| Outcome::again(Due::After(left(at))));
        let ended =
            self.job.finish(outcome, move |db| Box::pin(async move { store::park(db, &run_id, wakes_at).await }));
        Ok(ended.await?)
    }

    /// Gives calls some time to end while the server shuts down. Those that do not are decided about when the run
    /// continues.
    async fn leave(mut self) -> Result<Outcome, JobError> {
        let until = Instant::now() + SHUTDOWN_TIME;
        while let Ok(Some(Ok(finished))) = tokio::time::timeout_at(until, self.calls.join_next()).await {
            // Failures are not recorded: the shutdown may be their cause. An agent that waits for decisions has not
            // failed.
            if matches!(finished.outcome.result, Ok(_) | Err(CallError::Asks(_))) {
                self.record(finished).await?;
            }
        }
        Ok(Outcome::again(Due::Now))
    }
}

/// Returns the end of a step whose time has come.
pub(crate) fn end_of_wait(step: Option<&Step>, path: &str) -> Result<Value, StepError> {
    let lapsed = |message: &str| Err(StepError::new(LAPSED, message, path));
    match step.map(|step| &step.kind) {
        Some(StepKind::Human(human)) => match &human.on_lapse {
            Some(OnLapse { output: Some(output), .. }) => Ok(output.clone()),
            Some(OnLapse { fail: Some(message), .. }) => lapsed(&message.0),
            _ => lapsed("Nobody answered in time."),
        },
        Some(StepKind::Wait(WaitStep { event: Some(event), .. })) => {
            let message = format!("The event `{}` did not happen in time.", event.0);
            Err(StepError::new("timeout", message, path))
        }
        _ => Ok(Value::Null),
    }
}

fn stopped() -> Next {
    Next::End(RunState::Stopped, Err(StepError::new("stopped", "The run was stopped.", "")))
}

fn limit_end(limit: String) -> Next {
    Next::End(RunState::Failed, Err(StepError::new("limit", limit, "")))
}

pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        value => value.to_string().len(),
    }
}

/// Wakes the runs that a transaction has changed.
pub(super) async fn wake_all(
    job: &JobContext,
    db: &mut ::store::sql::Db,
    runs: &[(String, String)],
) -> Result<(), StoreError> {
    for (run_id, owner) in runs {
        wake(job.jobs(), db, run_id, owner, Due::Now).await?;
    }
    Ok(())
}
