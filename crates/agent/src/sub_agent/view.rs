//! The view of a sub-agent for the user: its steps and its answer, as one value that replaces the
//! previous one.
//!
//! `{"_subAgent": true, "agentId", "state", "steps", "text", "durationMs", "usage", "costUsd",
//! "waiting"}`. The calling agent reads only `text`, see [`contract::ToolOutput::from_value`].

use crate::event::EventRecorder;
use crate::{Event, EventSink, SinkClosed};
use contract::{CallReports, Part, TOOL_QUESTION, ToolCall, Usage, displayed_item};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The interval in which growing text is shown.
const PACE: Duration = Duration::from_millis(500);
/// The maximum number of steps that are shown, the most recent ones.
const MAX_STEPS: usize = 100;
/// The maximum size of one input or output that is shown, in bytes.
const MAX_VALUE: usize = 2048;
/// The maximum size of the view of a nested sub-agent, in bytes.
const MAX_BELOW: usize = 64 << 10;
/// The maximum size of the answer, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// The maximum size of an incomplete answer that is shown, in bytes. Its end is shown.
const MAX_GROWING: usize = 8192;

/// The state of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SubAgentState {
    Running,
    Waiting,
    Done,
    Limit,
}

/// The view of a sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubAgentView {
    #[serde(rename = "_subAgent")]
    is_sub_agent: bool,
    agent_id: String,
    pub(super) state: SubAgentState,
    steps: Vec<Step>,
    /// The answer, or as much of it as there is.
    pub(super) text: String,
    duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// The call that waits for the user: `toolName`, `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) waiting: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
}

