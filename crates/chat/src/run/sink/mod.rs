//! The event sink of a run: folds events into the message, encodes them once, stores them and sends
//! them.

use crate::Clock;
use crate::admission::memory::MemoryGuard;
use crate::record::audit::{Auditor, RunContext};
use crate::record::steps;
use crate::record::telemetry::Recorder;
use crate::run::ending::SinkEnd;
use crate::run::hooks::HookObserver;
use crate::run::to_wire::{self, ToWire, is_acknowledgement, is_private};
use crate::stream::journal::Journal;
use crate::stream::live::LiveRun;
use agent::{Event, EventSink, RepeatTerms, ReplyUsage, SinkClosed};
use contract::Part;
use faults::{Break, Point};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::{AuditEntry, StartedCall, StepRecord, Store, StoreError, SubAgentCall, ToolOutcome};
use wire::Chunk;

/// The maximum size of a turn in bytes of text and arguments.
const MAX_TURN_BYTES: usize = 16 * 1024 * 1024;

/// Usage is stored when the next step starts, or when this many entries have accumulated.
const MAX_STEPS: usize = 32;

/// The event sink of one run.
pub(crate) struct RunSink {
    pub(crate) run: Arc<LiveRun>,
    /// Notifies the hooks, until the run ends.
    pub(crate) observer: Option<HookObserver>,
    /// Creates the audit entries.
    pub(crate) auditor: Auditor,
    /// The usage that is not stored yet.
    pub(crate) steps: Vec<StepRecord>,
    subject: RunContext,
    /// Reports to telemetry.
    pub(crate) recorder: Recorder,
    store: Store,
    journal: Journal,
    memory: Arc<MemoryGuard>,
    to_wire: ToWire,
    chunks: Vec<Chunk>,
    inputs: HashMap<String, Value>,
    /// Calls that are in the ledger and have not ended. Calls that could not be run are never
    /// there.
    started: HashSet<String>,
    /// Calls that were suspended in an earlier run.
    resumed: HashSet<String>,
    /// Calls that were interrupted in an earlier run.
    repeated: HashSet<String>,
    bytes: usize,
    /// Whether a step is open, so that a failure can end the stream correctly.
    pub(crate) in_step: bool,
    /// Why the sink closed, if it did.
    pub(crate) closed: Option<SinkEnd>,
}

impl RunSink {
    pub(crate) fn new(
        run: Arc<LiveRun>,
        store: Store,
        (journal, memory): (Journal, Arc<MemoryGuard>),
        observer: Option<HookObserver>,
        (subject, recorder): (RunContext, Recorder),
        clock: Clock,
    ) -> Self {
        Self {
            run,
            observer,
            auditor: Auditor::new(subject.clone()),
            steps: Vec::new(),
            subject,
            recorder,
            store,
            journal,
            memory,
            to_wire: ToWire::at(clock),
            chunks: Vec::new(),
            inputs: HashMap::new(),
            started: HashSet::new(),
            resumed: HashSet::new(),
            repeated: HashSet::new(),
            bytes: 0,
            in_step: false,
            closed: None,
        }
    }

    /// Returns the call's id in the ledger. Providers reuse call ids in other branches of a
    /// conversation, so the id is prefixed by the message's. A call that was suspended or
    /// interrupted gets a new entry in each run that resumes or repeats it, so the run's id is
    /// appended.
    fn ledger_id(&self, call_id: &str) -> String {
        let identity = &self.run.identity;
        match self.resumed.contains(call_id) || self.repeated.contains(call_id) {
            true => format!("{}:{call_id}:{}", identity.message_id, identity.run_id),
            false => format!("{}:{call_id}", identity.message_id),
        }
    }

    fn close(&mut self, why: SinkEnd) -> SinkClosed {
        self.closed = Some(why);
        SinkClosed
    }

