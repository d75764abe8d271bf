//! Prometheus metrics. The number of values of each label is bounded: beyond it, values from the
//! config or from outside count as `other`.

use agent::CircuitStatus;
use chat::{Chat, MemoryStatus, MemoryUse, RunFacts, Telemetry, ToolEnd};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use store::StepRecord;
use wire::EndReason;

/// The upper bounds of histogram buckets in seconds, from a database write to a long answer.
const BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0];

/// How often samples are folded into their buckets; without it they would accumulate if nobody
/// scrapes the metrics.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The number of values of a label; further ones become `other`.
const MAX_VALUES: usize = 200;

/// The length to which a value is cut, in characters.
const MAX_VALUE_CHARS: usize = 100;

/// Installs the metrics recorder.
///
/// # Errors
/// A recorder is installed already.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BUCKETS)?
        .install_recorder()?;
    describe();
    let folded = handle.clone();
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(UPKEEP_INTERVAL);
        loop {
            tick.tick().await;
            folded.run_upkeep();
        }
    });
    Ok(handle)
}

/// Updates the metrics that are sampled at each scrape.
pub(crate) fn record_gauges(chat: &Chat, circuits: Vec<CircuitStatus>) {
    record_circuits(circuits);
    let backlog = chat.backlog();
    gauge!("chatwright_runs_active").set(chat.active_runs() as f64);
    gauge!("chatwright_draining").set(if chat.is_draining() { 1.0 } else { 0.0 });
    gauge!("chatwright_journal_lag_seconds").set(backlog.lag.as_secs_f64());
    gauge!("chatwright_journal_events_waiting").set(backlog.events as f64);
    gauge!("chatwright_store_writes_waiting").set(backlog.writes as f64);
    record_memory(chat.memory_status());
}

/// Records the memory metrics. Limits have fixed names, so their labels need no bound.
fn record_memory(memory: MemoryStatus) {
    gauge!("chatwright_memory_level").set(f64::from(memory.level as u8));
    counter!("chatwright_memory_refused_total").absolute(memory.refused);
    for MemoryUse { limited_by, used, limit } in memory.uses {
        gauge!("chatwright_memory_used_bytes", "limit" => limited_by).set(used as f64);
        gauge!("chatwright_memory_limit_bytes", "limit" => limited_by).set(limit as f64);
    }
}

