//! Runs of agents with their tools and no conversation. A run may wait for the answer to a question,
//! and a queued one is continued by another server if its own dies.

mod approvers;
mod drive;
mod request;

pub(crate) use drive::add_handlers;
pub(super) use request::questions;

use crate::admission::quota_locks::QuotaPass;
use crate::errors::Result;
use crate::events::LifecycleEvent;
use crate::outside::call_record::RunState;
use crate::outside::chunk_stream::ChunkStream;
use crate::outside::execute::{Executed, Execution};
use crate::outside::invoke_request;
use crate::record::steps;
use crate::record::telemetry::in_trace;
use crate::{Caller, Chat, Frames, Inner, errors, now};
use agent::{Agent, AnswerForm, Checkpoint, Decision, InvocationInput};
use jobs::{Due, Jobs};
use request::StoredRequest;
use std::sync::Arc;
use std::time::Duration;
use store::sql::Db;
use store::{AgentRun, AgentRunChange, AgentRunPhase, AuditEntry, MAX_OPEN_AGENT_RUNS, StoreError};
use tokio_util::sync::CancellationToken;
use wire::invoke::{Invocation, InvocationStatus, InvokeRequest, RunAnswer, RunMode, RunRequest};
use wire::{ErrorCode, UserError};

/// The longest reason of an answer, in characters.
const MAX_REASON: usize = 2_000;

/// The response to a request to run an agent.
pub enum RunResponse {
    /// The run has ended, or waits for an answer.
    Ended(Invocation),
    /// A job executes it.
    Queued(Invocation),
    /// The events of the run.
    Stream(Frames),
}

/// A run that was accepted.
struct Accepted {
    id: String,
    caller: Caller,
    agent: Arc<Agent>,
    form: Option<AnswerForm>,
    stored: StoredRequest,
    /// The roles whose users decide on calls.
    approvers: Vec<String>,
    created_at: i64,
}

impl Chat {
    /// Runs an agent with its tools and no conversation. `is_admin` lets the limits of the request
    /// replace those of the agent.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 429 for a
    /// quota or too many runs, 503 when full, short of memory or draining. A failure of the model is
    /// reported in the run.
    pub async fn run_agent(
        &self,
        caller: &Caller,
        request: RunRequest,
        is_admin: bool,
    ) -> Result<RunResponse, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let mode = request.mode;
        let (accepted, pass) = self.inner.accept_run(caller, request, is_admin).await?;
        if mode == RunMode::Queued {
            let queued = self.inner.enqueue_run(accepted).await;
            drop(pass);
            return Ok(RunResponse::Queued(queued?));
        }
        let cancel = self.inner.begin_run(&accepted).await?;
        // The run is stored, so it is counted.
        drop(pass);
        let (stream, frames) = match mode {
            RunMode::Stream => {
                let (stream, frames) = ChunkStream::begin(&accepted.id, self.inner.clock.clone());
                (Some(stream), Some(frames))
            }
            _ => (None, None),
        };
        // In a task of its own: a client that disconnects finds the run in the list.
        let inner = self.inner.clone();
        let task = in_trace(async move { inner.run_attached(accepted, stream, cancel).await });
        let task = self.inner.tasks.spawn(task);
        match frames {
            Some(frames) => Ok(RunResponse::Stream(frames)),
            None => Ok(RunResponse::Ended(task.await.map_err(|_| errors::internal())??)),
        }
    }

    /// Answers a question of a run: the caller's own, or one whose approvers have a role of the caller.
    /// When no question is left, the run goes on.
    ///
    /// # Errors
    /// 404 for another user's run, 403 for the caller's own if others decide, 409 if the call does not wait for an answer, 422 for a reason that
    /// is too long.
    pub async fn answer_run(&self, caller: &Caller, id: &str, answer: RunAnswer) -> Result<Invocation, UserError> {
        Ok(self.inner.answer_run(caller, id, answer).await?)
    }

    /// Stops a run of the caller. One that has ended stays as it is.
    ///
    /// # Errors
    /// 404 for another user's run.
    pub async fn stop_run(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        Ok(self.inner.stop_run(caller, id).await?)
    }
}

impl Inner {
    /// Checks a request before anything is stored. The pass is held until the run is stored.
    async fn accept_run(&self, caller: &Caller, request: RunRequest, is_admin: bool) -> Result<(Accepted, QuotaPass)> {
        let wanted = request.approvers.clone();
        let request = InvokeRequest::from(request);
        invoke_request::check(&request)?;
        let agent = self.agents.by_id(caller, &request.agent_name).await?;
        invoke_request::check_tools(&request, &agent)?;
        invoke_request::check_approved_tools(&agent.settings.approvers, caller, &request)?;
        let approvers = approvers::roles(&agent.settings.approvers, wanted)?;
        let pass = self.check_quotas(caller, true, agent.unpriced_model()).await?;
        let form = form(&request).await?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let stored = StoredRequest { request, replaces_limits: is_admin };
        let accepted = Accepted { id, caller: caller.clone(), agent, form, stored, approvers, created_at: now() };
        Ok((accepted, pass))
    }

