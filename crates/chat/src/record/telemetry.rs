//! Telemetry of runs for the operator: user, duration, usage and outcome, but no content.

use crate::record::audit::RunContext;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{AuditEntry, AuditOutcome, Gate, StepRecord};
use tracing::Instrument;
use wire::EndReason;

tokio::task_local! {
    static TRACE: Trace;
}

/// A position in a trace, as in W3C Trace Context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// 32 lower-case hexadecimal digits.
    pub trace_id: String,
    /// The id of the request's span, 16 lower-case hexadecimal digits.
    pub span_id: String,
    /// Whether the client records the trace.
    pub is_sampled: bool,
}

/// Runs a request as part of this trace. Runs that it starts belong to the trace, too.
pub fn traced<F: Future>(trace: Trace, request: F) -> impl Future<Output = F::Output> {
    TRACE.scope(trace, request)
}

/// Returns the trace of the current request.
pub fn current_trace() -> Option<Trace> {
    TRACE.try_with(Clone::clone).ok()
}

/// Runs a task in the trace of the request that started it, for logs and telemetry.
pub(crate) fn in_trace<F: Future + Send>(work: F) -> impl Future<Output = F::Output> + Send {
    let trace = current_trace();
    // Boxed, because a future has room for what it captures and again for what it awaits.
    let work = Box::pin(work);
    let work = async move {
        match trace {
            Some(trace) => traced(trace, work).await,
            None => work.await,
        }
    };
    work.in_current_span()
}

/// Identifies the run or the invocation that an event is about.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The id of the run or the invocation.
    pub run_id: String,
    /// The conversation; absent for an invocation.
    pub conversation_id: Option<String>,
    /// The agent.
    pub agent_id: String,
    /// The trace of the request that started the run.
    pub trace: Option<Trace>,
}

/// The end of a tool call, without its arguments and its result.
#[derive(Clone, Copy, Debug)]
pub struct ToolEnd<'a> {
    /// The agent that made the call; possibly a sub-agent.
    pub agent_id: &'a str,
    /// The call's id.
    pub call_id: &'a str,
    /// The tool; absent if there is no such tool, since the model invented the name.
    pub tool: Option<&'a str>,
    /// The outcome.
    pub outcome: AuditOutcome,
    /// How long it ran; absent if it did not run.
    pub took: Option<Duration>,
}

/// Receives events of runs. Each method must return at once, because the run waits for it.
pub trait Telemetry: Send + Sync + 'static {
    /// A run has started.
    fn run_began(&self, run: &RunFacts);
    /// A model's reply is complete.
    fn model_replied(&self, run: &RunFacts, step: &StepRecord);
    /// A tool call has started, or resumed after a suspension. `agent_id` is the agent that made
    /// it.
    fn tool_started(&self, _run: &RunFacts, _agent_id: &str, _call_id: &str, _tool: &str) {}
    /// A tool call has ended.
    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>);
    /// A run has ended. The outcome is `done`, `waiting`, `stopped`, `limit`, `failed` or
    /// `interrupted`, and for an invocation also `timeout`.
    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration);
    /// A run was closed that its server left open. Nothing is known of its duration.
    fn run_recovered(&self, _run: &RunFacts, _outcome: &'static str, _reason: EndReason) {}
    /// Data was deleted for good: conversations that were `deleted` by their users, `untouched` for
    /// the retention period, or `temporary`; or invocations (`question`).
    fn deleted(&self, _what: &'static str, _count: u64) {}
}

/// The backlog of the journal and the database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// The number of events that were sent and are not stored yet.
    pub events: u64,
    /// How long the oldest of them has waited.
    pub lag: Duration,
    /// The number of writes that wait for the database.
    pub writes: usize,
}

/// Reports the events of one run. If nothing reports the end, for example after a panic, dropping
/// it reports a failure.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<RecorderState>);

struct RecorderState {
    facts: RunFacts,
    to: Option<Arc<dyn Telemetry>>,
    begun: Instant,
    has_ended: AtomicBool,
}

