//! Creates the spans. Names and attributes follow OpenTelemetry's semantic conventions for HTTP and
//! for generative AI.

use chat::{RunFacts, Telemetry, ToolEnd, Trace};
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};
use store::{AuditOutcome, StepRecord};
use wire::EndReason;

/// Creates spans and exports them.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// The runs in progress, by id.
    runs: Mutex<HashMap<String, RunSpans>>,
}

struct RunSpans {
    span: Span,
    /// The tool calls in progress, by id.
    calls: HashMap<String, CallSpan>,
}

struct CallSpan {
    span: Span,
    since: SystemTime,
    /// The span of the sub-agent that the call runs, created with its first event.
    agent: Option<Span>,
}

impl RunSpans {
    /// Returns the parent of what an agent does: the span of the run, or for a sub-agent its own
    /// span below the call that started it.
    fn parent_context(&mut self, tracer: &SdkTracer, call: Option<&str>, agent_id: &str) -> Context {
        let call = call.and_then(|id| self.calls.get_mut(id));
        let span = match call {
            None => &self.span,
            Some(CallSpan { span, since, agent }) => agent.get_or_insert_with(|| {
                invoke_agent(agent_id).with_start_time(*since).start_with_context(tracer, &child_context(span))
            }),
        };
        child_context(span)
    }
}

/// Returns the id of the call that started the sub-agent that made this call.
fn calling_call(call_id: &str) -> Option<&str> {
    call_id.rsplit_once('/').map(|(above, _)| above)
}

fn child_context(span: &Span) -> Context {
    Context::new().with_remote_span_context(span.span_context().clone())
}

fn invoke_agent(agent_id: &str) -> SpanBuilder {
    let attributes = [
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.agent.id", agent_id),
        text("gen_ai.agent.name", agent_id),
    ];
    SpanBuilder::from_name(format!("invoke_agent {agent_id}")).with_kind(SpanKind::Internal).with_attributes(attributes)
}

fn execute_tool(tool: &str, call_id: &str, agent_id: &str) -> SpanBuilder {
    let attributes = [
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", tool),
        text("gen_ai.tool.call.id", call_id),
        text("gen_ai.tool.type", "function"),
        text("gen_ai.agent.id", agent_id),
    ];
    SpanBuilder::from_name(format!("execute_tool {tool}")).with_kind(SpanKind::Internal).with_attributes(attributes)
}

/// The span of a request in progress.
pub(crate) struct RequestSpan(Span);

impl Traces {
    pub(super) fn new(provider: SdkTracerProvider, tracer: SdkTracer) -> Self {
        Self { provider, tracer, runs: Mutex::default() }
    }

    /// Exports the remaining spans and shuts down. It blocks until the collector responds, so call
    /// it on a blocking thread.
    pub(crate) fn shutdown(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }

    /// Starts the span of a request, in the client's trace if there is one.
    pub(crate) fn start_request(&self, method: &'static str, route: &str, client: Option<&Trace>) -> RequestSpan {
        let attributes = [text("http.request.method", method), text("http.route", route)];
        let builder = SpanBuilder::from_name(format!("{method} {route}")).with_kind(SpanKind::Server);
        RequestSpan(builder.with_attributes(attributes).start_with_context(&self.tracer, &remote_context(client)))
    }

    /// Returns the parent of what an agent does in a run. `call` is the call that started it, for a
    /// sub-agent.
    fn parent_context(&self, run: &RunFacts, call: Option<&str>, agent_id: &str) -> Context {
        match self.runs.lock().get_mut(&run.run_id) {
            Some(open) => open.parent_context(&self.tracer, call, agent_id),
            None => remote_context(run.trace.as_ref()),
        }
    }
}

impl RequestSpan {
    /// Returns the trace context of the request, the parent of all spans that it causes.
    pub(crate) fn trace(&self) -> Trace {
        let context = self.0.span_context();
        let (trace_id, span_id) = (context.trace_id().to_string(), context.span_id().to_string());
        Trace { trace_id, span_id, is_sampled: context.is_sampled() }
    }