/// A step of the sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Step {
    /// A text that the agent wrote before it continued.
    Text { text: String },
    /// A tool call.
    Tool {
        id: String,
        name: String,
        state: StepState,
        input: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Whether a standing approval covered the call.
        #[serde(default, skip_serializing_if = "is_false")]
        granted: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StepState {
    Running,
    Waiting,
    Done,
    Failed,
    Denied,
}

impl SubAgentView {
    pub(super) fn new(agent_id: &str) -> Self {
        Self {
            is_sub_agent: true,
            agent_id: agent_id.to_owned(),
            state: SubAgentState::Running,
            steps: Vec::new(),
            text: String::new(),
            duration_ms: 0,
            usage: None,
            cost_usd: None,
            waiting: None,
        }
    }

    pub(super) fn agent_id(&self) -> &str {
        &self.agent_id
    }

    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the view of a running agent, with only the end of a long text, because it is sent
    /// again each time.
    fn to_growing_value(&self) -> Value {
        let begin = self.text.ceil_char_boundary(self.text.len().saturating_sub(MAX_GROWING));
        let mut shown = self.to_value();
        if begin > 0 {
            shown["text"] = format!("…{}", &self.text[begin..]).into();
        }
        shown
    }

    fn push(&mut self, step: Step) {
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        self.steps.push(step);
    }

    /// Turns the text so far into a step, because something follows it.
    fn flush_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.push(Step::Text { text: truncate(&text) });
        }
    }

    fn set_step_state(
        &mut self,
        call_id: &str,
        to: StepState,
        with: impl FnOnce(&mut Option<Value>, &mut Option<String>),
    ) {
        let found = self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Tool { id, state, output, error, .. } if id == call_id => Some((state, output, error)),
            _ => None,
        });
        if let Some((state, output, error)) = found {
            *state = to;
            with(output, error);
        }
    }

    fn grant(&mut self, call_id: &str) {
        let found = self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Tool { id, granted, .. } if id == call_id => Some(granted),
            _ => None,
        });
        if let Some(granted) = found {
            *granted = true;
        }
    }

    /// Applies an event. Returns whether to show the change at once; `None` if nothing changes.
    fn apply(&mut self, event: &Event) -> Option<bool> {
        match event {
            Event::StepStart { .. } => self.flush_text(),
            Event::Part(Part::TextDelta { delta, .. }) => {
                let left = MAX_TEXT.saturating_sub(self.text.len());
                self.text.push_str(&delta[..delta.floor_char_boundary(left)]);
                return Some(false);
            }
            // Calls that the provider runs itself, and its items that are nothing else.
            Event::Part(Part::ToolResult { id, output, is_error, .. }) => {
                let state = if *is_error { StepState::Failed } else { StepState::Done };
                self.set_step_state(id, state, |shown, _| *shown = Some(abbreviated(output)));
            }
            Event::Part(Part::ProviderItem { item, shown_as: Some(name), .. }) => {
                self.flush_text();
                let (name, output) = (truncate(name), Some(abbreviated(&displayed_item(item))));
                let (id, state, input) = (String::new(), StepState::Done, Value::Object(Map::new()));
                self.push(Step::Tool { id, name, state, input, output, error: None, granted: false });
            }
            Event::ToolCall { call, .. } => {
                self.flush_text();
                let (id, name, input) = (call.id.clone(), call.name.clone(), abbreviated(&call.input));
                self.push(Step::Tool {
                    id,
                    name,
                    state: StepState::Running,
                    input,
                    output: None,
                    error: None,
                    granted: false,
                });
            }
            Event::ToolCallInvalid { id, name, input, .. } => {
                self.flush_text();
                let (id, name, input) = (id.clone(), name.clone(), abbreviated(input));
                self.push(Step::Tool {
                    id,
                    name,
                    state: StepState::Failed,
                    input,
                    output: None,
                    error: None,
                    granted: false,
                });
            }
            Event::CallGranted { call_id, .. } => self.grant(call_id),
            Event::ApprovalRequest { call_id, .. } => self.set_step_state(call_id, StepState::Waiting, |_, _| {}),
            Event::ToolStarted { call_id, .. } => self.set_step_state(call_id, StepState::Running, |_, _| {}),
            Event::ToolDenied { call_id, .. } => self.set_step_state(call_id, StepState::Denied, |_, _| {}),
            // The view of a nested sub-agent is shown completely, because its size is limited
            // already.
            Event::ToolProgress { call_id, output } | Event::ToolSuspended { call_id, output, .. } => {
                self.set_step_state(call_id, StepState::Running, |shown, _| *shown = Some(output.clone()));
            }
            Event::ToolFinished { call_id, result: Ok(value), .. } => {
                self.set_step_state(call_id, StepState::Done, |shown, _| {
                    *shown = Some(if value.get("_subAgent").is_some() { bounded(value) } else { abbreviated(value) });
                })
            }
            Event::ToolFinished { call_id, result: Err(error), .. } => {
                self.set_step_state(call_id, StepState::Failed, |_, shown| *shown = Some(truncate(&error.message)));
            }
            _ => return None,
        }
        Some(true)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Returns the value of a finished call that has the form of a view. It is shortened if it is
/// larger than a view can be.
fn bounded(value: &Value) -> Value {
    if value.to_string().len() <= MAX_BELOW { value.clone() } else { abbreviated(value) }
}

/// Returns the value, or the beginning of its JSON text if it is too large.
fn abbreviated(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_VALUE { value.clone() } else { Value::String(truncate(&text)) }
}

fn truncate(text: &str) -> String {
    if text.len() <= MAX_VALUE {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_VALUE)])
}

/// Shows the progress of a run, and records the events of its calls with the calling agent before
/// the run continues.
pub(super) struct ViewSink {
    view: SubAgentView,
    /// The calling agent's call.
    call_id: String,
    reports: CallReports,
    record: EventRecorder,
    /// The duration of earlier runs of the same call, in milliseconds.
    before: u64,
    begun: Instant,
    shown: Option<Instant>,
}

