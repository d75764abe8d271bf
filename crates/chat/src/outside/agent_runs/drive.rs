//! The job that executes a run, to its end or to its next question.

use super::request::{self, StoredRequest, questions};
use super::{Accepted, form, wake};
use crate::Inner;
use crate::events::LifecycleEvent;
use crate::outside::call_record::RunState;
use crate::outside::execute::ExecutionEnd;
use agent::{Checkpoint, Decision, InvokeError};
use contract::Usage;
use jobs::{Backoff, Due, Handler, JobContext, JobError, Kind, Lane, NewJob, Outcome, StopReason, Workers};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::{AgentRun, AgentRunChange, AgentRunPhase, FinishInvocation, StoreError};
use tokio::time::Instant;
use wire::EndReason;
use wire::invoke::{InvocationStatus, RunQuestion};

/// The job that executes a run. Its key is the run's id, so a run is executed once at a time.
const RUN: Kind<AgentRunJob> = Kind::new("chat.agent_run")
    .lane(Lane::Interactive)
    .concurrency(32)
    .attempts(MAX_ATTEMPTS)
    .backoff(Backoff { base: Duration::from_millis(500), cap: Duration::from_secs(60) })
    // Longer than the longest tier; the run has a time limit of its own.
    .timeout(Duration::from_hours(25));

/// How often a run is begun or continued after its server died. One that kills each server ends.
const MAX_ATTEMPTS: u32 = 5;
/// Finds runs without a job, for example because an operator has cancelled it.
const SWEEP: Kind<()> = Kind::new("chat.agent_runs_sweep").attempts(1);
/// How often.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// When a run is tried again for which there was no place.
const LATER: Duration = Duration::from_secs(1);

/// The result of a call whose question nobody answered.
const NOT_IN_TIME: &str = "Nobody answered in time.";

/// The payload.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentRunJob {
    run_id: String,
}

/// Returns the job that executes a run.
pub(super) fn job(id: &str, owner: &str) -> NewJob {
    RUN.job(&AgentRunJob { run_id: id.to_owned() }).key(id).owner(owner)
}

/// Adds the handlers. They do not keep the chat alive.
pub(crate) fn add_handlers(workers: &Workers, inner: &Arc<Inner>) {
    let weak = Arc::downgrade(inner);
    workers.add(Handler::new(RUN, move |job: JobContext, AgentRunJob { run_id }| {
        let weak: Weak<Inner> = weak.clone();
        async move {
            match weak.upgrade() {
                Some(inner) => inner.drive_run(&job, &run_id).await,
                None => Ok(Outcome::again(Due::Now)),
            }
        }
    }));
    workers.add(Handler::recurring(SWEEP, SWEEP_INTERVAL, |job: JobContext| async move {
        let before = crate::now() - i64::try_from(SWEEP_INTERVAL.as_millis()).unwrap_or_default();
        for (id, owner) in job.store().agent_runs_without_job(RUN.name(), before).await? {
            tracing::warn!(run = id, "a run had no job");
            let jobs = job.jobs().clone();
            let write =
                job.store().write(move |db| Box::pin(async move { wake(&jobs, db, &id, &owner, Due::Now).await }));
            write.await?;
        }
        Ok(())
    }));
}

/// The state of a stored run.
enum Look {
    /// It has ended.
    Over,
    /// It still waits.
    Waits(Due),
    /// It is executed, from this state.
    Goes(Box<AgentRun>, Option<Box<Checkpoint>>),
    /// It ends now.
    Ends(Box<AgentRun>, EndReason, String),
}