    /// Writes the tool ledger: the start of a call before its effect, and its end afterwards,
    /// together with its audit entry. `agent_id` is set for calls of a sub-agent.
    async fn write_ledger(&mut self, event: &Event, agent_id: Option<&str>) -> Result<(), SinkClosed> {
        let run = self.run.clone();
        let identity = &run.identity;
        let row = self.auditor.record(event, agent_id, &run.cancel);
        if let Some(row) = &row {
            self.recorder.called(row);
        }
        if let Event::ToolFinished { call_id, .. } = event {
            // The calls of a sub-agent that still run end with their parent call.
            for row in self.auditor.interrupt_below(call_id) {
                self.recorder.called(&row);
                self.end_cut_off(row).await.map_err(|error| self.cannot_write(&error))?;
            }
        }
        let entered = match event {
            Event::ToolStarted { call_id, name, resumed, repeat } => {
                self.recorder.started(agent_id, call_id, name);
                self.started.insert(call_id.clone());
                if *resumed {
                    self.resumed.insert(call_id.clone());
                }
                let input = self.inputs.get(call_id).cloned().unwrap_or_default();
                let (entry, gates) = (self.ledger_id(call_id), self.auditor.gates(call_id));
                let (store, owner, run_id) = (&self.store, &identity.owner, &identity.run_id);
                match agent_id {
                    None => {
                        let repeat = repeat.as_ref().map(repeatable);
                        let call = StartedCall { call_id: &entry, repeat };
                        store.tool_started(owner, run_id, call, name, &input, crate::now()).await
                    }
                    Some(agent_id) => {
                        let (call_id, name, agent_id) = (entry, name.clone(), agent_id.to_owned());
                        let call = SubAgentCall { call_id, name, input, agent_id, gates };
                        store.sub_agent_tool_started(owner, run_id, &call, crate::now()).await
                    }
                }
            }
            // This ledger entry has no end: the page reports the result, which the message and the
            // audit log record.
            Event::PageCallReady { call_id, name, repeat } => {
                let input = self.inputs.get(call_id).cloned().unwrap_or_default();
                let entry = self.ledger_id(call_id);
                let call = StartedCall { call_id: &entry, repeat: Some(repeatable(repeat)) };
                self.store.tool_started(&identity.owner, &identity.run_id, call, name, &input, crate::now()).await
            }
            Event::ToolFinished { call_id, .. } | Event::ToolSuspended { call_id, .. } => {
                if self.started.remove(call_id) {
                    let is_error = matches!(event, Event::ToolFinished { result: Err(_), .. });
                    let outcome = if is_error { ToolOutcome::Error } else { ToolOutcome::Ok };
                    let call_id = &self.ledger_id(call_id);
                    let finished = self.store.tool_finished(
                        &identity.owner,
                        &identity.run_id,
                        call_id,
                        outcome,
                        crate::now(),
                        row,
                    );
                    finished.await
                } else {
                    self.enter_in_audit(row).await
                }
            }
            Event::ToolCall { call, .. } | Event::CallDecided { call, .. } => {
                if matches!(event, Event::CallDecided { cut_off: true, .. }) {
                    self.repeated.insert(call.id.clone());
                }
                self.inputs.insert(call.id.clone(), call.input.clone());
                return Ok(());
            }
            _ => self.enter_in_audit(row).await,
        };
        entered.map_err(|error| self.cannot_write(&error))
    }

    /// Stores the audit entry and ends the ledger entry, so that recovery does not log the call
    /// again.
    async fn end_cut_off(&mut self, row: AuditEntry) -> Result<(), StoreError> {
        if !self.started.remove(&row.call_id) {
            return self.enter_in_audit(Some(row)).await;
        }
        let (run, entry) = (self.run.clone(), self.ledger_id(&row.call_id));
        let (owner, run_id) = (&run.identity.owner, &run.identity.run_id);
        self.store.tool_finished(owner, run_id, &entry, ToolOutcome::Error, crate::now(), Some(row)).await
    }

    fn cannot_write(&mut self, error: &StoreError) -> SinkClosed {
        tracing::error!(%error, run = self.run.identity.run_id, "the tool ledger could not be written");
        self.close(SinkEnd::Storage)
    }

    /// Records an event of a sub-agent. Its calls are in the ledger and the audit log like any
    /// other, with an id of their own. Returns the event if the user sees it, too.
    async fn record_nested(&mut self, event: Event) -> Result<Option<Event>, SinkClosed> {
        let Event::Nested { call_id, agent_id, event } = event else { return Ok(None) };
        if let Event::ReplyComplete(replied) = *event {
            self.replied(replied, Some((call_id, agent_id))).await?;
            return Ok(None);
        }
        let Some(event) = event.with_parent_call(&call_id) else { return Ok(None) };
        self.write_ledger(&event, Some(&agent_id)).await?;
        Ok(matches!(event, Event::CallGranted { .. } | Event::Exposed { .. }).then_some(event))
    }