impl RecorderState {
    fn ended_as(&self, outcome: &'static str, reason: EndReason) {
        if let Some(to) = self.to.as_ref().filter(|_| !self.has_ended.swap(true, Ordering::Relaxed)) {
            to.run_ended(&self.facts, outcome, reason, self.begun.elapsed());
        }
    }
}

impl Drop for RecorderState {
    fn drop(&mut self) {
        self.ended_as(EndReason::Panic.outcome().name(), EndReason::Panic);
    }
}

impl Recorder {
    /// Starts reporting.
    pub(crate) fn begin(to: Option<Arc<dyn Telemetry>>, facts: RunFacts) -> Self {
        if let Some(to) = &to {
            to.run_began(&facts);
        }
        Self(Arc::new(RecorderState { facts, to, begun: Instant::now(), has_ended: AtomicBool::new(false) }))
    }

    /// Starts reporting a run of a conversation, as part of a request's trace.
    pub(crate) fn begin_run(to: Option<Arc<dyn Telemetry>>, subject: &RunContext, trace: Option<Trace>) -> Self {
        let (run_id, agent_id) = (subject.run_id.clone(), subject.agent_id.clone());
        Self::begin(to, RunFacts { run_id, conversation_id: Some(subject.conversation_id.clone()), agent_id, trace })
    }

    /// Returns the trace id, by which a user can refer an operator to the run.
    pub(crate) fn trace_id(&self) -> Option<String> {
        self.0.facts.trace.as_ref().map(|trace| trace.trace_id.clone())
    }

    pub(crate) fn replied(&self, step: &StepRecord) {
        if let Some(to) = &self.0.to {
            to.model_replied(&self.0.facts, step);
        }
    }

    /// Reports the start of a call. `agent_id` is set if a sub-agent made it.
    pub(crate) fn started(&self, agent_id: Option<&str>, call_id: &str, tool: &str) {
        if let Some(to) = &self.0.to {
            to.tool_started(&self.0.facts, agent_id.unwrap_or(&self.0.facts.agent_id), call_id, tool);
        }
    }

    pub(crate) fn called(&self, call: &AuditEntry) {
        let Some(to) = &self.0.to else { return };
        let is_unknown = call.gates.iter().any(|gate| gate.gate == Gate::Schema);
        to.tool_ended(
            &self.0.facts,
            ToolEnd {
                agent_id: &call.agent_id,
                call_id: &call.call_id,
                tool: (!is_unknown).then_some(call.tool.as_str()),
                outcome: call.outcome,
                took: call.duration_ms.and_then(|took| u64::try_from(took).ok()).map(Duration::from_millis),
            },
        );
    }

    /// Reports the end of a conversation's run.
    pub(crate) fn ended(&self, reason: EndReason) {
        self.ended_as(reason.outcome().name(), reason);
    }

    pub(crate) fn ended_as(&self, outcome: &'static str, reason: EndReason) {
        self.0.ended_as(outcome, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[derive(Default)]
    struct Ends(Mutex<Vec<&'static str>>);

    impl Telemetry for Ends {
        fn run_began(&self, _: &RunFacts) {}
        fn model_replied(&self, _: &RunFacts, _: &StepRecord) {}
        fn tool_ended(&self, _: &RunFacts, _: ToolEnd<'_>) {}
        fn run_ended(&self, _: &RunFacts, outcome: &'static str, _: EndReason, _: Duration) {
            self.0.lock().push(outcome);
        }
    }

    /// The end is reported exactly once, however the run ends.
    #[test]
    fn every_run_reports_its_end_once() {
        let check = |run: fn(Recorder), expected: &'static str| {
            let ends = Arc::new(Ends::default());
            let (run_id, agent_id) = ("r".to_owned(), "a".to_owned());
            let facts = RunFacts { run_id, conversation_id: None, agent_id, trace: None };
            let recorder = Recorder::begin(Some(ends.clone()), facts);
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(recorder)));
            assert_eq!(*ends.0.lock(), [expected]);
        };
        check(|recorder| recorder.clone().ended(EndReason::Done), "done");
        check(|recorder| drop(recorder.clone()), "failed");
        check(|_recorder| panic!("a bug"), "failed");
    }
}
