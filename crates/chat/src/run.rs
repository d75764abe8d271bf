//! One run: a task that drives the agent, and closes what it opened however it ends.

use crate::audit::{self, Subject};
use crate::hooks::{self, Observer};
use crate::live::LiveRun;
use crate::places::Place;
use crate::sink::RunSink;
use crate::telemetry::{Recorder, Trace};
use crate::{Inner, errors, recover, steps, to_wire};
use agent::{Agent, Ending, Grants, Limit, Outcome as AgentOutcome, PendingCall, Seen, Spent, Turn};
use contract::{FinishReason, Message};
use faults::Point;
use futures::FutureExt;
use serde::Deserialize;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use store::{AuditEntry, FinishRun, JournalBatch, RunStatus, Step, StoreError};
use tracing::Instrument;
use wire::api::{LimitName, MessageMetadata, Outcome, Usage};
use wire::chunk::DataChunk;
use wire::{Chunk, ToolPart, UiMessage, UiPart, UserError};

/// What a call reads that was not finished when its run ended.
pub(crate) const INTERRUPTED: &str = "Interrupted before it finished. It may or may not have had an effect.";

/// How often the end of a run is tried to be stored before the run is left to recovery.
const CLOSE_ATTEMPTS: u32 = 4;

/// What a run begins with.
pub(crate) struct Start {
    pub(crate) agent: Arc<Agent>,
    /// Tells the hooks.
    pub(crate) observer: Option<Observer>,
    pub(crate) prompt: Vec<Arc<Message>>,
    pub(crate) pending: Vec<PendingCall>,
    /// The standing approvals that hold.
    pub(crate) grants: Arc<dyn Grants>,
    /// What the conversation has in it already.
    pub(crate) seen: Seen,
    /// What the turn took before it waited for the user.
    pub(crate) earlier: Spent,
    /// Of the request that started it.
    pub(crate) trace: Option<Trace>,
}

/// Tells the beginning and starts the task, which has its `place` to the end. The task belongs to the chat's tracker, not to the request that
/// asked.
pub(crate) fn start(chat: &Arc<Inner>, run: Arc<LiveRun>, mut start: Start, place: Place) {
    tell_start(&run, &start.agent);
    chat.registry.insert(run.clone());
    let tasks = chat.tasks.clone();
    let chat = chat.clone();
    let (house, left) = (chat.clone(), run.clone());
    // An error's level, so that its lines name their run whatever is filtered out.
    let span = tracing::error_span!(
        "run",
        run = run.identity.run_id,
        conversation = run.identity.conversation_id,
        agent = start.agent.id
    );
    let task = async move {
        faults::point(Point::RunStarted);
        let subject = Subject::of(&run.identity, &start.agent.id);
        let recorder = Recorder::begin_run(chat.telemetry.get().cloned(), &subject, start.trace.take());
        let (store, journal, clock) = (chat.store.clone(), chat.journal.clone(), chat.clock.clone());
        let mut sink = RunSink::new(
            run.clone(),
            store,
            journal,
            start.observer.take(),
            (subject.clone(), recorder.clone()),
            clock,
        );
        let context_size = start.agent.settings.context_tokens;
        let driven = AssertUnwindSafe(async {
            let outcome = drive(start, &mut sink).await;
            // Hooks may take their time.
            run.announce();
            let parts = Box::pin(tell_end(&run, &outcome, &mut sink)).await;
            let mut close = Close { parts, ..Close::of(&outcome, &sink) };
            // Of the agent itself: those below have a context of their own.
            let newest = sink.steps.iter().rev().find(|step| step.call_id.is_none());
            close.metadata.context_used = newest.map(|step| step.usage.input_tokens + step.usage.output_tokens);
            close.metadata.context_size = context_size;
            close
        });
        let close = driven.catch_unwind().await;
        let close = close.unwrap_or_else(|_| Close::failed(errors::internal(), &sink));
        let status = close.status;
        let leftover = Leftover { cut_off: sink.auditor.running(), steps: std::mem::take(&mut sink.steps) };
        leftover.cut_off.iter().for_each(|row| recorder.called(row));
        Box::pin(finish(&chat, &run, &subject, close, leftover)).await;
        recorder.ended(status);
        chat.registry.remove(&run);
    };
    let kept = async move {
        if AssertUnwindSafe(task).catch_unwind().await.is_err() {
            abandon(&house, &left).await;
        }
        drop(place);
    };
    tasks.spawn(kept.instrument(span));
}