    async fn enqueue_run(&self, accepted: Accepted) -> Result<Invocation> {
        let run = accepted.stored_run(AgentRunPhase::Pending)?;
        let (jobs, id) = (self.workers.jobs().clone(), run.id.clone());
        let write = self.store.write(move |db| {
            Box::pin(async move {
                if !store::begin_agent_run(db, &run).await? {
                    // Undoes the invocation, too.
                    return Err(StoreError::Fenced);
                }
                wake(&jobs, db, &run.id, &run.owner, Due::Now).await
            })
        });
        match write.await {
            Err(StoreError::Fenced) => Err(too_many().into()),
            stored => {
                stored?;
                self.invocation_of(&accepted.caller.user_id, &id).await
            }
        }
    }

    /// Begins a run whose caller waits for it.
    async fn begin_run(&self, accepted: &Accepted) -> Result<CancellationToken> {
        self.memory.admit(self.is_answering())?;
        if self.invocations.is_full() {
            return Err(invoke_request::capacity_error().into());
        }
        let agent = &accepted.stored.request.agent_name;
        self.store.begin_invocation(&accepted.caller.user_id, &accepted.id, agent, accepted.created_at).await?;
        Ok(self.stopping.child_token())
    }

    /// Executes a run whose caller waits for it, to its end or to its first question.
    async fn run_attached(
        &self,
        accepted: Accepted,
        stream: Option<ChunkStream>,
        cancel: CancellationToken,
    ) -> Result<Invocation> {
        let (id, owner) = (accepted.id.clone(), accepted.caller.user_id.clone());
        let permit = self.invocations.acquire_always(&id, cancel.clone());
        let execution = self.execution(&accepted, None, RunState::default(), 0, stream, cancel);
        let begun = tokio::time::Instant::now();
        let mut executed = self.execute(execution, &CancellationToken::new()).await;
        let end = executed.end(permit.is_ended());
        executed.report(&id, &accepted.stored.request.agent_name, &end);
        if end.status == InvocationStatus::Waiting {
            let run = accepted.waiting_run(&executed, begun.elapsed())?;
            let steps = std::mem::take(&mut executed.steps);
            let (jobs, due) = (self.workers.jobs().clone(), questions_due(executed.checkpoint.as_ref(), &run));
            let write = self.store.write(move |db| {
                Box::pin(async move {
                    store::append_steps(db, steps).await?;
                    if !store::insert_agent_run(db, &run).await? {
                        return Err(StoreError::Fenced);
                    }
                    wake(&jobs, db, &run.id, &run.owner, due).await
                })
            });
            match write.await {
                Err(StoreError::Fenced) => {
                    let mut end = executed.end(false);
                    (end.status, end.error) = (InvocationStatus::Failed, Some(too_many().message));
                    self.store.finish_invocation(executed.finish(&id, &end)).await?;
                }
                stored => {
                    stored?;
                    self.events.tell(&LifecycleEvent::AgentRunWaiting { run_id: id.clone() });
                }
            }
        } else {
            self.store.finish_invocation(executed.finish(&id, &end)).await?;
        }
        let run = self.invocation_of(&owner, &id).await?;
        if let Some(stream) = executed.stream.take() {
            stream.end(&run, steps::usage(executed.usage));
        }
        if let Some((hooks, end)) = executed.hooks.take().filter(|_| run.status != InvocationStatus::Waiting) {
            hooks.finish(end, self.stopping.child_token()).await;
        }
        Ok(run)
    }

    /// Returns what is executed. `active_ms` is the time that the run has used up.
    fn execution(
        &self,
        accepted: &Accepted,
        from: Option<Checkpoint>,
        state: RunState,
        active_ms: i64,
        stream: Option<ChunkStream>,
        cancel: CancellationToken,
    ) -> Execution {
        let StoredRequest { request, replaces_limits } = accepted.stored.clone();
        let tiers = self.agents.invocation_tiers();
        let tier = invoke_request::time_limit(request.agent_tier, &tiers);
        // An administrator may ask for more time than the tier has.
        let wanted = request.limits.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let time = wanted.filter(|_| replaces_limits).unwrap_or(tier);
        Execution {
            id: accepted.id.clone(),
            caller: accepted.caller.clone(),
            max_bytes: invoke_request::byte_limit(request.agent_tier, &tiers),
            input: InvocationInput::prompt(request.input.prompt.clone()),
            program_tools: Vec::new(),
            request,
            agent: accepted.agent.clone(),
            form: accepted.form.clone(),
            replaces_limits,
            time: time.saturating_sub(Duration::from_millis(active_ms.unsigned_abs())),
            from,
            key: None,
            causes: Vec::new(),
            state: Some(state),
            stream,
            cancel,
        }
    }

    async fn invocation_of(&self, owner: &str, id: &str) -> Result<Invocation> {
        Ok(self.store.invocation(owner, id).await?.ok_or_else(UserError::not_found)?)
    }

