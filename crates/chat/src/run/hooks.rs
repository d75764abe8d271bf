//! Hooks: they are notified of events of a run, and add parts to the message when it ends.

use crate::history::private::strip_private;
use agent::{Agent, Ending, Event, RunOutcome};
use contract::{ModelId, Part, ToolCall, ToolError, Usage};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use transcript::to_wire;
use wire::UiMessage;
use wire::chunk::{DataChunk, FinishReason};
use wire::organize::MAX_TITLE;

/// The type of the data part that sets the conversation's title: `{title}`.
pub(super) const TITLE: &str = "data-chat-title";

/// An event of a run for which hooks can be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// The run starts: `{model, tools}`.
    Start,
    /// A step starts: `{stepNumber}`.
    StepStart,
    /// A tool call starts: `{stepNumber, toolCall}`.
    ToolCallStart,
    /// A tool call has ended: `{stepNumber, toolCall, durationMs, success, output | error}`.
    ToolCallFinish,
    /// A step has ended: `{stepNumber, text, toolCalls, toolResults, finishReason, usage,
    /// costUsd}`.
    StepFinish,
    /// The run ends: `{messages, steps, toolResults, finishReason, isAborted, usage, costUsd}`.
    Finish,
}

/// The hooks of one turn. The implementation knows the caller, the conversation and the shared
/// state, and adds them to each payload.
pub trait Hooks: Send + Sync + 'static {
    /// Returns whether a hook is registered for this event.
    fn wants(&self, hook: HookEvent) -> bool;

    /// Notifies the hooks without waiting for them, so that they never delay the answer.
    fn notify(&self, hook: HookEvent, payload: Map<String, Value>);

    /// Notifies the hooks that the run ends, waits for all of them, and returns the parts that they
    /// add to the message. Never fails, and returns within a bounded time; at once after `cancel`.
    fn finish(&self, payload: Map<String, Value>, cancel: CancellationToken) -> BoxFuture<'_, Vec<DataChunk>>;
}

/// The end of a run, as hooks see it.
pub(crate) struct HookEnd {
    /// The message that the run wrote.
    pub(crate) message: UiMessage,
    /// Why the last reply ended; `error` if the run failed.
    pub(crate) finish_reason: FinishReason,
    /// Whether the run was stopped.
    pub(crate) is_aborted: bool,
    /// The tokens of all requests.
    pub(crate) usage: Usage,
    /// The cost in US dollars, as far as prices are known.
    pub(crate) cost_usd: Option<f64>,
}

impl HookEnd {
    /// Returns the end of a run that wrote this message.
    pub(crate) fn new(outcome: &RunOutcome, message: UiMessage) -> Self {
        let finish_reason = match outcome.ending {
            Ending::Failed(_) | Ending::EmptySummary | Ending::UnknownPrice { .. } | Ending::InvalidCall { .. } => {
                FinishReason::Error
            }
            _ => to_wire::finish_reason(outcome.finish_reason),
        };
        Self {
            message,
            finish_reason,
            is_aborted: matches!(outcome.ending, Ending::Stopped),
            usage: outcome.usage,
            cost_usd: outcome.cost_usd,
        }
    }
}

/// Observes a run and notifies its hooks.
pub(crate) struct HookObserver {
    hooks: Arc<dyn Hooks>,
    history: Vec<UiMessage>,
    step: Step,
    steps: Vec<Value>,
    tool_results: Vec<Value>,
    running: HashMap<String, (Value, Instant)>,
    /// The calls of an earlier run that the user has decided on.
    decided: Vec<Value>,
}

/// The current step.
#[derive(Default)]
struct Step {
    number: u32,
    text: String,
    calls: Vec<Value>,
    results: Vec<Value>,
}

impl HookObserver {
    /// Notifies the hooks of the start. `history` holds the messages before the one that the run
    /// writes.
    pub(crate) fn new(hooks: Arc<dyn Hooks>, history: Vec<UiMessage>, agent: &Agent) -> Self {
        let agents = agent.agents.iter().map(|below| below.spec.name.as_str());
        let tools: Vec<_> = agent.tools.iter().map(|tool| tool.spec().name.as_str()).chain(agents).collect();
        Self::with_tools(hooks, history, agent.model.id(), &tools)
    }