    /// Records the usage of a request; `below` is the call and the agent of a sub-agent.
    async fn replied(&mut self, replied: ReplyUsage, below: Option<(String, String)>) -> Result<(), SinkClosed> {
        let step = steps::for_run(&self.subject, replied, below);
        self.recorder.replied(&step);
        self.steps.push(step);
        if self.steps.len() < MAX_STEPS { Ok(()) } else { self.enter_steps().await }
    }

    async fn enter_steps(&mut self) -> Result<(), SinkClosed> {
        if self.steps.is_empty() {
            return Ok(());
        }
        self.store.append_steps(std::mem::take(&mut self.steps)).await.map_err(|error| {
            tracing::error!(%error, run = self.run.identity.run_id, "the usage of model requests could not be stored");
            self.close(SinkEnd::Storage)
        })
    }

    /// Stores the audit entry of a call that is not in the ledger. Most events end no call and cost
    /// nothing here.
    async fn enter_in_audit(&self, row: Option<AuditEntry>) -> Result<(), StoreError> {
        match row {
            Some(row) => self.store.append_audit(vec![row]).await,
            None => Ok(()),
        }
    }
}

fn repeatable(repeat: &RepeatTerms) -> store::CallRepeat<'_> {
    store::CallRepeat { fingerprint: &repeat.fingerprint, is_idempotent: repeat.is_idempotent }
}

/// Returns what a chunk adds to the size of the turn.
fn size(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::TextDelta { delta, .. } | Chunk::ReasoningDelta { delta, .. } => delta.len(),
        Chunk::ToolInputDelta { input_text_delta, .. } => input_text_delta.len(),
        Chunk::File(file) => file.url.len(),
        _ => 0,
    }
}

/// Passes the fault-injection points before an event is stored; returns the point after it.
fn pass(event: &Event) -> Option<Point> {
    match event {
        Event::ToolStarted { .. } => return Some(Point::ToolEntered),
        Event::ToolFinished { .. } => {
            faults::point(Point::ToolReturned);
            return Some(Point::ToolFinished);
        }
        Event::Part(_) => faults::point(Point::PartReceived),
        Event::ApprovalRequest { .. } => faults::point(Point::ApprovalAsked),
        Event::StepFinish { .. } => faults::point(Point::StepFinished),
        _ => {}
    }
    None
}

impl EventSink for RunSink {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.memory.wait_turn(&self.run).await;
        if let Some(observer) = &mut self.observer {
            observer.observe(&event);
        }
        let after = pass(&event);
        match event {
            Event::StepStart { .. } => {
                self.in_step = true;
                self.enter_steps().await?;
            }
            Event::StepFinish { .. } => self.in_step = false,
            Event::Nested { .. } | Event::ReplyComplete(_) => {}
            // The frequent parts of a reply. Of these, only results of a provider's own tools are
            // audited.
            Event::Part(ref part) if !matches!(part, Part::ToolResult { .. }) => {}
            _ => self.write_ledger(&event, None).await?,
        }
        if let Some(point) = after {
            faults::point(point);
        }
        let event = match event {
            Event::Nested { .. } => match self.record_nested(event).await? {
                Some(told) => told,
                None => return Ok(()),
            },
            Event::ReplyComplete(replied) => {
                self.run.announce();
                return self.replied(replied, None).await;
            }
            event => event,
        };
        // Watchers are notified of the parts of a reply once no more are ready, in `pause`.
        let is_piece = matches!(event, Event::Part(_));
        let mut chunks = std::mem::take(&mut self.chunks);
        if let Event::ToolFinished { call_id, .. } = &event
            && self.resumed.contains(call_id)
        {
            chunks.push(to_wire::suspended(call_id.clone(), Value::Null));
        }
        self.to_wire.convert(event, &mut chunks);
        let mut acknowledges = false;
        for chunk in chunks.drain(..) {
            self.bytes += size(&chunk);
            self.run.fold(&chunk);
            if is_private(&chunk) {
                continue;
            }
            if is_acknowledgement(&chunk) && !faults::is_broken(Break::EmitBeforePersist) {
                self.run.append_held(&chunk);
                acknowledges = true;
            } else {
                self.run.publish(&chunk);
            }
        }
        self.chunks = chunks;
        if !is_piece {
            self.run.announce();
        }
        if self.bytes > MAX_TURN_BYTES {
            return Err(self.close(SinkEnd::TooLong));
        }
        if acknowledges && !self.journal.flush().await {
            return Err(self.close(SinkEnd::Storage));
        }
        if acknowledges {
            faults::point(Point::EventStored);
        }
        Ok(())
    }

    fn pause(&mut self) {
        self.run.announce();
    }
}