impl ViewSink {
    pub(super) fn new(
        mut view: SubAgentView,
        call: &ToolCall,
        (reports, record): (CallReports, EventRecorder),
    ) -> Self {
        view.state = SubAgentState::Running;
        view.waiting = None;
        let (before, call_id) = (view.duration_ms, call.id.clone());
        let mut sink = Self { before, view, call_id, reports, record, begun: Instant::now(), shown: None };
        sink.show();
        sink
    }

    fn show(&mut self) {
        let took = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.view.duration_ms = self.before.saturating_add(took);
        self.reports.progress(self.view.to_growing_value());
        self.shown = Some(Instant::now());
    }

    /// Returns the final view. The usage is added to that of earlier runs.
    pub(super) fn into_view(mut self, usage: Usage, cost_usd: Option<f64>) -> SubAgentView {
        self.show();
        let known = self.view.usage.unwrap_or_default();
        self.view.usage = Some(Tokens {
            input_tokens: known.input_tokens + usage.input_tokens,
            output_tokens: known.output_tokens + usage.output_tokens,
        });
        if let Some(cost) = cost_usd {
            self.view.cost_usd = Some(self.view.cost_usd.unwrap_or_default() + cost);
        }
        self.view
    }
}

impl ViewSink {
    /// Records an event with the calling agent, if it is about calls or usage.
    async fn record(&self, event: &Event) -> Result<(), SinkClosed> {
        let nested = match event {
            Event::Nested { call_id, agent_id, event } => {
                let call_id = format!("{}/{call_id}", self.call_id);
                Event::Nested { call_id, agent_id: agent_id.clone(), event: event.clone() }
            }
            event if is_for_the_record(event) => {
                let (call_id, agent_id) = (self.call_id.clone(), self.view.agent_id.clone());
                Event::Nested { call_id, agent_id, event: Box::new(event.clone()) }
            }
            _ => return Ok(()),
        };
        let (recorded, done) = oneshot::channel();
        self.record.send((nested, recorded)).await.map_err(|_| SinkClosed)?;
        done.await.unwrap_or(Err(SinkClosed))
    }
}

/// Returns whether an event is recorded.
fn is_for_the_record(event: &Event) -> bool {
    matches!(
        event,
        Event::ReplyComplete(_)
            | Event::ContextSize(_)
            | Event::ToolCall { .. }
            | Event::ToolCallInvalid { .. }
            | Event::CallDecided { .. }
            | Event::CallRuled { .. }
            | Event::CallGranted { .. }
            | Event::Exposed { .. }
            | Event::ApprovalRequest { .. }
            | Event::ToolStarted { .. }
            | Event::ToolFinished { .. }
            | Event::ToolSuspended { .. }
            | Event::ToolDenied { .. }
    )
}

impl EventSink for ViewSink {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.record(&event).await?;
        // A tool of the sub-agent waits for the user, who is not asked in the progress of the task. Boxed, because
        // this future is a part of all those of a run, and agents that call agents nest them.
        if let Event::Data { name, id: Some(id), data } = &event
            && name == TOOL_QUESTION
        {
            Box::pin(self.reports.question(id.clone(), data.clone())).await;
        }
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= PACE);
        if self.view.apply(&event).is_some_and(|at_once| at_once || is_due) {
            self.show();
        }
        Ok(())
    }
}

impl SubAgentView {
    /// Sets the call that waits for the user: this one, or the innermost one if a nested sub-agent
    /// waits.
    pub(super) fn ask(&mut self, tool_name: &str, input: &Value, call_id: &str) {
        self.state = SubAgentState::Waiting;
        let below = self.steps.iter().rev().find_map(|step| match step {
            Step::Tool { id, output: Some(output), .. } if id == call_id => output.get("waiting").cloned(),
            _ => None,
        });
        self.waiting = Some(below.unwrap_or_else(|| json!({ "toolName": tool_name, "input": input })));
        self.set_step_state(call_id, StepState::Waiting, |_, _| {});
    }
}
