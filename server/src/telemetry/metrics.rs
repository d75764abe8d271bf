//! Figures for Prometheus. Every label's values are bounded: what comes from the config or from elsewhere is taken as it is up to a
//! number, and counts as `other` beyond it.

use agent::CircuitFacts;
use chat::{Chat, MemoryFacts, MemoryUse, RunFacts, Telemetry, ToolEnd};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use store::Step;
use wire::EndReason;

/// Upper ends of times, in seconds: from a write to a long answer.
const SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0];

/// How often what was measured is folded into its buckets; it would pile up where nobody asks for it.
const FOLD: Duration = Duration::from_secs(5);

/// Values that a label takes before the rest is one.
const VALUES: usize = 200;

/// Characters of a value.
const LENGTH: usize = 100;

/// Begins to measure.
///
/// # Errors
/// It was begun before.
pub(crate) fn begin() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?
        .install_recorder()?;
    describe();
    let folded = handle.clone();
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(FOLD);
        loop {
            tick.tick().await;
            folded.run_upkeep();
        }
    });
    Ok(handle)
}

/// What is not counted when it happens, but looked at when somebody asks.
pub(crate) fn look(chat: &Chat, circuits: Vec<CircuitFacts>) {
    look_at(circuits);
    let backlog = chat.backlog();
    gauge!("chatwright_runs_active").set(chat.active_runs() as f64);
    gauge!("chatwright_draining").set(if chat.is_draining() { 1.0 } else { 0.0 });
    gauge!("chatwright_journal_lag_seconds").set(backlog.lag.as_secs_f64());
    gauge!("chatwright_journal_events_waiting").set(backlog.events as f64);
    gauge!("chatwright_store_writes_waiting").set(backlog.writes as f64);
    record_memory(chat.memory());
}

/// Limits have fixed names, so they are few.
fn record_memory(memory: MemoryFacts) {
    gauge!("chatwright_memory_level").set(f64::from(memory.level as u8));
    counter!("chatwright_memory_refused_total").absolute(memory.refused);
    for MemoryUse { limited_by, used, limit } in memory.uses {
        gauge!("chatwright_memory_used_bytes", "limit" => limited_by).set(used as f64);
        gauge!("chatwright_memory_limit_bytes", "limit" => limited_by).set(limit as f64);
    }
}

/// Circuits whose labels are too many are one.
fn look_at(circuits: Vec<CircuitFacts>) {
    let mut known = BTreeMap::<_, (bool, u64)>::new();
    for circuit in circuits {
        let labels = (CONNECTIONS.of(&circuit.connection), model(&circuit.model.provider, &circuit.model.model));
        let (is_open, refused) = known.entry(labels).or_default();
        (*is_open, *refused) = (*is_open || circuit.is_open, *refused + circuit.refused);
    }
    for ((connection, model), (is_open, refused)) in known {
        let labels = [("connection", connection), ("model", model)];
        gauge!("chatwright_model_circuit_open", &labels).set(if is_open { 1.0 } else { 0.0 });
        counter!("chatwright_model_circuit_refused_total", &labels).absolute(refused);
    }
}