/// A panic outside of the agent is a bug of this room. The run is closed as after a crash, so that its conversation goes on.
async fn abandon(chat: &Inner, run: &LiveRun) {
    run.seal();
    recover::close_own(&chat.store, |open| open.run_id == run.identity.run_id).await;
    run.end(&[Chunk::Error { error_text: errors::internal().message }]);
    chat.registry.remove(run);
}

fn tell_start(run: &LiveRun, agent: &Agent) {
    let known = run.message().metadata.and_then(|metadata| serde_json::from_value::<MessageMetadata>(metadata).ok());
    let metadata = MessageMetadata {
        created_at: Some(known.and_then(|known| known.created_at).unwrap_or_else(crate::now)),
        model: Some(agent.model.id().to_string()),
        ..MessageMetadata::default()
    };
    let chunk = Chunk::Start {
        message_id: Some(run.identity.message_id.clone()),
        message_metadata: serde_json::to_value(metadata).ok(),
    };
    run.fold(&chunk);
    run.tell(&chunk);
    run.announce();
}

async fn drive(start: Start, sink: &mut RunSink) -> AgentOutcome {
    let turn = Turn {
        messages: start.prompt,
        pending: start.pending,
        user_id: sink.run.identity.owner.clone(),
        conversation_id: sink.run.identity.conversation_id.clone(),
        grants: Some(start.grants),
        seen: start.seen,
        earlier: start.earlier,
        cancel: sink.run.cancel.clone(),
    };
    agent::run(&start.agent, turn, sink).await
}

/// Tells the hooks that the run ends; what they add is part of the message.
async fn tell_end(run: &LiveRun, outcome: &AgentOutcome, sink: &mut RunSink) -> Vec<DataChunk> {
    match sink.observer.take() {
        Some(observer) => observer.finish(outcome, &run.message(), run.cancel.clone()).await,
        None => Vec::new(),
    }
}

/// How a run is closed: what its row says, what the message says, and the last chunks.
struct Close {
    status: RunStatus,
    metadata: MessageMetadata,
    chunks: Vec<Chunk>,
    /// What the hooks add.
    parts: Vec<DataChunk>,
    cause: Option<String>,
}

impl Close {
    fn of(outcome: &AgentOutcome, sink: &RunSink) -> Self {
        let usage = steps::usage(outcome.usage);
        let mut close = match &outcome.ending {
            Ending::Done => Self::finished(RunStatus::Done, Outcome::Done, outcome.finish_reason),
            Ending::Waiting => {
                // Folded at once, not told: it is nobody's business but the next run's.
                sink.run.fold(&to_wire::spent(&outcome.in_all));
                Self::finished(RunStatus::Waiting, Outcome::Waiting, outcome.finish_reason)
            }
            Ending::Limit(limit) => Self::limited(*limit, outcome.finish_reason),
            Ending::Stopped => Self::stopped(),
            Ending::Failed(error) => {
                Self { cause: Some(error.to_string()), ..Self::failed(errors::of_model(error), sink) }
            }
            Ending::SinkClosed => Self::failed(errors::of_closed_sink(sink.closed), sink),
        };
        close.metadata.finish_reason = match &outcome.ending {
            // The model was not heard to the end.
            Ending::Stopped | Ending::SinkClosed => None,
            Ending::Failed(_) => Some(wire::FinishReason::Error),
            Ending::Done | Ending::Waiting | Ending::Limit(_) => Some(to_wire::finish_reason(outcome.finish_reason)),
        };
        let known = sink.run.look(|message| message.metadata.clone());
        let known = known.and_then(|known| MessageMetadata::deserialize(known).ok());
        let known = known.unwrap_or_default();
        close.metadata.usage = Some(known.usage.map_or(usage, |before| sum(before, usage)));
        close.metadata.cost_usd = match (known.cost_usd, outcome.cost_usd) {
            (None, None) => None,
            (before, now) => Some(before.unwrap_or_default() + now.unwrap_or_default()),
        };
        close
    }

