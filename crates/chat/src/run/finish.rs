//! The end of a run: what it means for the message, storing it, and sending the last chunks.

use crate::events::LifecycleEvent;
use crate::record::audit::{self, RunContext};
use crate::record::steps;
use crate::run::ending::RunEnd;
use crate::run::hooks::{self, HookEnd};
use crate::run::sink::RunSink;
use crate::stream::live::LiveRun;
use crate::{Inner, errors};
use agent::{Ending, RunOutcome, RunSettings};
use contract::FinishReason;
use faults::Point;
use serde::Deserialize;
use std::time::Duration;
use store::{AuditEntry, FinishRun, JournalBatch, StepRecord, StoreError};
use transcript::{chunks, context, pending_calls, to_wire};
use wire::api::{MessageMetadata, Outcome, TokenUsage};
use wire::chunk::DataChunk;
use wire::{Chunk, EndReason, ToolPart, UiMessage, UiPart, UserError};

/// The result of a call that was unfinished when its run ended.
pub(crate) const INTERRUPTED: &str = "Interrupted before it finished. It may or may not have had an effect.";

/// How often storing the end of a run is attempted before the run is left to recovery.
const CLOSE_ATTEMPTS: u32 = 4;

/// Notifies the hooks that the run ends, and returns the parts that they add to the message.
async fn notify_hooks(run: &LiveRun, outcome: &RunOutcome, sink: &mut RunSink) -> Vec<DataChunk> {
    match sink.hooks.take() {
        // If the run could not be recorded, its end is not known, so hooks are not called.
        Some(hooks) if !matches!(outcome.ending, Ending::SinkClosed) => {
            hooks.finish(HookEnd::new(outcome, run.message()), run.cancel.clone()).await
        }
        _ => Vec::new(),
    }
}

/// How a run is closed: its status, its metadata and its last chunks.
pub(super) struct RunClose {
    status: Outcome,
    pub(super) reason: EndReason,
    metadata: MessageMetadata,
    chunks: Vec<Chunk>,
    /// The parts that the hooks add.
    parts: Vec<DataChunk>,
    /// The cause, for the operator.
    cause: Option<String>,
}

impl RunClose {
    /// Determines how a run is closed whose loop has ended, after the hooks have added their parts.
    pub(super) async fn after(outcome: &RunOutcome, settings: &RunSettings, sink: &mut RunSink) -> Self {
        let run = sink.run.clone();
        let title = sink.title.take();
        let mut parts = Box::pin(notify_hooks(&run, outcome, sink)).await;
        match (title, hooks::title(&parts)) {
            (Some(pending), Some(_)) => pending.discard(),
            (Some(pending), None) => parts.extend(pending.part().await),
            (None, _) => {}
        }
        parts.extend(sink.quota_warning.take().map(|text| chunks::quota_warning(&text)));
        let mut close = Self { parts, ..Self::from_outcome(outcome, settings, sink) };
        close.metadata.context_used = sink.context.map(|size| size.used);
        close.metadata.context_parts = sink.context.and_then(|size| serde_json::to_value(context::parts(&size)).ok());
        close.metadata.context_size = settings.context_tokens;
        close
    }

    /// Determines how a run is closed that panicked.
    pub(super) fn panicked(sink: &RunSink) -> Self {
        Self::ended(RunEnd::panicked(), FinishReason::Error, sink)
    }

    fn from_outcome(outcome: &RunOutcome, settings: &RunSettings, sink: &RunSink) -> Self {
        let usage = steps::usage(outcome.usage);
        if matches!(outcome.ending, Ending::Waiting) {
            // Applied to the message but not sent: only the next run needs it.
            sink.run.fold(&chunks::spent(&outcome.turn_usage));
        }
        let end = RunEnd::from_ending(&outcome.ending, settings, &sink.run, sink.closed);
        let mut close = Self::ended(end, outcome.finish_reason, sink);
        close.metadata.finish_reason = match &outcome.ending {
            // The model's reply is incomplete.
            Ending::Stopped | Ending::SinkClosed => None,
            Ending::Failed(_) | Ending::EmptySummary | Ending::UnknownPrice { .. } => Some(wire::FinishReason::Error),
            Ending::Done | Ending::Waiting | Ending::Limit(_) | Ending::InvalidCall { .. } => {
                Some(to_wire::finish_reason(outcome.finish_reason))
            }
        };
        let known = sink.run.with_message(|message| message.metadata.clone());
        let known = known.and_then(|known| MessageMetadata::deserialize(known).ok());
        let known = known.unwrap_or_default();
        close.metadata.usage = Some(known.usage.map_or(usage, |before| sum(before, usage)));
        close.metadata.cost_usd = match (known.cost_usd, outcome.cost_usd) {
            (None, None) => None,
            (before, now) => Some(before.unwrap_or_default() + now.unwrap_or_default()),
        };
        close
    }