/// Records the circuit breakers. Those whose labels are `other` are aggregated.
fn record_circuits(circuits: Vec<CircuitStatus>) {
    let mut known = BTreeMap::<_, (bool, u64)>::new();
    for circuit in circuits {
        let labels =
            (CONNECTIONS.bounded(&circuit.connection), model_label(&circuit.model.provider, &circuit.model.model));
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
    describe_gauge!("chatwright_info", "The running version");
    describe_gauge!("chatwright_runs_active", "Runs in progress");
    describe_gauge!("chatwright_draining", "1 while the server drains and starts no new runs");
    describe_gauge!("chatwright_journal_lag_seconds", "Age of the oldest journal event that is not stored yet");
    describe_gauge!("chatwright_journal_events_waiting", "Published journal events that are not stored yet");
    describe_gauge!("chatwright_store_writes_waiting", "Queued database writes");
    describe_gauge!("chatwright_memory_level", "Memory pressure: 0 none, 1 short, 2 almost used up");
    describe_gauge!("chatwright_memory_used_bytes", "Memory in use that counts towards a limit, by limit");
    describe_gauge!("chatwright_memory_limit_bytes", "The limits on the memory of the process");
    describe_counter!(
        "chatwright_memory_refused_total",
        "Messages, invocations and uploads refused while memory was short"
    );
    describe_counter!("chatwright_runs_started_total", "Started runs, by agent");
    describe_counter!("chatwright_runs_total", "Ended runs, by agent and outcome");
    describe_counter!("chatwright_run_ends_total", "Ended runs, by agent and reason");
    describe_histogram!("chatwright_run_seconds", "Duration of runs, by agent and outcome");
    describe_counter!("chatwright_tokens_total", "Tokens, by agent, model and kind");
    describe_gauge!("chatwright_cost_usd", "Cost in US dollars, by agent and model, for models with known prices");
    describe_counter!("chatwright_tool_calls_total", "Ended tool calls, by agent, tool and outcome");
    describe_histogram!("chatwright_tool_seconds", "Duration of tool calls, by tool");
    describe_counter!("chatwright_model_requests_total", "Requests to models, by provider, model and outcome");
    describe_histogram!(
        "chatwright_model_first_part_seconds",
        "Time from a model request to the first part of the reply"
    );
    describe_histogram!("chatwright_model_seconds", "Time from a model request to the end of the reply");
    describe_gauge!(
        "chatwright_model_circuit_open",
        "1 while the circuit breaker of a failing model is open, by connection and model"
    );
    describe_counter!(
        "chatwright_model_circuit_refused_total",
        "Model requests not sent because a circuit breaker was open"
    );
    describe_counter!("chatwright_http_requests_total", "HTTP requests, by method, route and status");
    describe_histogram!(
        "chatwright_http_seconds",
        "Time from an HTTP request to the response headers, by method and route"
    );
    describe_gauge!("chatwright_http_requests_active", "HTTP requests waiting for the response headers");
    describe_counter!("chatwright_rate_limited_total", "Requests refused by the rate limits of the config");
    describe_counter!(
        "chatwright_forwarded_unreadable_total",
        "Requests of a trusted proxy with an X-Forwarded-For without a valid address"
    );
    describe_counter!("chatwright_trace_batches_total", "Sent batches of traces, by outcome");
    describe_counter!("chatwright_deleted_total", "Permanently deleted items, by type");
    describe_gauge!("chatwright_jobs", "Jobs of the queue, by kind and state");
    describe_gauge!("chatwright_jobs_oldest_due_seconds", "How long the oldest due job has waited for a worker");
    describe_counter!("chatwright_job_attempts_total", "Ended attempts of jobs, by kind and outcome");
    describe_histogram!("chatwright_job_seconds", "Duration of attempts of jobs, by kind");
    describe_histogram!("chatwright_store_write_seconds", "Duration of database transactions");
    describe_counter!("chatwright_store_writes_total", "Database writes, several per transaction");
}

/// The values that a label has taken.
pub(super) struct LabelValues(Mutex<Option<HashSet<String>>>);

impl LabelValues {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the value cut to its maximum length, or `other` if there are too many values.
    pub(super) fn bounded(&self, value: &str) -> String {
        let value: String = value.chars().take(MAX_VALUE_CHARS).collect();
        let mut known = self.0.lock();
        let known = known.get_or_insert_default();
        if known.contains(&value) || known.len() < MAX_VALUES {
            known.insert(value.clone());
            return value;
        }
        "other".to_owned()
    }
}

static AGENTS: LabelValues = LabelValues::new();
static CONNECTIONS: LabelValues = LabelValues::new();
static TOOLS: LabelValues = LabelValues::new();
pub(super) static MODELS: LabelValues = LabelValues::new();

/// Counts the events of runs.
pub(crate) struct RunMetrics;

impl Telemetry for RunMetrics {
    fn run_began(&self, run: &RunFacts) {
        counter!("chatwright_runs_started_total", "agent" => AGENTS.bounded(&run.agent_id)).increment(1);
    }

    fn model_replied(&self, _: &RunFacts, step: &StepRecord) {
        let (agent, model) = (AGENTS.bounded(&step.agent_id), model_label(&step.provider, &step.model));
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
            // The `metrics` crate has no counters of fractions, so this is a gauge that only grows.
            gauge!("chatwright_cost_usd", "agent" => agent, "model" => model).increment(cost);
        }
    }

    fn tool_ended(&self, _: &RunFacts, call: ToolEnd<'_>) {
        let tool = call.tool.map_or_else(|| "unknown".to_owned(), |tool| TOOLS.bounded(tool));
        if let Some(took) = call.took {
            histogram!("chatwright_tool_seconds", "tool" => tool.clone()).record(took);
        }
        let agent = AGENTS.bounded(call.agent_id);
        let outcome = call.outcome.name();
        counter!("chatwright_tool_calls_total", "agent" => agent, "tool" => tool, "outcome" => outcome).increment(1);
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, took: Duration) {
        let agent = AGENTS.bounded(&run.agent_id);
        counter!("chatwright_runs_total", "agent" => agent.clone(), "outcome" => outcome).increment(1);
        let reason = reason.name();
        counter!("chatwright_run_ends_total", "agent" => agent.clone(), "reason" => reason).increment(1);
        histogram!("chatwright_run_seconds", "agent" => agent, "outcome" => outcome).record(took);
    }

    fn run_recovered(&self, run: &RunFacts, outcome: &'static str, reason: EndReason) {
        let agent = AGENTS.bounded(&run.agent_id);
        counter!("chatwright_runs_total", "agent" => agent.clone(), "outcome" => outcome).increment(1);
        counter!("chatwright_run_ends_total", "agent" => agent, "reason" => reason.name()).increment(1);
    }

    fn deleted(&self, what: &'static str, count: u64) {
        counter!("chatwright_deleted_total", "what" => what).increment(count);
    }
}

fn model_label(provider: &str, model: &str) -> String {
    MODELS.bounded(&format!("{provider}/{model}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_limited() {
        let label = LabelValues::new();
        for number in 0..MAX_VALUES {
            assert_eq!(label.bounded(&number.to_string()), number.to_string());
        }
        assert_eq!(label.bounded("0"), "0");
        assert_eq!(label.bounded("one more"), "other");
        let label = LabelValues::new();
        assert_eq!(label.bounded(&"ä".repeat(MAX_VALUE_CHARS + 1)), "ä".repeat(MAX_VALUE_CHARS));
    }
}