    fn new(status: RunStatus, outcome: Outcome, chunks: Vec<Chunk>) -> Self {
        let metadata = MessageMetadata { outcome: Some(outcome), ..MessageMetadata::default() };
        Self { status, metadata, chunks, parts: Vec::new(), cause: None }
    }

    fn finished(status: RunStatus, outcome: Outcome, reason: FinishReason) -> Self {
        Self::new(status, outcome, vec![finish_chunk(reason)])
    }

    /// A stop by a limit ends with an empty step: without it the AI SDK's helper sees completed calls in the last step
    /// and sends again by itself, for ever.
    fn limited(limit: Limit, reason: FinishReason) -> Self {
        let chunks = vec![Chunk::StartStep, Chunk::FinishStep, finish_chunk(reason)];
        let mut close = Self::new(RunStatus::Limit, Outcome::Limit, chunks);
        close.metadata.limit = Some(match limit {
            Limit::MaxSteps => LimitName::MaxSteps,
            Limit::StopOnToolCall => LimitName::StopOnToolCall,
            Limit::Time => LimitName::Time,
            Limit::Requests => LimitName::Requests,
            Limit::TotalTokens => LimitName::TotalTokens,
            Limit::ToolCalls => LimitName::ToolCalls,
            Limit::Cost => LimitName::CostUsd,
            Limit::Loop => LimitName::Loop,
        });
        close
    }

    fn stopped() -> Self {
        Self::new(RunStatus::Stopped, Outcome::Stopped, vec![Chunk::Abort { reason: Some("stopped".to_owned()) }])
    }

    /// A failure before the first step is told as `error` alone, a later one also ends its step (the AI SDK's order).
    fn failed(error: UserError, sink: &RunSink) -> Self {
        let mut chunks = vec![Chunk::Error { error_text: error.message.clone() }];
        if sink.in_step {
            chunks.extend([Chunk::FinishStep, finish_chunk(FinishReason::Error)]);
        }
        let mut close = Self::new(RunStatus::Failed, Outcome::Failed, chunks);
        close.metadata.error = Some(UserError { trace_id: sink.recorder.trace_id(), ..error });
        close
    }
}

/// The runs of one message together.
fn sum(before: Usage, now: Usage) -> Usage {
    Usage {
        input_tokens: before.input_tokens.saturating_add(now.input_tokens),
        output_tokens: before.output_tokens.saturating_add(now.output_tokens),
        cache_read_tokens: before.cache_read_tokens.saturating_add(now.cache_read_tokens),
        cache_write_tokens: before.cache_write_tokens.saturating_add(now.cache_write_tokens),
        reasoning_tokens: before.reasoning_tokens.saturating_add(now.reasoning_tokens),
    }
}

fn finish_chunk(reason: FinishReason) -> Chunk {
    Chunk::Finish { finish_reason: Some(to_wire::finish_reason(reason)), message_metadata: None }
}

/// What a run's sink has not entered yet.
struct Leftover {
    /// Calls of agents below that nobody ends any more.
    cut_off: Vec<AuditEntry>,
    /// What requests took.
    steps: Vec<Step>,
}

