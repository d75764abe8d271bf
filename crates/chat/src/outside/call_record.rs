//! Records the tool calls of an invocation and notifies the agent's hooks. A call is stored before
//! its tool runs, and gets its entry in the audit log when it ends, before the invocation goes on.

use crate::outside::chunk_stream::ChunkStream;
use crate::outside::execute::step;
use crate::record::audit::{Auditor, RunContext};
use crate::record::telemetry::Recorder;
use crate::run::hooks::HookObserver;
use agent::{Checkpoint, Event, InvocationObserver, InvocationReply, SinkClosed};
use contract::Part;
use futures::FutureExt;
use futures::future::BoxFuture;
use jobs::Fence;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use store::{AuditEntry, InvocationProgress, StepRecord, Store};
use tokio_util::sync::CancellationToken;

/// The largest state of a run that is stored, in bytes of JSON.
const MAX_STATE: usize = 16 << 20;

/// Records the calls of one invocation.
pub(crate) struct CallRecord {
    id: String,
    owner: String,
    agent_id: String,
    hooks: Mutex<Option<HookObserver>>,
    auditor: Mutex<Auditor>,
    recorder: Recorder,
    store: Store,
    /// The calls of the agent and its sub-agents that have started.
    started: AtomicU32,
    state: Option<RunState>,
    stream: Mutex<Option<ChunkStream>>,
    /// The bytes of what was read and written.
    bytes: AtomicU64,
    max_bytes: u64,
}

/// The state of a run that may wait for an answer.
#[derive(Default)]
pub(crate) struct RunState {
    checkpoint: Mutex<Option<Checkpoint>>,
    /// The attempt of the job that executes the run, if it is to be continued after a crash: then
    /// each change of the state is stored.
    fence: Option<Fence>,
}

impl RunState {
    /// The state of a run that whoever executes it keeps when it waits.
    pub(crate) fn kept(from: Option<Checkpoint>) -> Self {
        Self { checkpoint: Mutex::new(from), fence: None }
    }

    /// The state of a run that a job executes.
    pub(crate) fn stored(fence: Fence, from: Option<Checkpoint>) -> Self {
        Self { checkpoint: Mutex::new(from), fence: Some(fence) }
    }
}

impl CallRecord {
    pub(crate) fn new(
        subject: RunContext,
        cancel: CancellationToken,
        recorder: Recorder,
        store: Store,
        hooks: Option<HookObserver>,
    ) -> Self {
        Self {
            id: subject.run_id.clone(),
            owner: subject.user_id.clone(),
            agent_id: subject.agent_id.clone(),
            hooks: Mutex::new(hooks),
            auditor: Mutex::new(Auditor::new(subject, cancel)),
            recorder,
            store,
            started: AtomicU32::new(0),
            state: None,
            stream: Mutex::default(),
            bytes: AtomicU64::new(0),
            max_bytes: u64::MAX,
        }
    }

    /// Adds where the state is kept, who follows, and the most bytes.
    pub(crate) fn with(self, state: Option<RunState>, stream: Option<ChunkStream>, max_bytes: u64) -> Self {
        Self { state, stream: Mutex::new(stream), max_bytes, ..self }
    }

    /// Returns whether the requests to models are recorded with the state, as they are made.
    pub(crate) fn stores_steps(&self) -> bool {
        self.fence().is_some()
    }

    /// Returns whether more was read and written than allowed.
    pub(crate) fn is_too_large(&self) -> bool {
        self.bytes.load(Relaxed) > self.max_bytes
    }

    /// Returns the last state.
    pub(crate) fn take_checkpoint(&self) -> Option<Checkpoint> {
        self.state.as_ref().and_then(|state| state.checkpoint.lock().take())
    }

    /// Returns the stream, to end it.
    pub(crate) fn take_stream(&self) -> Option<ChunkStream> {
        self.stream.lock().take()
    }

    fn fence(&self) -> Option<&Fence> {
        self.state.as_ref()?.fence.as_ref()
    }

    /// Returns the number of calls that have started.
    pub(crate) fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Records the calls of sub-agents that were running when the invocation ended, and returns the
    /// observer whose hooks are to be told of the end.
    pub(crate) async fn end(&self) -> Option<HookObserver> {
        let rows = self.auditor.lock().interrupt_all_below();
        // The invocation has ended in any case, and the error is logged.
        let _ = self.append(rows).await;
        self.hooks.lock().take()
    }

    /// Returns the entries of the calls that end with this event, and of the one that begins, in
    /// case it is interrupted.
    fn record(&self, event: &Event) -> (Vec<AuditEntry>, Option<AuditEntry>) {
        let (event, agent_id) = match event {
            Event::Nested { call_id, agent_id, event } => match Event::clone(event).with_parent_call(call_id) {
                Some(event) => (Cow::Owned(event), Some(agent_id.as_str())),
                None => return (Vec::new(), None),
            },
            event => (Cow::Borrowed(event), None),
        };
        let mut auditor = self.auditor.lock();
        let mut rows: Vec<_> = auditor.record(&event, agent_id).into_iter().collect();
        let mut begun = None;
        match &*event {
            Event::ToolStarted { call_id, name, .. } => {
                self.started.fetch_add(1, Relaxed);
                self.recorder.started(agent_id, call_id, name);
                begun = auditor.if_interrupted(call_id);
            }
            // The calls of a sub-agent that still run end with the call that runs it.
            Event::ToolFinished { call_id, .. } => rows.extend(auditor.interrupt_below(call_id)),
            _ => {}
        }
        (rows, begun)
    }

