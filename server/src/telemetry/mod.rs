//! Metrics, logs and traces for the operator. See `docs/operations.md`.

pub(crate) mod logs;
pub(crate) mod metrics;
mod models;
#[cfg(not(feature = "otlp"))]
pub(crate) mod no_traces;
mod otlp_environment;
pub(crate) mod requests;
#[cfg(feature = "otlp")]
pub(crate) mod traces;

pub(crate) use models::measured;
#[cfg(not(feature = "otlp"))]
pub(crate) use no_traces as traces;

use chat::{RunFacts, Telemetry, ToolEnd};
use std::sync::Arc;
use std::time::Duration;
use store::StepRecord;
use traces::Traces;
use wire::EndReason;

/// Counts the events of runs, and traces them if tracing is on.
pub(crate) struct RunTelemetry {
    /// Creates spans for them.
    pub(crate) traces: Option<Arc<Traces>>,
}

impl RunTelemetry {
    fn sinks(&self) -> impl Iterator<Item = &dyn Telemetry> {
        let traces = self.traces.as_deref().map(|traces| traces as &dyn Telemetry);
        std::iter::once(&metrics::RunMetrics as &dyn Telemetry).chain(traces)
    }
}

impl Telemetry for RunTelemetry {
    fn run_began(&self, run: &RunFacts) {
        self.sinks().for_each(|one| one.run_began(run));
    }

    fn model_replied(&self, run: &RunFacts, step: &StepRecord) {
        self.sinks().for_each(|one| one.model_replied(run, step));
    }

    fn tool_started(&self, run: &RunFacts, agent_id: &str, call_id: &str, tool: &str) {
        self.sinks().for_each(|one| one.tool_started(run, agent_id, call_id, tool));
    }

    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>) {
        self.sinks().for_each(|one| one.tool_ended(run, call));
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration) {
        self.sinks().for_each(|one| one.run_ended(run, outcome, reason, took));
    }

    fn run_recovered(&self, run: &RunFacts, outcome: &'static str, reason: EndReason) {
        self.sinks().for_each(|one| one.run_recovered(run, outcome, reason));
    }

    fn deleted(&self, what: &'static str, count: u64) {
        self.sinks().for_each(|one| one.deleted(what, count));
    }
}