fn describe() {
    gauge!("chatwright_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    describe_gauge!("chatwright_info", "The version that runs");
    describe_gauge!("chatwright_runs_active", "Runs that are being answered");
    describe_gauge!("chatwright_draining", "1 while no submissions are taken any more");
    describe_gauge!("chatwright_journal_lag_seconds", "How long the oldest event has waited to be stored");
    describe_gauge!("chatwright_journal_events_waiting", "Events that were told and are not stored yet");
    describe_gauge!("chatwright_store_writes_waiting", "Writes that wait for the database");
    describe_gauge!(
        "chatwright_memory_level",
        "0 while there is enough memory, 1 while it is short, 2 while it is almost used up"
    );
    describe_gauge!("chatwright_memory_used_bytes", "Memory that counts towards a limit, by limit");
    describe_gauge!("chatwright_memory_limit_bytes", "The limits on the memory of the process");
    describe_counter!(
        "chatwright_memory_refused_total",
        "Sends, invocations and uploads that were refused while memory was short"
    );
    describe_counter!("chatwright_runs_started_total", "Runs that began, by agent");
    describe_counter!("chatwright_runs_total", "Runs that ended, by agent and outcome");
    describe_counter!("chatwright_run_ends_total", "Runs that ended, by agent and reason");
    describe_histogram!("chatwright_run_seconds", "How long runs took, by agent and outcome");
    describe_counter!("chatwright_tokens_total", "Tokens, by agent, model and kind");
    describe_gauge!("chatwright_cost_usd", "US dollars, by agent and model, as far as prices are known");
    describe_counter!("chatwright_tool_calls_total", "Tool calls that ended, by agent, tool and outcome");
    describe_histogram!("chatwright_tool_seconds", "How long tools ran, by tool");
    describe_counter!("chatwright_model_requests_total", "Requests to models, by provider, model and outcome");
    describe_histogram!("chatwright_model_first_part_seconds", "From a request to the first part of its reply");
    describe_histogram!("chatwright_model_seconds", "From a request to the end of its reply");
    describe_gauge!(
        "chatwright_model_circuit_open",
        "1 while a model that failed is not asked, by connection and model"
    );
    describe_counter!("chatwright_model_circuit_refused_total", "Requests that were not sent because of that");
    describe_counter!("chatwright_http_requests_total", "Requests, by method, route and status");
    describe_histogram!("chatwright_http_seconds", "From a request to the head of its answer, by method and route");
    describe_gauge!("chatwright_http_requests_active", "Requests that wait for the head of their answer");
    describe_counter!("chatwright_rate_limited_total", "Requests that were too many, by the config's rates");
    describe_counter!(
        "chatwright_forwarded_unreadable_total",
        "Requests of a trusted proxy whose X-Forwarded-For names no address"
    );
    describe_counter!("chatwright_trace_batches_total", "Batches of traces that were sent, by outcome");
    describe_counter!("chatwright_deleted_total", "What is gone for good, by what it was");
    describe_histogram!("chatwright_store_write_seconds", "How long a transaction of the database took");
    describe_counter!("chatwright_store_writes_total", "Writes to the database, several to a transaction");
}

/// The values of one label.
pub(super) struct Label(Mutex<Option<HashSet<String>>>);

impl Label {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value, or `other` when there are too many.
    pub(super) fn of(&self, value: &str) -> String {
        let value: String = value.chars().take(LENGTH).collect();
        let mut known = self.0.lock();
        let known = known.get_or_insert_default();
        if known.contains(&value) || known.len() < VALUES {
            known.insert(value.clone());
            return value;
        }
        "other".to_owned()
    }
}

static AGENTS: Label = Label::new();
static CONNECTIONS: Label = Label::new();
static TOOLS: Label = Label::new();
pub(super) static MODELS: Label = Label::new();

/// Counts what runs do.
pub(crate) struct Counted;

impl Telemetry for Counted {
    fn run_began(&self, run: &RunFacts) {
        counter!("chatwright_runs_started_total", "agent" => AGENTS.of(&run.agent_id)).increment(1);
    }

    fn model_replied(&self, _: &RunFacts, step: &Step) {
        let (agent, model) = (AGENTS.of(&step.agent_id), model(&step.provider, &step.model));
        let usage = &step.usage;
        let kinds = [
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cache_read", usage.cache_read_tokens),
            ("cache_write", usage.cache_write_tokens),
            ("reasoning", usage.reasoning_tokens),
        ];
        for (kind, tokens) in kinds.into_iter().filter(|(_, tokens)| *tokens > 0) {
            let (agent, model) = (agent.clone(), model.clone());
            counter!("chatwright_tokens_total", "agent" => agent, "model" => model, "kind" => kind).increment(tokens);
        }
        if let Some(cost) = step.cost_usd {
            // The facade counts whole numbers only, so this is a gauge that only grows.
            gauge!("chatwright_cost_usd", "agent" => agent, "model" => model).increment(cost);
        }
    }

    fn tool_ended(&self, _: &RunFacts, call: ToolEnd<'_>) {
        let tool = call.tool.map_or_else(|| "unknown".to_owned(), |tool| TOOLS.of(tool));
        if let Some(took) = call.took {
            histogram!("chatwright_tool_seconds", "tool" => tool.clone()).record(took);
        }
        let agent = AGENTS.of(call.agent_id);
        let outcome = call.outcome.name();
        counter!("chatwright_tool_calls_total", "agent" => agent, "tool" => tool, "outcome" => outcome).increment(1);
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration) {
        let agent = AGENTS.of(&run.agent_id);
        counter!("chatwright_runs_total", "agent" => agent.clone(), "outcome" => outcome).increment(1);
        let reason = reason.name();
        counter!("chatwright_run_ends_total", "agent" => agent.clone(), "reason" => reason).increment(1);
        histogram!("chatwright_run_seconds", "agent" => agent, "outcome" => outcome).record(took);
    }

    fn deleted(&self, what: &'static str, count: u64) {
        counter!("chatwright_deleted_total", "what" => what).increment(count);
    }
}

fn model(provider: &str, model: &str) -> String {
    MODELS.of(&format!("{provider}/{model}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_an_end() {
        let label = Label::new();
        for number in 0..VALUES {
            assert_eq!(label.of(&number.to_string()), number.to_string());
        }
        assert_eq!(label.of("0"), "0");
        assert_eq!(label.of("one more"), "other");
        let label = Label::new();
        assert_eq!(label.of(&"ä".repeat(LENGTH + 1)), "ä".repeat(LENGTH));
    }
}