    /// See [`Chat::answer_run`].
    async fn answer_run(&self, caller: &Caller, id: &str, answer: RunAnswer) -> Result<Invocation> {
        let RunAnswer { call_id, approved, reason } = answer;
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
            return Err(UserError::invalid("/reason", format!("A reason has up to {MAX_REASON} characters.")).into());
        }
        let owner = self.check_approver(caller, id).await?;
        let audit = (owner != caller.user_id).then(|| approvers::audit_row(caller, id, &call_id, approved));
        let decision = if approved { Decision::Approved } else { Decision::Denied(reason) };
        let (jobs, run_id) = (self.workers.jobs().clone(), id.to_owned());
        let write = self.store.write(move |db| {
            Box::pin(async move {
                let Some(run) = store::agent_run(db, &run_id).await? else { return Ok(false) };
                let Some(mut state) = request::state_of(&run)? else { return Ok(false) };
                if run.phase != AgentRunPhase::Waiting || !state.decide(&call_id, decision) {
                    return Ok(false);
                }
                let open = questions(&state, run.created_at);
                let phase = if open.is_empty() { AgentRunPhase::Pending } else { AgentRunPhase::Waiting };
                let due = if open.is_empty() { Some(Due::Now) } else { None };
                let change = AgentRunChange {
                    phase,
                    state: Some(request::to_json(&state)?),
                    questions: (!open.is_empty()).then(|| request::to_json(&open)).transpose()?,
                    active_ms: run.active_ms,
                    now: now(),
                };
                store::change_agent_run(db, &run_id, change).await?;
                let audit = audit.map(|row| AuditEntry { agent_id: run.agent_id.clone(), ..row });
                store::append_audit(db, audit.into_iter().collect()).await?;
                if let Some(due) = due {
                    wake(&jobs, db, &run_id, &run.owner, due).await?;
                }
                Ok(true)
            })
        });
        if !write.await? {
            let message = "This call does not wait for an answer.";
            return Err(UserError::new(ErrorCode::Busy, message).into());
        }
        self.invocation_of(&owner, id).await
    }

    /// See [`Chat::stop_run`].
    async fn stop_run(&self, caller: &Caller, id: &str) -> Result<()> {
        self.invocation_of(&caller.user_id, id).await?;
        let (jobs, owner, run_id) = (self.workers.jobs().clone(), caller.user_id.clone(), id.to_owned());
        let write = self.store.write(move |db| {
            Box::pin(async move {
                if store::request_invocation_stop(db, &owner, &run_id).await?
                    && store::agent_run(db, &run_id).await?.is_some()
                {
                    // A run that waits has no task that would notice the request, so its job is woken.
                    wake(&jobs, db, &run_id, &owner, Due::Now).await?;
                }
                Ok(())
            })
        });
        Ok(write.await?)
    }
}

impl Accepted {
    /// Returns the row of the run.
    fn stored_run(&self, phase: AgentRunPhase) -> Result<AgentRun> {
        Ok(AgentRun {
            id: self.id.clone(),
            owner: self.caller.user_id.clone(),
            agent_id: self.stored.request.agent_name.clone(),
            phase,
            caller: request::caller_json(&self.caller)?,
            request: request::to_json(&self.stored)?,
            state: None,
            questions: None,
            active_ms: 0,
            created_at: self.created_at,
            is_stop_requested: false,
            approvers: self.approvers.clone(),
        })
    }

    /// Returns the row of a run that waits for its first answer.
    fn waiting_run(&self, executed: &Executed, active: Duration) -> Result<AgentRun> {
        let state = executed.checkpoint.as_ref();
        let questions = state.map(|state| questions(state, now())).unwrap_or_default();
        Ok(AgentRun {
            state: state.map(request::to_json).transpose()?,
            questions: Some(request::to_json(&questions)?),
            active_ms: i64::try_from(active.as_millis()).unwrap_or(i64::MAX),
            ..self.stored_run(AgentRunPhase::Waiting)?
        })
    }
}

/// Returns when a run that waits is looked at, if nobody answers before.
fn questions_due(state: Option<&Checkpoint>, run: &AgentRun) -> Due {
    let questions = state.map(|state| questions(state, now())).unwrap_or_default();
    Due::At(request::lapses_at(&questions, run.created_at))
}

async fn form(request: &InvokeRequest) -> Result<Option<AnswerForm>> {
    Ok(match request.response_schema.clone() {
        Some(schema) => Some(invoke_request::form(schema).await?),
        None => None,
    })
}

/// Enqueues the job that executes a run, in a transaction.
async fn wake(jobs: &Jobs, db: &mut Db, id: &str, owner: &str, due: Due) -> Result<(), StoreError> {
    jobs.enqueue_in(db, drive::job(id, owner).due(due)).await.map(drop)
}

fn too_many() -> UserError {
    let message = format!("You have {MAX_OPEN_AGENT_RUNS} runs that have not ended, which is the limit.");
    UserError::new(ErrorCode::RateLimited, message)
}
