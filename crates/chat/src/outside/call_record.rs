//! Records the tool calls of an invocation: each call that ends gets its entry in the audit log
//! before the invocation goes on.

use crate::record::audit::{Auditor, RunContext};
use crate::record::telemetry::Recorder;
use agent::{Event, InvocationObserver, SinkClosed};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use store::{AuditEntry, Store};
use tokio_util::sync::CancellationToken;

/// Records the calls of one invocation.
pub(crate) struct CallRecord {
    auditor: Mutex<Auditor>,
    recorder: Recorder,
    store: Store,
    /// The calls of the agent and its sub-agents that have started.
    started: AtomicU32,
}

impl CallRecord {
    pub(crate) fn new(subject: RunContext, cancel: CancellationToken, recorder: Recorder, store: Store) -> Self {
        Self { auditor: Mutex::new(Auditor::new(subject, cancel)), recorder, store, started: AtomicU32::new(0) }
    }

    /// Returns the number of calls that have started.
    pub(crate) fn started(&self) -> u32 {
        self.started.load(Relaxed)
    }

    /// Records the calls of sub-agents that were running when the invocation ended.
    pub(crate) async fn end(&self) {
        let rows = self.auditor.lock().interrupt_all_below();
        // The invocation has ended in any case, and the error is logged.
        let _ = self.append(rows).await;
    }

    /// Returns the entries of the calls that end with this event.
    fn ended_with(&self, event: &Event) -> Vec<AuditEntry> {
        let (event, agent_id) = match event {
            Event::Nested { call_id, agent_id, event } => match Event::clone(event).with_parent_call(call_id) {
                Some(event) => (Cow::Owned(event), Some(agent_id.as_str())),
                None => return Vec::new(),
            },
            event => (Cow::Borrowed(event), None),
        };
        let mut auditor = self.auditor.lock();
        let mut rows: Vec<_> = auditor.record(&event, agent_id).into_iter().collect();
        match &*event {
            Event::ToolStarted { call_id, name, .. } => {
                self.started.fetch_add(1, Relaxed);
                self.recorder.started(agent_id, call_id, name);
            }
            // The calls of a sub-agent that still run end with the call that runs it.
            Event::ToolFinished { call_id, .. } => rows.extend(auditor.interrupt_below(call_id)),
            _ => {}
        }
        rows
    }

    async fn append(&self, rows: Vec<AuditEntry>) -> Result<(), SinkClosed> {
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().for_each(|row| self.recorder.called(row));
        self.store.append_audit(rows).await.map_err(|error| {
            tracing::error!(%error, "a tool call of an invocation could not be recorded");
            SinkClosed
        })
    }
}

impl InvocationObserver for CallRecord {
    fn observe<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkClosed>> {
        let rows = self.ended_with(event);
        self.append(rows).boxed()
    }
}
