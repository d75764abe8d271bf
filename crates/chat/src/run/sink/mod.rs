//! The event sink of a run. Each event is observed, then what the observers note is stored, and
//! only then the event is converted to chunks and published.

mod audit;
mod hooks;
pub(crate) mod ledger;
mod observer;
mod publisher;
mod rows;
mod telemetry;
mod usage;

use crate::Inner;
use crate::admission::memory::MemoryGuard;
use crate::record::audit::{Auditor, RunContext};
use crate::record::telemetry::Recorder;
use crate::run::ending::SinkEnd;
use crate::run::hooks::HookObserver;
use crate::run::title::PendingTitle;
use crate::stream::live::LiveRun;
use agent::{ContextSize, Event, EventSink, SinkClosed};
use faults::Point;
use ledger::Ledger;
use observer::{EventRows, RunEvent, RunObserver};
use publisher::Publisher;
use rows::RowWriter;
use std::sync::Arc;
use usage::UsageObserver;

/// The event sink of one run.
pub(crate) struct RunSink {
    pub(crate) run: Arc<LiveRun>,
    /// Notifies the hooks, until the run ends.
    pub(crate) hooks: Option<HookObserver>,
    /// The title of a new conversation, until the run ends.
    pub(crate) title: Option<PendingTitle>,
    /// The warning about the user's quotas that comes with the answer, until the run ends.
    pub(crate) quota_warning: Option<String>,
    /// Creates the audit entries.
    pub(crate) auditor: Auditor,
    usage: UsageObserver,
    /// Reports to telemetry.
    pub(crate) recorder: Recorder,
    ledger: Ledger,
    /// Stores what the observers note.
    pub(crate) writer: RowWriter,
    publisher: Publisher,
    memory: Arc<MemoryGuard>,
    /// How large the context of the newest request of the run's own agent is.
    pub(crate) context: Option<ContextSize>,
    /// Whether a step is open, so that a failure can end the stream correctly.
    pub(crate) in_step: bool,
    /// Why the sink closed, if it did.
    pub(crate) closed: Option<SinkEnd>,
}

impl RunSink {
    pub(crate) fn new(
        chat: &Inner,
        run: Arc<LiveRun>,
        subject: RunContext,
        recorder: Recorder,
        hooks: Option<HookObserver>,
        title: Option<PendingTitle>,
    ) -> Self {
        Self {
            hooks,
            title,
            quota_warning: None,
            auditor: Auditor::new(subject.clone(), run.cancel.clone()),
            usage: UsageObserver::new(subject),
            recorder,
            ledger: Ledger::new(run.identity.clone()),
            writer: RowWriter::new(chat.store.clone(), run.identity.clone()),
            publisher: Publisher::new(run.clone(), chat.journal.clone(), chat.clock.clone()),
            memory: chat.memory.clone(),
            context: None,
            in_step: false,
            closed: None,
            run,
        }
    }

    /// Shows an event to the observers, and returns what must be stored before it is published. The
    /// order matters: telemetry reports what the audit log and the usage note, and the ledger puts
    /// audit entries into the transactions that end their calls.
    fn observe(&mut self, event: &RunEvent) -> EventRows {
        let mut rows = EventRows::default();
        self.hooks.observe(event, &mut rows);
        self.auditor.observe(event, &mut rows);
        self.usage.observe(event, &mut rows);
        self.recorder.observe(event, &mut rows);
        self.ledger.observe(event, &mut rows);
        rows
    }

    fn close(&mut self, why: SinkEnd) -> SinkClosed {
        self.closed = Some(why);
        SinkClosed
    }
}

impl EventSink for RunSink {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.memory.wait_turn(&self.run).await;
        let after = pass(&event);
        match event {
            Event::StepStart { .. } => self.in_step = true,
            Event::StepFinish { .. } => self.in_step = false,
            // The parts of the reply do not wait until its usage is stored.
            Event::ReplyComplete(_) => self.run.announce(),
            Event::ContextSize(size) => {
                self.context = Some(size);
                return Ok(());
            }
            _ => {}
        }
        let Some(event) = RunEvent::new(event) else { return Ok(()) };
        let rows = self.observe(&event);
        // Boxed, because most events store nothing, and the future of each has room for it.
        if !rows.is_empty()
            && let Err(end) = Box::pin(self.writer.store(rows)).await
        {
            return Err(self.close(end));
        }
        if let Some(point) = after {
            faults::point(point);
        }
        let Some(event) = event.into_visible() else { return Ok(()) };
        let published = match self.publisher.publish(event) {
            Ok(true) => self.publisher.store().await,
            Ok(false) => Ok(()),
            Err(end) => Err(end),
        };
        published.map_err(|end| self.close(end))
    }

    fn pause(&mut self) {
        self.run.announce();
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