    /// Ends the span when the response headers are sent.
    pub(crate) fn finish(mut self, status: u16) {
        self.0.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            self.0.set_attribute(text("error.type", &status.to_string()));
            self.0.set_status(Status::error(""));
        }
        self.0.end();
    }
}

/// Returns the context of a remote parent span.
fn remote_context(trace: Option<&Trace>) -> Context {
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

/// Maps a provider's name to that of the conventions.
fn provider(name: &str) -> &str {
    match name {
        "google" => "gcp.gemini",
        name => name,
    }
}

impl Telemetry for Traces {
    fn run_began(&self, run: &RunFacts) {
        let context = remote_context(run.trace.as_ref());
        let mut span = invoke_agent(&run.agent_id).start_with_context(&self.tracer, &context);
        span.set_attribute(text("chatwright.run.id", &run.run_id));
        span.set_attributes(run.conversation_id.as_deref().map(|id| text("gen_ai.conversation.id", id)));
        self.runs.lock().insert(run.run_id.clone(), RunSpans { span, calls: HashMap::new() });
    }

    fn model_replied(&self, run: &RunFacts, step: &StepRecord) {
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
        let context = self.parent_context(run, step.call_id.as_deref(), &step.agent_id);
        let now = SystemTime::now();
        let builder = builder.with_attributes(attributes).with_start_time(now.checked_sub(took).unwrap_or(now));
        builder.start_with_context(&self.tracer, &context).end_with_timestamp(now);
    }

    fn tool_started(&self, run: &RunFacts, agent_id: &str, call_id: &str, tool: &str) {
        let mut runs = self.runs.lock();
        let Some(open) = runs.get_mut(&run.run_id) else { return };
        let (context, since) = (open.parent_context(&self.tracer, calling_call(call_id), agent_id), SystemTime::now());
        let span = execute_tool(tool, call_id, agent_id).with_start_time(since);
        let span = span.start_with_context(&self.tracer, &context);
        open.calls.insert(call_id.to_owned(), CallSpan { span, since, agent: None });
    }

    fn tool_ended(&self, run: &RunFacts, call: ToolEnd<'_>) {
        let open = self.runs.lock().get_mut(&run.run_id).and_then(|open| open.calls.remove(call.call_id));
        let mut span = match open {
            Some(CallSpan { span, agent, .. }) => {
                // The sub-agent's span ends before the span of its call.
                drop(agent);
                span
            }
            // The call did not run. A tool name that the model invented is not recorded.
            None => execute_tool(call.tool.unwrap_or("unknown"), call.call_id, call.agent_id)
                .start_with_context(&self.tracer, &self.parent_context(run, calling_call(call.call_id), call.agent_id)),
        };
        let outcome = call.outcome.name();
        span.set_attribute(text("chatwright.outcome", outcome));
        if call.outcome != AuditOutcome::Ok {
            span.set_attribute(text("error.type", outcome));
            span.set_status(Status::error(outcome));
        }
        span.end();
    }

    fn run_ended(&self, run: &RunFacts, outcome: &'static str, reason: EndReason, _: Duration) {
        // Calls that wait for the user end with the run; they continue in another run.
        let Some(RunSpans { mut span, calls }) = self.runs.lock().remove(&run.run_id) else { return };
        for CallSpan { mut span, .. } in calls.into_values() {
            span.set_attribute(text("chatwright.outcome", outcome));
            span.end();
        }
        span.set_attribute(text("chatwright.outcome", outcome));
        span.set_attribute(text("chatwright.reason", reason.name()));
        if matches!(outcome, "failed" | "timeout") {
            span.set_attribute(text("error.type", outcome));
            span.set_status(Status::error(outcome));
        }
        span.end();
    }
}
