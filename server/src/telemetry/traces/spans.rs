//! The spans themselves. Names and attributes are those of OpenTelemetry's semantic conventions for HTTP and for generative AI.

use chat::{RunFacts, Telemetry, ToolEnd, Trace};
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};
use store::{AuditOutcome, Step};

/// Makes spans, and has them sent.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// Of runs that have not ended, by their ids.
    runs: Mutex<HashMap<String, Span>>,
}

/// A request that is being answered.
pub(crate) struct RequestSpan(Span);

impl Traces {
    pub(super) fn new(provider: SdkTracerProvider, tracer: SdkTracer) -> Self {
        Self { provider, tracer, runs: Mutex::default() }
    }

    /// Sends what there is, and ends. It waits for the collector, so no task may do it.
    pub(crate) fn end(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }

    /// A request begins, perhaps in its client's trace.
    pub(crate) fn request(&self, method: &'static str, route: &str, client: Option<&Trace>) -> RequestSpan {
        let attributes = [text("http.request.method", method), text("http.route", route)];
        let builder = SpanBuilder::from_name(format!("{method} {route}")).with_kind(SpanKind::Server);
        RequestSpan(builder.with_attributes(attributes).start_with_context(&self.tracer, &within(client)))
    }

    /// Something that a run did, and that has ended just now.
    fn ended(&self, run: &RunFacts, builder: SpanBuilder, took: Duration, status: Status) {
        let context = {
            let runs = self.runs.lock();
            match runs.get(&run.run_id) {
                Some(span) => Context::new().with_remote_span_context(span.span_context().clone()),
                None => within(run.trace.as_ref()),
            }
        };
        let now = SystemTime::now();
        let begun = now.checked_sub(took).unwrap_or(now);
        let mut span = builder.with_start_time(begun).start_with_context(&self.tracer, &context);
        span.set_status(status);
        span.end_with_timestamp(now);
    }
}

impl RequestSpan {
    /// The trace that it is in; what it brings about stands below it.
    pub(crate) fn trace(&self) -> Trace {
        let context = self.0.span_context();
        let (trace_id, span_id) = (context.trace_id().to_string(), context.span_id().to_string());
        Trace { trace_id, span_id, is_sampled: context.is_sampled() }
    }

    /// The head of its answer is there.
    pub(crate) fn answered(mut self, status: u16) {
        self.0.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            self.0.set_attribute(text("error.type", &status.to_string()));
            self.0.set_status(Status::error(""));
        }
        self.0.end();
    }
}

/// What stands below a span of somebody else's.
fn within(trace: Option<&Trace>) -> Context {
    let ids = trace.and_then(|trace| {
        let ids = (TraceId::from_hex(&trace.trace_id).ok()?, SpanId::from_hex(&trace.span_id).ok()?);
        Some((ids, if trace.is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() }))
    });
    let Some(((trace_id, span_id), flags)) = ids else { return Context::new() };
    Context::new().with_remote_span_context(SpanContext::new(trace_id, span_id, flags, true, TraceState::default()))
}

fn text(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

fn count(key: &'static str, value: u64) -> KeyValue {
    KeyValue::new(key, i64::try_from(value).unwrap_or(i64::MAX))
}

/// A provider in the conventions' words.
fn provider(name: &str) -> &str {
    match name {
        "google" => "gcp.gemini",
        name => name,
    }
}

impl Telemetry for Traces {
    fn run_began(&self, run: &RunFacts) {
        let mut attributes = vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.id", &run.agent_id),
            text("gen_ai.agent.name", &run.agent_id),
            text("chatwright.run.id", &run.run_id),
        ];
        attributes.extend(run.conversation_id.as_deref().map(|id| text("gen_ai.conversation.id", id)));
        let builder = SpanBuilder::from_name(format!("invoke_agent {}", run.agent_id)).with_kind(SpanKind::Internal);
        let context = within(run.trace.as_ref());
        let span = builder.with_attributes(attributes).start_with_context(&self.tracer, &context);
        self.runs.lock().insert(run.run_id.clone(), span);
    }

    fn model_replied(&self, run: &RunFacts, step: &Step) {
        let usage = &step.usage;
        let reasons = Value::Array(Array::String(vec![StringValue::from(step.finish_reason.clone())]));
        let attributes = [
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", provider(&step.provider)),
            text("gen_ai.request.model", &step.model),
            text("gen_ai.agent.id", &step.agent_id),
            KeyValue::new("gen_ai.response.finish_reasons", reasons),
            count("gen_ai.usage.input_tokens", usage.input_tokens),
            count("gen_ai.usage.output_tokens", usage.output_tokens),
            count("gen_ai.usage.cache_read.input_tokens", usage.cache_read_tokens),
            count("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
            KeyValue::new("chatwright.first_part_ms", step.first_part_ms),
        ];
        let builder = SpanBuilder::from_name(format!("chat {}", step.model)).with_kind(SpanKind::Client);
        let took = Duration::from_millis(u64::try_from(step.whole_ms).unwrap_or_default());
        self.ended(run, builder.with_attributes(attributes), took, Status::Unset);
    }

    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>) {
        // What a model invents is the name of nothing.
        let tool = call.tool.unwrap_or("unknown");
        let outcome = call.outcome.name();
        let mut attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", tool),
            text("gen_ai.tool.call.id", call.call_id),
            text("gen_ai.tool.type", "function"),
            text("gen_ai.agent.id", call.agent_id),
            text("chatwright.outcome", outcome),
        ];
        let is_failed = call.outcome != AuditOutcome::Ok;
        attributes.extend(is_failed.then(|| text("error.type", outcome)));
        let status = if is_failed { Status::error(outcome) } else { Status::Unset };
        let builder = SpanBuilder::from_name(format!("execute_tool {tool}")).with_kind(SpanKind::Internal);
        self.ended(run, builder.with_attributes(attributes), call.took.unwrap_or_default(), status);
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, _: Duration) {
        let Some(mut span) = self.runs.lock().remove(&run.run_id) else { return };
        span.set_attribute(text("chatwright.outcome", outcome));
        if matches!(outcome, "failed" | "timeout") {
            span.set_attribute(text("error.type", outcome));
            span.set_status(Status::error(outcome));
        }
        span.end();
    }
}
