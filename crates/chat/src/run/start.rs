//! A run: a task that drives the agent, and closes everything it opened however it ends.

use crate::admission::permits::RunPermit;
use crate::record::audit::RunContext;
use crate::record::telemetry::{Recorder, Trace};
use crate::run::finish::{Leftover, RunClose, finish};
use crate::run::hooks::HookObserver;
use crate::run::sink::RunSink;
use crate::run::title::PendingTitle;
use crate::stream::live::LiveRun;
use crate::upkeep::recover;
use crate::{Inner, errors};
use agent::{Agent, ContextInput, ExposureState, GrantLookup, PendingCall, TurnInput, TurnUsage};
use contract::{Message, RunScope};
use faults::Point;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tracing::Instrument;
use wire::Chunk;
use wire::api::MessageMetadata;

/// The parameters of a new run.
pub(crate) struct RunStart {
    pub(crate) agent: Arc<Agent>,
    /// The page from which the message was sent.
    pub(crate) page_id: String,
    /// Who the user is.
    pub(crate) scope: RunScope,
    /// Notifies the hooks.
    pub(crate) hooks: Option<HookObserver>,
    /// The title of a new conversation, which is generated meanwhile.
    pub(crate) title: Option<PendingTitle>,
    pub(crate) prompt: Vec<Arc<Message>>,
    /// The index in `prompt` at which the turn itself starts.
    pub(crate) own_from: usize,
    /// The part of the prompt that the model reads.
    pub(crate) context: ContextInput,
    pub(crate) pending: Vec<PendingCall>,
    /// The user's standing approvals.
    pub(crate) grants: Arc<dyn GrantLookup>,
    /// The exposure of the agent by the conversation so far.
    pub(crate) seen: ExposureState,
    /// The usage of the turn before it waited for the user.
    pub(crate) earlier: TurnUsage,
    /// The warning about the user's quotas that comes with the answer.
    pub(crate) quota_warning: Option<String>,
    /// The trace of the request that started the run.
    pub(crate) trace: Option<Trace>,
}

/// Sends the start and spawns the run's task, which holds `permit` until its end. The task belongs
/// to the chat's tracker, so it does not end with the request.
pub(crate) fn start(chat: &Arc<Inner>, run: Arc<LiveRun>, start: RunStart, permit: RunPermit) {
    publish_start(&run, &start.agent);
    chat.registry.insert(run.clone());
    let tasks = chat.tasks.clone();
    let chat = chat.clone();
    // `abandon` needs them after a panic, which drops those of the task.
    let (chat_after_panic, run_after_panic) = (chat.clone(), run.clone());
    // At error level, so that the run's fields appear in its log lines under any filter.
    let span = tracing::error_span!(
        "run",
        run = run.identity.run_id,
        conversation = run.identity.conversation_id,
        agent = start.agent.id
    );
    // Boxed for the memory of an open stream: a future has room for what it captures and again for what it awaits.
    let mut start = Box::new(start);
    let task = Box::pin(async move {
        faults::point(Point::RunStarted);
        let subject = RunContext::for_run(&run.identity, &start.agent.id);
        let recorder = Recorder::begin_run(chat.telemetry.get().cloned(), &subject, start.trace.take());
        let (hooks, title) = (start.hooks.take(), start.title.take());
        let mut sink = RunSink::new(&chat, run.clone(), subject.clone(), recorder.clone(), hooks, title);
        sink.quota_warning = start.quota_warning.take();
        let agent = start.agent.clone();
        let driven = AssertUnwindSafe(async {
            let outcome = agent::run(&agent, turn_input(*start, &run), &mut sink).await;
            // Wakes the watchers before the hooks, which may take time.
            run.announce();
            RunClose::after(&outcome, &agent.settings, &mut sink).await
        });
        let close = driven.catch_unwind().await.unwrap_or_else(|_| RunClose::panicked(&sink));
        let reason = close.reason;
        let leftover = Leftover::take(&mut sink);
        Box::pin(finish(&chat, &run, &subject, close, leftover)).await;
        recorder.ended(reason);
        chat.registry.remove(&run);
        chat.memory.end_turn(&run);
    });
    let guarded = async move {
        if AssertUnwindSafe(task).catch_unwind().await.is_err() {
            abandon(&chat_after_panic, &run_after_panic).await;
        }
        drop(permit);
    };
    tasks.spawn(guarded.instrument(span));
}

/// Closes a run as after a crash, so that its conversation can continue. A panic outside of the
/// agent is a bug in this crate.
async fn abandon(chat: &Inner, run: &LiveRun) {
    run.seal();
    recover::close_own(&chat.store, &chat.recovery, |open| open.run_id == run.identity.run_id).await;
    run.end(&[Chunk::Error { error_text: errors::internal().message }]);
    chat.registry.remove(run);
}

/// Publishes the first chunk, which has the message's id and metadata.
fn publish_start(run: &LiveRun, agent: &Agent) {
    let known = run.message().metadata.and_then(|metadata| serde_json::from_value::<MessageMetadata>(metadata).ok());
    let known = known.unwrap_or_default();
    let metadata = MessageMetadata {
        created_at: Some(known.created_at.unwrap_or_else(crate::now)),
        model_id: known.model_id,
        thinking: known.thinking,
        delegate: known.delegate,
        model: Some(agent.model.id().to_string()),
        ..MessageMetadata::default()
    };
    let chunk = Chunk::Start {
        message_id: Some(run.identity.message_id.clone()),
        message_metadata: serde_json::to_value(metadata).ok(),
    };
    run.fold(&chunk);
    run.publish(&chunk);
    run.announce();
}

/// Returns what the agent needs to answer.
fn turn_input(start: RunStart, run: &LiveRun) -> TurnInput {
    TurnInput {
        messages: start.prompt,
        turn_start: start.own_from,
        pending: start.pending,
        scope: RunScope {
            conversation_id: run.identity.conversation_id.clone(),
            run_id: run.identity.run_id.clone(),
            page_id: Some(start.page_id),
            // The ids of calls are unique within the conversation.
            key: run.identity.conversation_id.clone(),
            // The agent adds its id.
            ..start.scope
        },
        grants: Some(start.grants),
        exposure: start.seen,
        context: start.context,
        earlier: start.earlier,
        cancel: run.cancel.clone(),
    }
}
