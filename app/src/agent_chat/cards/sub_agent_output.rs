//! The output of a call of a sub-agent.

use super::tool_name::tool_label;
use crate::texts::{Text, t};
use serde_json::{Map, Value};

/// The maximum depth to which nested sub-agents are shown.
pub(super) const MAX_DEPTH: usize = 5;

/// The output of a call of a sub-agent, also while it runs.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct SubAgentOutput<'v>(pub(super) &'v Map<String, Value>);

impl<'v> SubAgentOutput<'v> {
    /// Reads an output; none if it is not from a sub-agent.
    pub(in crate::agent_chat) fn from_output(output: Option<&'v Value>) -> Option<Self> {
        let output = output?.as_object()?;
        (output.get("_subAgent")? == &Value::Bool(true)).then_some(Self(output))
    }

    /// The name of the agent for display. The id of a copy begins with that of its agent and a slash.
    pub(in crate::agent_chat) fn name(self) -> String {
        let id = text(self.0, "agentId");
        tool_label(id.rsplit_once('/').map_or(id, |(_, kind)| kind))
    }

    /// `running`, `waiting`, `done`, `failed`, `limit` or `stopped`.
    pub(in crate::agent_chat) fn state(self) -> &'v str {
        text(self.0, "state")
    }

    /// The tool that waits for the user's approval, as a display name, and its arguments.
    pub(in crate::agent_chat) fn pending_call(self) -> Option<(String, Option<&'v Value>)> {
        let waiting = self.0.get("waiting")?.as_object()?;
        Some((tool_label(text(waiting, "toolName")), waiting.get("input")))
    }

    /// The current activity in a few words; empty when the agent has ended.
    pub(in crate::agent_chat) fn activity(self) -> String {
        self.activity_at(1)
    }

    fn activity_at(self, depth: usize) -> String {
        if !matches!(self.state(), "running" | "waiting") {
            return String::new();
        }
        let is_open = |step: &&'v Map<String, Value>| matches!(text(step, "state"), "running" | "waiting");
        if let Some(step) = self.steps().filter_map(Value::as_object).filter(is_open).last() {
            let name = tool_label(text(step, "name"));
            let inner = Self::from_output(step.get("output")).filter(|_| depth < MAX_DEPTH);
            let inner = inner.map(|inner| inner.activity_at(depth + 1)).unwrap_or_default();
            return if inner.is_empty() { name } else { format!("{name} › {inner}") };
        }
        if text(self.0, "text").is_empty() { t(Text::Thinking) } else { t(Text::Writing) }.to_owned()
    }

    pub(super) fn steps(self) -> impl Iterator<Item = &'v Value> {
        self.0.get("steps").and_then(Value::as_array).into_iter().flatten()
    }
}

/// A text in an output; empty if there is none.
pub(super) fn text<'v>(of: &'v Map<String, Value>, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