    /// Like [`HookObserver::new`], for a run that has only these tools.
    pub(crate) fn with_tools(hooks: Arc<dyn Hooks>, history: Vec<UiMessage>, model: &ModelId, tools: &[&str]) -> Self {
        let observer = Self {
            hooks,
            history,
            step: Step::default(),
            steps: Vec::new(),
            tool_results: Vec::new(),
            running: HashMap::new(),
            decided: Vec::new(),
        };
        observer.notify(HookEvent::Start, || json!({ "model": model.to_string(), "tools": tools }));
        observer
    }

    fn notify(&self, hook: HookEvent, payload: impl FnOnce() -> Value) {
        if self.hooks.wants(hook)
            && let Value::Object(payload) = payload()
        {
            self.hooks.notify(hook, payload);
        }
    }

    /// Processes an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        match event {
            Event::StepStart { number } => {
                self.step = Step { number: *number, ..Step::default() };
                self.notify(HookEvent::StepStart, || json!({ "stepNumber": number }));
            }
            Event::Part(Part::TextDelta { delta, .. }) => self.step.text.push_str(delta),
            Event::ToolCall { call, .. } => self.step.calls.push(described(call)),
            Event::CallDecided { call, .. } => self.decided.push(described(call)),
            Event::ToolStarted { call_id, .. } => self.tool_started(call_id),
            Event::ToolFinished { call_id, name, result, .. } => self.tool_finished(call_id, name, result),
            Event::StepFinish { finish_reason, usage, cost_usd, .. } => {
                let step = self.step_finished(*finish_reason, *usage, *cost_usd);
                self.notify(HookEvent::StepFinish, || step.clone());
                self.steps.push(step);
            }
            _ => {}
        }
    }

    fn tool_started(&mut self, call_id: &str) {
        let is_it = |call: &&Value| call.get("toolCallId").and_then(Value::as_str) == Some(call_id);
        let call = self.step.calls.iter().chain(&self.decided).find(is_it);
        let call = call.cloned().unwrap_or_else(|| json!({ "toolCallId": call_id }));
        let payload = json!({ "stepNumber": self.step.number, "toolCall": call });
        self.running.insert(call_id.to_owned(), (call, Instant::now()));
        self.notify(HookEvent::ToolCallStart, || payload);
    }

    fn tool_finished(&mut self, call_id: &str, name: &str, result: &Result<Value, ToolError>) {
        let (key, value) = match result {
            Ok(output) => ("output", output.clone()),
            Err(error) => ("error", Value::String(error.message.clone())),
        };
        let told = json!({ "toolCallId": call_id, "toolName": name, key: value });
        self.step.results.push(told.clone());
        self.tool_results.push(told);
        let Some((call, since)) = self.running.remove(call_id) else { return };
        let took = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let number = self.step.number;
        self.notify(HookEvent::ToolCallFinish, || {
            json!({ "stepNumber": number, "toolCall": call, "durationMs": took, "success": key == "output", key: value })
        });
    }

    fn step_finished(&mut self, finish_reason: contract::FinishReason, usage: Usage, cost_usd: Option<f64>) -> Value {
        let step = std::mem::take(&mut self.step);
        json!({
            "stepNumber": step.number,
            "text": step.text,
            "toolCalls": step.calls,
            "toolResults": step.results,
            "finishReason": to_wire::finish_reason(finish_reason),
            "usage": tokens(usage),
            "costUsd": cost_usd,
        })
    }

    /// Notifies the hooks of the end, with the final message, and returns the parts to add to it.
    pub(crate) async fn finish(self, end: HookEnd, cancel: CancellationToken) -> Vec<DataChunk> {
        if !self.hooks.wants(HookEvent::Finish) {
            return Vec::new();
        }
        let mut messages: Vec<_> = self.history.into_iter().chain([end.message]).collect();
        messages.iter_mut().for_each(strip_private);
        let payload = json!({
            "messages": messages,
            "steps": self.steps,
            "toolResults": self.tool_results,
            "finishReason": end.finish_reason,
            "isAborted": end.is_aborted,
            "usage": tokens(end.usage),
            "costUsd": end.cost_usd,
        });
        match payload {
            Value::Object(payload) => self.hooks.finish(payload, cancel).await,
            _ => Vec::new(),
        }
    }
}

/// Returns the title that the last of the title parts sets, if any.
pub(crate) fn title(parts: &[DataChunk]) -> Option<String> {
    let named = parts.iter().rfind(|part| part.kind == TITLE)?;
    let title = named.data.get("title")?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().take(MAX_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

fn described(call: &ToolCall) -> Value {
    json!({ "toolCallId": call.id, "toolName": call.name, "input": call.input })
}

fn tokens(usage: Usage) -> Value {
    json!({
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.input_tokens + usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
    })
}
