//! What an operator learns of runs: who, how long, how much, how it ended. Never what was said.

use crate::audit::Subject;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{AuditEntry, AuditOutcome, Gate, Step};
use wire::EndReason;

tokio::task_local! {
    static TRACE: Trace;
}

/// What everything has in common that one request brings about, by the rules of W3C Trace Context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// 32 lower-case hexadecimal digits.
    pub trace_id: String,
    /// The request itself, 16 lower-case hexadecimal digits.
    pub span_id: String,
    /// Whether whoever sent the request records it.
    pub is_sampled: bool,
}

/// Answers a request as a part of this trace: so are the runs that it starts.
pub async fn traced<F: Future>(trace: Trace, request: F) -> F::Output {
    TRACE.scope(trace, request).await
}

/// The trace of the request that is being answered here.
pub fn trace() -> Option<Trace> {
    TRACE.try_with(Clone::clone).ok()
}

/// Which run something is about, or which question of a program.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The run's id, or the invocation's.
    pub run_id: String,
    /// The conversation; none for a question of a program.
    pub conversation_id: Option<String>,
    /// The agent that was asked.
    pub agent_id: String,
    /// The trace of the request that started it.
    pub trace: Option<Trace>,
}

/// A call of a tool that has ended. Its arguments and its result are nobody's business here.
#[derive(Clone, Copy, Debug)]
pub struct ToolEnd<'a> {
    /// The agent that made the call, which may be one below the run's.
    pub agent_id: &'a str,
    /// The call.
    pub call_id: &'a str,
    /// The tool; none where there is no such tool, since the name is the model's invention then.
    pub tool: Option<&'a str>,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// How long it ran; none where it did not run.
    pub took: Option<Duration>,
}

/// Is told what runs do. Each call must return at once: the run waits for it.
pub trait Telemetry: Send + Sync + 'static {
    /// A run has begun.
    fn run_began(&self, run: &RunFacts);
    /// A model's reply is complete.
    fn model_replied(&self, run: &RunFacts, step: &Step);
    /// A call has begun to run; one that was suspended does so again. `agent_id` is the agent's that made it.
    fn tool_started(&self, _run: &RunFacts, _agent_id: &str, _call_id: &str, _tool: &str) {}
    /// A call has ended.
    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>);
    /// A run has ended, in these words: `done`, `waiting`, `stopped`, `limit`, `failed`, `interrupted`; a question of a program also
    /// `timeout`.
    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration);
    /// So much is gone for good: conversations that were `deleted` by their users, were `untouched` for long or `temporary`, or a
    /// program's `question`.
    fn deleted(&self, _what: &'static str, _count: u64) {}
}

/// How far the journal is behind, and what waits for the database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Events that were told and are not stored yet.
    pub events: u64,
    /// How long the oldest of them has waited.
    pub lag: Duration,
    /// Writes that wait for the database.
    pub writes: usize,
}

/// Tells of one run. When nobody has told how it ended, a panic of ours for example, it has failed.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Told>);

struct Told {
    facts: RunFacts,
    to: Option<Arc<dyn Telemetry>>,
    begun: Instant,
    has_ended: AtomicBool,
}

impl Told {
    fn ended_as(&self, outcome: &'static str, reason: EndReason) {
        if let Some(to) = self.to.as_ref().filter(|_| !self.has_ended.swap(true, Ordering::Relaxed)) {
            to.run_ended(&self.facts, outcome, reason, self.begun.elapsed());
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.ended_as(EndReason::Panic.outcome().name(), EndReason::Panic);
    }
}

impl Recorder {
    /// Begins to tell.
    pub(crate) fn begin(to: Option<Arc<dyn Telemetry>>, facts: RunFacts) -> Self {
        if let Some(to) = &to {
            to.run_began(&facts);
        }
        Self(Arc::new(Told { facts, to, begun: Instant::now(), has_ended: AtomicBool::new(false) }))
    }

    /// A run of a conversation, as part of a request's trace.
    pub(crate) fn begin_run(to: Option<Arc<dyn Telemetry>>, subject: &Subject, trace: Option<Trace>) -> Self {
        let (run_id, agent_id) = (subject.run_id.clone(), subject.agent_id.clone());
        Self::begin(to, RunFacts { run_id, conversation_id: Some(subject.conversation_id.clone()), agent_id, trace })
    }

    /// By what the user can name it to an operator.
    pub(crate) fn trace_id(&self) -> Option<String> {
        self.0.facts.trace.as_ref().map(|trace| trace.trace_id.clone())
    }

    pub(crate) fn replied(&self, step: &Step) {
        if let Some(to) = &self.0.to {
            to.model_replied(&self.0.facts, step);
        }
    }

    /// `agent_id` is that of an agent below, if it made the call.
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

    /// A run of a conversation has ended.
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
        fn model_replied(&self, _: &RunFacts, _: &Step) {}
        fn tool_ended(&self, _: &RunFacts, _: ToolEnd<'_>) {}
        fn run_ended(&self, _: &RunFacts, outcome: &'static str, _: EndReason, _: Duration) {
            self.0.lock().push(outcome);
        }
    }

    /// However it ends, it is told, and once.
    #[test]
    fn every_run_ends() {
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
