//! Starts the steps that are ready. Their records are stored before anything is called.

use super::drive::Drive;
use super::emitted::task_waiting;
use super::prepare::{Beside, Prepared};
use super::{Remaining, match_soon, wake};
use crate::plan::{Record, Start, StepError, StepState};
use crate::store::{self, StartedStep};
use ::store::{StoreError, append_event};
use capability::WaitingKind;
use jobs::{Due, JobError};
use serde_json::Value;
use std::sync::Arc;
use web::times::now_millis;
use workflow_definition::StepKind;

/// The most calls that a run makes at once.
const MAX_CALLS: usize = 16;
/// The pause before a step whose child has not ended yet is retried, in milliseconds.
const CHILD_PAUSE_MS: i64 = 1_000;

/// The outcome of starting the steps that are ready.
pub(super) enum Started {
    /// Some were started.
    Some,
    /// None: others may use all that is left, or all places are taken.
    Nothing,
    /// This limit is reached.
    Limit(String),
    /// The run was asked to stop.
    Stopped,
}

impl Drive {
    /// Starts steps.
    pub(super) async fn start(&mut self, starts: Vec<Start>) -> Result<Started, JobError> {
        let (now, mut prepared, mut put_off) = (now_millis(), Vec::new(), Vec::new());
        let mut places = MAX_CALLS.saturating_sub(self.calls.len());
        let mut affordable = self.affordable().await?;
        for start in starts {
            let Some(step) = self.workflow.step(&start.step_id).cloned() else { continue };
            let is_call = step.is_call();
            if is_call || matches!(step.kind, StepKind::Workflow(_)) {
                if affordable == 0 || is_call && places == 0 {
                    continue;
                }
                affordable -= 1;
                places -= usize::from(is_call);
            }
            let path = start.path.clone();
            match self.prepare(start, step, now).await? {
                Some(ready) => prepared.push(ready),
                None => put_off.push((path, now + CHILD_PAUSE_MS)),
            }
        }
        if prepared.is_empty() {
            return self.put_off(put_off).await;
        }
        // The steps of this round are not counted yet, so they share the rest of the limit.
        let mut room = self.run.steps_left();
        prepared.retain(|prepared| {
            let fits = !prepared.is_counted || room > 0;
            room -= u32::from(prepared.is_counted && fits);
            fits
        });
        if prepared.is_empty() {
            return Ok(Started::Limit(format!("limits.steps: {}", self.run.limits.max_steps())));
        }
        let counted = prepared.iter().filter(|prepared| prepared.is_counted).count();
        let shares = prepared.iter().filter(|prepared| prepared.has_share()).count();
        let of_calls = self.used_by_calls();
        let (chain, owner, jobs) = (self.chain.clone(), self.run.owner.clone(), self.job.jobs().clone());
        let (stored, is_limited) = (prepared.clone(), self.is_limited());
        let (causes, waiting) = (self.run.chain(), self.host.waiting());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let run_id = chain[0].clone();
                let mut remaining = Remaining::default();
                if is_limited {
                    let reserved = of_calls.plus(&Remaining::of_children(&store::open_children(db, &run_id).await?));
                    remaining = match Remaining::of(&store::used(db, &chain).await?) {
                        Ok(remaining) => remaining.without(&reserved).share(shares),
                        Err(limit) => return Ok(Err(Started::Limit(limit))),
                    };
                }
                let Some(mut number) = store::count_steps(db, &run_id, counted).await? else {
                    return Ok(Err(Started::Stopped));
                };
                let mut too_many = Vec::new();
                for Prepared { started, beside, is_counted, .. } in &stored {
                    let mut started = started.clone();
                    if let Beside::Child(child) = beside {
                        let mut child = (**child).clone();
                        child.limits = child.limits.stricter(&remaining.run_limits());
                        if store::insert_run(db, &child).await? {
                            wake(&jobs, db, &child.id, &owner, Due::Now).await?
                        } else {
                            started.child_id = None;
                            too_many.push(started.path.clone());
                        }
                    }
                    if let Beside::ChildAgain(child) = beside {
                        let limits = child.limits.stricter(&remaining.run_limits());
                        if !store::reopen(db, &child.run_id, &limits, now).await? {
                            return Err(StoreError::Fenced);
                        }
                        store::put_back(db, &child.run_id, &child.steps, now).await?;
                        wake(&jobs, db, &child.run_id, &owner, Due::Now).await?;
                    }
                    store::start_step(db, (&run_id, &owner), &started, number, now).await?;
                    number += i64::from(*is_counted);
                    match beside {
                        Beside::Task(task) => {
                            store::insert_task(db, (&run_id, &owner), (**task).clone(), now).await?;
                            append_event(db, task_waiting(&run_id, &causes, task, now)).await?;
                            waiting.begins(db, WaitingKind::Task, &task.id).await?;
                        }
                        Beside::Wait(wait) => {
                            store::insert_wait(db, (&run_id, &owner), wait).await?;
                            // The event may have happened already.
                            match_soon(&jobs, db, &wait.event).await?;
                        }
                        Beside::Nothing | Beside::Child(_) | Beside::ChildAgain(_) => {}
                    }
                }
                Ok(Ok((remaining, too_many)))
            })
        });
        let (remaining, too_many) = match write.await? {
            Ok(stored) => stored,
            Err(none) => return Ok(none),
        };
        self.run.steps = self.run.steps.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
        for Prepared { start, step, started, ended, resumed, .. } in prepared {
            let StartedStep { path, state, attempt, next_at, .. } = started;
            let record = Record { state, output: Value::Null, error: None, attempt, next_at, ended_at: 0 };
            self.set_record(path.clone(), record);
            let refused = too_many.contains(&path).then(|| {
                let message = format!("there are {} runs that have not ended", store::MAX_OPEN_RUNS);
                Err(StepError::new("limit", message, &path))
            });
            match ended.or(refused) {
                Some(result) => self.end_started(path, state, result).await?,
                None if step.is_call() => self.begin_call(&step, start, remaining, resumed),
                None => {}
            }
        }
        Ok(Started::Some)
    }

    /// Returns whether the run, or one above it, has limits on what its steps use. The limits of the runs above are
    /// not known here, so a child counts as limited.
    fn is_limited(&self) -> bool {
        self.chain.len() > 1 || self.run.limits.limits_use()
    }

    /// Returns what the calls that run may use.
    fn used_by_calls(&self) -> Remaining {
        self.reserved.values().fold(Remaining::default(), |sum, one| sum.plus(one))
    }

    /// Returns how many calls and children can start now beside those that run. Running ones have reserved
    /// a part of what is left, and give back what they have not used when they end; while they have
    /// reserved all of it, none can start.
    async fn affordable(&self) -> Result<usize, JobError> {
        if !self.is_limited() {
            return Ok(usize::MAX);
        }
        let chain = self.chain.clone();
        let read = self.job.store().read(move |db| {
            Box::pin(async move {
                // The children are read first: usage between the two reads then counts twice. In the other order it
                // would be missed.
                let children = store::open_children(db, &chain[0]).await?;
                Ok((children, store::used(db, &chain).await?))
            })
        });
        let (children, used) = read.await?;
        // Nothing is given back of a limit that is reached: the next step ends the run.
        let Ok(left) = Remaining::of(&used) else { return Ok(usize::from(self.calls.is_empty())) };
        let reserved = self.used_by_calls().plus(&Remaining::of_children(&children));
        let most = left.without(&reserved).max_calls();
        // A single one always starts.
        Ok(if self.calls.is_empty() && children.is_empty() { most.max(1) } else { most })
    }

    /// Lets steps wait whose children have not ended yet.
    async fn put_off(&mut self, delays: Vec<(String, i64)>) -> Result<Started, JobError> {
        if delays.is_empty() {
            return Ok(Started::Nothing);
        }
        let (run_id, stored) = (self.run.id.clone(), delays.clone());
        let write = self.job.write(move |db| Box::pin(async move { store::delay_steps(db, &run_id, &stored).await }));
        write.await?;
        let records = Arc::make_mut(&mut self.records);
        for (path, next_at) in delays {
            if let Some(record) = records.get_mut(&path) {
                record.next_at = Some(next_at);
            }
        }
        Ok(Started::Some)
    }

    /// Stores that a step has ended at once.
    async fn end_started(
        &mut self,
        path: String,
        from: StepState,
        result: Result<Value, StepError>,
    ) -> Result<(), JobError> {
        let (now, run_id) = (now_millis(), self.run.id.clone());
        let ended = store::FinishedStep::ended(path.clone(), from, result.clone());
        let state = ended.state;
        let write = self
            .job
            .write(move |db| Box::pin(async move { store::finish_step(db, &run_id, &ended, now).await.map(drop) }));
        write.await?;
        let attempt = self.records.get(&path).map_or(1, |record| record.attempt);
        let error = result.as_ref().err().cloned();
        let output = result.unwrap_or_default();
        self.set_record(path, Record { state, output, error, attempt, next_at: None, ended_at: now });
        Ok(())
    }
}