    fn ended(end: RunEnd, finish_reason: FinishReason, sink: &RunSink) -> Self {
        let RunEnd { reason, cause, error } = end;
        let status = reason.outcome();
        let chunks = match status {
            Outcome::Done | Outcome::Waiting => vec![finish_chunk(finish_reason)],
            // A limit ends with an empty step. Otherwise the AI SDK's helper would see completed
            // calls in the last step and keep sending by itself.
            Outcome::Limit => vec![Chunk::StartStep, Chunk::FinishStep, finish_chunk(finish_reason)],
            Outcome::Stopped => vec![Chunk::Abort { reason: Some("stopped".to_owned()) }],
            Outcome::Failed | Outcome::Interrupted => failure_chunks(error.as_ref(), sink),
        };
        let metadata = MessageMetadata {
            outcome: Some(status),
            reason: Some(reason),
            limit: (status == Outcome::Limit).then_some(reason),
            error: error.map(|error| UserError { trace_id: sink.recorder.trace_id(), ..error }),
            ..MessageMetadata::default()
        };
        Self { status, reason, metadata, chunks, parts: Vec::new(), cause }
    }
}

/// Returns the chunks of a failure, in the order of the AI SDK: before the first step only `error`,
/// later also the end of the step.
fn failure_chunks(error: Option<&UserError>, sink: &RunSink) -> Vec<Chunk> {
    let error_text = error.map_or_else(|| errors::not_saved().message, |error| error.message.clone());
    let mut chunks = vec![Chunk::Error { error_text }];
    if sink.in_step {
        chunks.extend([Chunk::FinishStep, finish_chunk(FinishReason::Error)]);
    }
    chunks
}

/// Adds up the usage of all runs of a message.
fn sum(before: TokenUsage, now: TokenUsage) -> TokenUsage {
    TokenUsage {
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

/// Data of the sink that is not stored yet.
pub(super) struct Leftover {
    /// The entries of sub-agents' calls that were interrupted.
    cut_off: Vec<AuditEntry>,
    /// The usage of model requests.
    steps: Vec<StepRecord>,
}

impl Leftover {
    /// Takes the data out of the sink, and reports the interrupted calls to telemetry.
    pub(super) fn take(sink: &mut RunSink) -> Self {
        let cut_off = sink.auditor.interrupt_all_below();
        cut_off.iter().for_each(|row| sink.recorder.called(row));
        Self { cut_off, steps: sink.writer.take_steps() }
    }
}

/// Stores the message and the end of the run in one transaction, then sends the last chunks.
pub(super) async fn finish(chat: &Inner, run: &LiveRun, subject: &RunContext, close: RunClose, leftover: Leftover) {
    log_end(subject, &close);
    // Storing the end takes copies of the message.
    chat.memory.wait_turn(run).await;
    let (mut chunks, mut audit) = match close.status {
        // Its calls wait for answers.
        Outcome::Waiting => (Vec::new(), Vec::new()),
        _ => run.with_message(|message| (unfinished_calls(message), audit::interrupted(subject, message.tools()))),
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
    if close.status != Outcome::Waiting {
        pending_calls::remove_usage(&mut message);
        // A call that was stopped while its repetition waited for the user needs a new approval.
        let tools = message.parts.iter_mut().filter_map(UiPart::as_tool_mut);
        tools.filter(|tool| tool.repeats_on_continue()).for_each(ToolPart::prevent_repeat);
    }
    let finish = FinishRun {
        run_id: run.identity.run_id.clone(),
        epoch: run.identity.epoch,
        status: close.status,
        reason: close.reason,
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
    if let Err(error) = &stored {
        tracing::error!(%error, run = run.identity.run_id, "the end of a run could not be stored; recovery will close it");
        chunks = vec![Chunk::Error { error_text: errors::not_saved().message }];
    }
    run.end(&chunks);
    if stored.is_ok() {
        chat.events.tell(&LifecycleEvent::RunEnded {
            run_id: finish.run_id,
            conversation_id: subject.conversation_id.clone(),
            user_id: subject.user_id.clone(),
            agent_id: subject.agent_id.clone(),
            outcome: finish.status,
            reason: finish.reason,
        });
    }
}

/// Stores what is left when the run is fenced: the usage in any case, and the audit entries if the
/// conversation was deleted. If another server took over the run, that server closes it and may
/// keep its approval requests open.
async fn enter_fenced(
    chat: &Inner,
    subject: &RunContext,
    audit: Vec<AuditEntry>,
    steps: Vec<StepRecord>,
) -> Result<(), StoreError> {
    chat.store.append_steps(steps).await?;
    match chat.store.conversation(&subject.user_id, &subject.conversation_id).await? {
        Some(_) => Ok(()),
        None => chat.store.append_audit(audit).await,
    }
}

async fn store_end(
    chat: &Inner,
    subject: &RunContext,
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

/// Logs why a run ended, without any content of the conversation.
fn log_end(subject: &RunContext, close: &RunClose) {
    let RunContext { run_id: run, conversation_id: conversation, agent_id: agent, .. } = subject;
    let (outcome, reason) = (close.status.name(), close.reason.name());
    let cause = close.cause.as_deref().unwrap_or_default();
    if close.reason.is_failure() {
        tracing::warn!(run, conversation, agent, outcome, reason, cause, "run failed")
    } else {
        tracing::info!(run, conversation, agent, outcome, reason, cause, "run ended")
    }
}

/// Gives each unfinished call a result, so that the history stays valid.
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

/// Marks all text parts as complete.
pub(crate) fn settle_texts(message: &mut UiMessage) {
    use wire::UiPart::{Reasoning, Text};
    for part in &mut message.parts {
        if let Text(text) | Reasoning(text) = part {
            text.state = Some(wire::message::TextState::Done);
        }
    }
}