    /// Adds an event to the state. Returns the JSON to store, if it has changed and is stored.
    fn state_after(&self, event: &Event) -> Result<Option<String>, SinkClosed> {
        let Some(state) = &self.state else { return Ok(None) };
        let mut checkpoint = state.checkpoint.lock();
        let has_changed = checkpoint.as_mut().is_some_and(|known| known.record(event));
        match (&*checkpoint, &state.fence) {
            (Some(known), Some(_)) if has_changed => encode(known).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the rows of the requests to models that an event reports.
    fn steps_of(&self, event: &Event) -> Vec<StepRecord> {
        if !self.stores_steps() {
            return Vec::new();
        }
        let reply = match event {
            Event::ReplyComplete(usage) => InvocationReply { below: None, usage: usage.clone() },
            Event::Nested { call_id, agent_id, event } => match &**event {
                Event::ReplyComplete(usage) => {
                    InvocationReply { below: Some((call_id.clone(), agent_id.clone())), usage: usage.clone() }
                }
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        vec![step(&self.owner, &self.id, &self.agent_id, reply)]
    }

    /// Counts what an event brings.
    fn count(&self, event: &Event) -> Result<(), SinkClosed> {
        let bytes = match event {
            Event::Part(Part::TextDelta { delta, .. } | Part::ReasoningDelta { delta, .. }) => delta.len(),
            Event::Part(Part::ToolInputDelta { delta, .. }) => delta.len(),
            Event::Part(Part::File { url, .. }) => url.len(),
            Event::ToolFinished { result: Ok(output), .. } => output.to_string().len(),
            Event::Nested { event, .. } => return self.count(event),
            _ => return Ok(()),
        };
        self.bytes.fetch_add(bytes as u64, Relaxed);
        if self.is_too_large() { Err(SinkClosed) } else { Ok(()) }
    }

    async fn append(&self, rows: Vec<AuditEntry>) -> Result<(), SinkClosed> {
        self.write(InvocationProgress { ended: rows, ..InvocationProgress::default() }).await
    }

    /// Stores what has happened, before it has an effect.
    async fn write(&self, progress: InvocationProgress) -> Result<(), SinkClosed> {
        if progress == InvocationProgress::default() {
            return Ok(());
        }
        progress.ended.iter().for_each(|row| self.recorder.called(row));
        let stored = match self.fence().cloned() {
            None => self.store.record_invocation(&self.id, progress).await,
            Some(fence) => {
                let id = self.id.clone();
                let write = self.store.write(move |db| {
                    Box::pin(async move {
                        fence.check(db).await?;
                        store::record_progress(db, &id, progress).await
                    })
                });
                write.await
            }
        };
        stored.map_err(|error| {
            tracing::error!(invocation = self.id, %error, "what an invocation does could not be recorded");
            SinkClosed
        })
    }
}

fn encode(state: &Checkpoint) -> Result<String, SinkClosed> {
    match serde_json::to_string(state) {
        Ok(json) if json.len() <= MAX_STATE => Ok(json),
        Ok(json) => {
            tracing::warn!(bytes = json.len(), "the state of a run is too large to be stored");
            Err(SinkClosed)
        }
        Err(error) => {
            tracing::error!(%error, "the state of a run cannot be written as JSON");
            Err(SinkClosed)
        }
    }
}

impl InvocationObserver for CallRecord {
    fn observe<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkClosed>> {
        // The hooks see only what the invocation's own agent does.
        if let (Some(hooks), false) = (&mut *self.hooks.lock(), matches!(event, Event::Nested { .. })) {
            hooks.observe(event);
        }
        let counted = self.count(event);
        let (ended, started) = self.record(event);
        let (state, steps) = (self.state_after(event), self.steps_of(event));
        async move {
            counted?;
            self.write(InvocationProgress { started, ended, state: state?, steps }).await?;
            if let Some(stream) = &mut *self.stream.lock() {
                stream.publish(event);
            }
            Ok(())
        }
        .boxed()
    }

    fn wants_checkpoints(&self) -> bool {
        self.state.is_some()
    }

    fn checkpoint(&self, checkpoint: Checkpoint) -> BoxFuture<'_, Result<(), SinkClosed>> {
        async move {
            let Some(state) = &self.state else { return Ok(()) };
            let json = state.fence.as_ref().map(|_| encode(&checkpoint)).transpose()?;
            *state.checkpoint.lock() = Some(checkpoint);
            self.write(InvocationProgress { state: json, ..InvocationProgress::default() }).await
        }
        .boxed()
    }
}
