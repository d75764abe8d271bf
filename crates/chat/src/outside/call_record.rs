//! Records the tool calls of an invocation and notifies the agent's hooks. A call is stored before
//! its tool runs, and gets its entry in the audit log when it ends, before the invocation goes on.

use crate::record::audit::{Auditor, RunContext};
use crate::record::telemetry::Recorder;
use crate::run::hooks::HookObserver;
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
    hooks: Mutex<Option<HookObserver>>,
    auditor: Mutex<Auditor>,
    recorder: Recorder,
    store: Store,
    /// The calls of the agent and its sub-agents that have started.
    started: AtomicU32,
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
            hooks: Mutex::new(hooks),
            auditor: Mutex::new(Auditor::new(subject, cancel)),
            recorder,
            store,
            started: AtomicU32::new(0),
        }
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

    /// Stores a call that is about to run.
    async fn begin(&self, call: AuditEntry) -> Result<(), SinkClosed> {
        self.store.invocation_call_started(call).await.map_err(|error| {
            tracing::error!(%error, "the start of a tool call of an invocation could not be recorded");
            SinkClosed
        })
    }

    async fn append(&self, rows: Vec<AuditEntry>) -> Result<(), SinkClosed> {
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().for_each(|row| self.recorder.called(row));
        self.store.invocation_calls_ended(rows).await.map_err(|error| {
            tracing::error!(%error, "a tool call of an invocation could not be recorded");
            SinkClosed
        })
    }
}

impl InvocationObserver for CallRecord {
    fn observe<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkClosed>> {
        // The hooks see only what the invocation's own agent does.
        if let (Some(hooks), false) = (&mut *self.hooks.lock(), matches!(event, Event::Nested { .. })) {
            hooks.observe(event);
        }
        let (rows, begun) = self.record(event);
        async move {
            if let Some(call) = begun {
                self.begin(call).await?;
            }
            self.append(rows).await
        }
        .boxed()
    }
}