/// Stores the message and the run's end in one transaction, then tells it.
async fn finish(chat: &Inner, run: &LiveRun, subject: &Subject, close: Close, leftover: Leftover) {
    log_end(run, &close);
    let (mut chunks, mut audit) = match close.status {
        // Its calls wait for their answers.
        RunStatus::Waiting => (Vec::new(), Vec::new()),
        _ => run.look(|message| (unfinished_calls(message), audit::interrupted(subject, message.tools()))),
    };
    audit.extend(leftover.cut_off);
    let title = hooks::title(&close.parts);
    chunks.extend(close.parts.into_iter().map(Chunk::Data));
    if let Ok(message_metadata) = serde_json::to_value(&close.metadata) {
        chunks.push(Chunk::MessageMetadata { message_metadata });
    }
    chunks.extend(close.chunks);
    chunks.iter().for_each(|chunk| run.fold(chunk));
    run.seal();
    let mut message = run.message();
    settle_texts(&mut message);
    if close.status != RunStatus::Waiting {
        // What had begun to wait for the user once more, and was stopped, is not made without his yes.
        let tools = message.parts.iter_mut().filter_map(UiPart::as_tool_mut);
        tools.filter(|tool| tool.runs_again()).for_each(ToolPart::disarm);
    }
    let finish = FinishRun {
        run_id: run.identity.run_id.clone(),
        epoch: run.identity.epoch,
        status: close.status,
        message,
        usage: close.metadata.usage,
        error: close.cause,
        now: crate::now(),
        title,
        audit,
        steps: leftover.steps,
    };
    let last = if chat.store.is_shared() { run.last_batch(&chunks) } else { None };
    faults::point(Point::RunEnding);
    let stored = store_end(chat, subject, &finish, last).await;
    faults::point(Point::RunEnded);
    if let Err(error) = stored {
        tracing::error!(%error, run = run.identity.run_id, "the end of a run could not be stored; recovery will close it");
        chunks = vec![Chunk::Error { error_text: errors::of_closed_sink(None).message }];
    }
    run.end(&chunks);
}

/// Of a deleted conversation, the audit log is what is left to close. A run that was taken over is closed by whoever took
/// it, who may keep its questions open. What its requests took was taken in any case.
async fn enter_fenced(
    chat: &Inner,
    subject: &Subject,
    audit: Vec<AuditEntry>,
    steps: Vec<Step>,
) -> Result<(), StoreError> {
    chat.store.append_steps(steps).await?;
    match chat.store.conversation(&subject.user_id, &subject.conversation_id).await? {
        Some(_) => Ok(()),
        None => chat.store.append_audit(audit).await,
    }
}

async fn store_end(
    chat: &Inner,
    subject: &Subject,
    finish: &FinishRun,
    last: Option<JournalBatch>,
) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        match chat.store.finish_run_with(finish, last.clone()).await {
            Err(StoreError::Fenced) => {
                enter_fenced(chat, subject, finish.audit.clone(), finish.steps.clone()).await?;
                return Err(StoreError::Fenced);
            }
            Err(error) if attempt < CLOSE_ATTEMPTS => {
                if !error.is_reported() {
                    tracing::warn!(%error, attempt, "the end of a run could not be stored; trying again");
                }
                tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}

fn log_end(run: &LiveRun, close: &Close) {
    let identity = &run.identity;
    match &close.cause {
        Some(cause) => {
            tracing::warn!(run = identity.run_id, conversation = identity.conversation_id, cause, "run failed")
        }
        None => tracing::debug!(run = identity.run_id, status = ?close.status, "run ended"),
    }
}

/// Each call ends with a result, so that the history stays valid.
fn unfinished_calls(message: &UiMessage) -> Vec<Chunk> {
    let open = message.tools().filter(|tool| !tool.is_final());
    open.map(|tool| Chunk::ToolOutputError {
        tool_call_id: tool.tool_call_id.clone(),
        error_text: INTERRUPTED.to_owned(),
        provider_executed: tool.provider_executed,
        dynamic: tool.dynamic.then_some(true),
    })
    .collect()
}

/// No text of a stored message grows any more.
pub(crate) fn settle_texts(message: &mut UiMessage) {
    use wire::UiPart::{Reasoning, Text};
    for part in &mut message.parts {
        if let Text(text) | Reasoning(text) = part {
            text.state = Some(wire::message::TextState::Done);
        }
    }
}
