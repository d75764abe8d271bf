//! What the operator sees of the server from outside: metrics, logs, traces. See `docs/operations.md`.

pub(crate) mod logs;
pub(crate) mod metrics;
mod models;
pub(crate) mod requests;
pub(crate) mod traces;

pub(crate) use models::measured;

use chat::{RunFacts, Telemetry, ToolEnd};
use std::sync::Arc;
use std::time::Duration;
use store::Step;
use traces::Traces;
use wire::EndReason;

/// What runs do is counted, and traced where somebody gathers traces.
pub(crate) struct Told {
    /// Makes spans of it.
    pub(crate) traces: Option<Arc<Traces>>,
}

impl Told {
    fn all(&self) -> impl Iterator<Item = &dyn Telemetry> {
        let traces = self.traces.as_deref().map(|traces| traces as &dyn Telemetry);
        std::iter::once(&metrics::Counted as &dyn Telemetry).chain(traces)
    }
}

impl Telemetry for Told {
    fn run_began(&self, run: &RunFacts) {
        self.all().for_each(|one| one.run_began(run));
    }

    fn model_replied(&self, run: &RunFacts, step: &Step) {
        self.all().for_each(|one| one.model_replied(run, step));
    }

    fn tool_started(&self, run: &RunFacts, agent_id: &str, call_id: &str, tool: &str) {
        self.all().for_each(|one| one.tool_started(run, agent_id, call_id, tool));
    }

    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>) {
        self.all().for_each(|one| one.tool_ended(run, call));
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration) {
        self.all().for_each(|one| one.run_ended(run, outcome, reason, took));
    }

    fn deleted(&self, what: &'static str, count: u64) {
        self.all().for_each(|one| one.deleted(what, count));
    }
}