impl Inner {
    async fn drive_run(&self, job: &JobContext, id: &str) -> Result<Outcome, JobError> {
        let (run, state) = match look(job, id).await? {
            Look::Over => return Ok(Outcome::DONE),
            Look::Waits(due) => return Ok(Outcome::again(due)),
            Look::Ends(run, reason, error) => return finish(job, ended(&run, reason, error)).await,
            Look::Goes(run, state) => (run, state.map(|state| *state)),
        };
        let caller = request::caller_of(&run)?;
        let stored: StoredRequest = request::request_of(&run)?;
        let agent = match self.agents.by_id(&caller, &run.agent_id).await {
            Ok(agent) => agent,
            // The agent is gone, or the user may not use it any more.
            Err(error) => return finish(job, ended(&run, EndReason::Other, error.message)).await,
        };
        let quota = self.check_quotas(&caller, false, agent.unpriced_model()).await;
        if let Err(error) = quota {
            let error = wire::UserError::from(error);
            return finish(job, ended(&run, EndReason::Other, error.message)).await;
        }
        let form = match form(&stored.request).await {
            Ok(form) => form,
            Err(error) => {
                return finish(job, ended(&run, EndReason::Unfit, wire::UserError::from(error).message)).await;
            }
        };
        let cancel = self.stopping.child_token();
        let Some(permit) = self.invocations.acquire(id, cancel.clone()) else {
            return Ok(Outcome::again(Due::After(LATER)));
        };
        if self.memory.admit(self.is_answering()).is_err() {
            return Ok(Outcome::again(Due::After(LATER)));
        }
        let approvers = run.approvers.clone();
        let created_at = run.created_at;
        let accepted = Accepted { id: id.to_owned(), caller, agent, form, stored, approvers, created_at };
        let kept = RunState::stored(job.fence(), state.clone());
        let execution = self.execution(&accepted, state, kept, run.active_ms, None, cancel.clone());
        let begun = Instant::now();
        let mut executed = self.execute(execution, job.stop()).await;
        let mut end = executed.end(permit.is_ended());
        let active_ms = run.active_ms.saturating_add(i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX));
        let parked = match end.status {
            InvocationStatus::Waiting => executed.checkpoint.take(),
            _ => None,
        };
        if end.status == InvocationStatus::Waiting && parked.is_none() {
            // Without its state it could never go on.
            executed.result = Err(InvokeError::NotRecorded);
            end = executed.end(permit.is_ended());
        }
        executed.report(id, &run.agent_id, &end);
        if let Some(state) = parked {
            let outcome = park(job, &run, state, active_ms).await?;
            self.events.tell(&LifecycleEvent::AgentRunWaiting { run_id: id.to_owned() });
            return Ok(outcome);
        }
        if let Some(why) =
            job.why_stopped().filter(|_| end.status != InvocationStatus::Succeeded && !executed.is_stopped)
        {
            return self.leave(job, &run, why).await;
        }
        let outcome = finish(job, executed.finish(id, &end)).await?;
        if let Some((hooks, end)) = executed.hooks.take() {
            hooks.finish(end, cancel).await;
        }
        Ok(outcome)
    }

    /// Leaves a run that another attempt continues, or that an operator has cancelled.
    async fn leave(&self, job: &JobContext, run: &AgentRun, why: StopReason) -> Result<Outcome, JobError> {
        match why {
            StopReason::Cancelled => {
                let error = "An administrator stopped the run.".to_owned();
                finish(job, ended(run, EndReason::StoppedByAdmin, error)).await
            }
            StopReason::TimedOut => {
                let error = "There was no answer within the time limit.".to_owned();
                finish(job, ended(run, EndReason::Time, error)).await
            }
            StopReason::Shutdown | StopReason::Lost => Ok(Outcome::again(Due::Now)),
        }
    }
}

/// Reads a run and stores that it is executed now. Calls that a dead server left open are decided about first.
async fn look(job: &JobContext, id: &str) -> Result<Look, JobError> {
    let (id, attempt) = (id.to_owned(), job.attempt());
    let write = job.write(move |db| {
        Box::pin(async move {
            let Some(run) = store::agent_run(db, &id).await? else { return Ok(Look::Over) };
            let (mut state, now) = (request::state_of(&run)?, crate::now());
            if run.phase == AgentRunPhase::Running {
                store::interrupt_agent_run(db, &id, now).await?;
                if let Some(state) = &mut state {
                    state.interrupt();
                }
            }
            if run.is_stop_requested {
                return Ok(Look::Ends(Box::new(run), EndReason::StoppedByUser, "The run was stopped.".to_owned()));
            }
            if attempt >= MAX_ATTEMPTS && run.phase == AgentRunPhase::Running {
                let error = "The server stopped several times while it executed this run.".to_owned();
                return Ok(Look::Ends(Box::new(run), EndReason::ServerGone, error));
            }
            if run.phase == AgentRunPhase::Waiting {
                let open = request::questions_of(&run)?;
                let due = request::lapses_at(&open, run.created_at);
                if now < due {
                    return Ok(Look::Waits(Due::At(due)));
                }
                if let Some(state) = &mut state {
                    lapse(state, &open, run.created_at, now);
                    let left = questions(state, run.created_at);
                    if !left.is_empty() {
                        let due = request::lapses_at(&left, run.created_at);
                        let change = change(&run, AgentRunPhase::Waiting, Some(state), &left)?;
                        store::change_agent_run(db, &id, change).await?;
                        return Ok(Look::Waits(Due::At(due)));
                    }
                }
            }
            let change = change(&run, AgentRunPhase::Running, state.as_ref(), &[])?;
            store::change_agent_run(db, &id, change).await?;
            Ok(Look::Goes(Box::new(run), state.map(Box::new)))
        })
    });
    Ok(write.await?)
}

/// Denies the calls whose questions nobody answered in time.
fn lapse(state: &mut Checkpoint, open: &[RunQuestion], created_at: i64, now: i64) {
    let is_last = now >= request::lapses_at(&[], created_at);
    for question in open {
        if is_last || question.expires_at.is_some_and(|at| at <= now) {
            state.decide(&question.call_id, Decision::Denied(Some(NOT_IN_TIME.to_owned())));
        }
    }
}

fn change(
    run: &AgentRun,
    phase: AgentRunPhase,
    state: Option<&Checkpoint>,
    open: &[RunQuestion],
) -> Result<AgentRunChange, StoreError> {
    Ok(AgentRunChange {
        phase,
        state: state.map(request::to_json).transpose()?,
        questions: (!open.is_empty()).then(|| request::to_json(&open)).transpose()?,
        active_ms: run.active_ms,
        now: crate::now(),
    })
}

/// Stores that a run waits, and ends its job.
async fn park(job: &JobContext, run: &AgentRun, state: Checkpoint, active_ms: i64) -> Result<Outcome, JobError> {
    let open = questions(&state, crate::now());
    let due = Due::At(request::lapses_at(&open, run.created_at));
    let change = AgentRunChange { active_ms, ..change(run, AgentRunPhase::Waiting, Some(&state), &open)? };
    let id = run.id.clone();
    let write = job.finish(Outcome::again(due), move |db| {
        Box::pin(async move { store::change_agent_run(db, &id, change).await.map(drop) })
    });
    Ok(write.await?)
}

/// Returns what is stored of a run that ends without being executed.
fn ended(run: &AgentRun, reason: EndReason, error: String) -> FinishInvocation {
    let reason_name = reason.name();
    tracing::warn!(run = run.id, agent = run.agent_id, reason = reason_name, "a run ended before it had an answer");
    let status = if reason == EndReason::Time { InvocationStatus::Timeout } else { InvocationStatus::Failed };
    let end = ExecutionEnd { status, reason, output: None, error: Some(error) };
    FinishInvocation {
        id: run.id.clone(),
        status: end.status,
        output: end.output,
        error: end.error,
        reason: end.reason,
        usage: serde_json::to_value(Usage::default()).unwrap_or_default(),
        now: crate::now(),
        steps: Vec::new(),
    }
}

/// Stores the end of a run, and ends its job.
async fn finish(job: &JobContext, finish: FinishInvocation) -> Result<Outcome, JobError> {
    let write = job
        .finish(Outcome::DONE, move |db| Box::pin(async move { store::finish_agent_run(db, finish).await.map(drop) }));
    Ok(write.await?)
}
