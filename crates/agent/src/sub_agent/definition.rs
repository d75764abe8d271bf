//! An agent that is a tool of another one.

use crate::Agent;
use contract::{ToolCall, ToolSpec};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::Duration;

/// The text that follows the id of an agent in that of its copy.
const COPY: &str = "/general-purpose";

/// An agent that another agent can call as a tool.
pub struct SubAgent {
    /// The declaration that the calling agent's model reads. [`ToolSpec::timeout`] applies to the
    /// whole run.
    pub spec: ToolSpec,
    /// The agent. Its tools run on the server, not in the browser.
    pub agent: Agent,
    /// Whether it is a copy of the calling agent rather than an agent with a name of its own. Its task is then
    /// the argument `prompt`, `max_turns` bounds its requests, and calls in one reply beyond the number that
    /// may work at the same time are refused instead of waiting.
    pub is_copy: bool,
}

impl SubAgent {
    /// Creates a sub-agent that is not a copy of the calling agent.
    pub fn new(spec: ToolSpec, agent: Agent) -> Self {
        Self { spec, agent, is_copy: false }
    }

    /// Returns the id of the copy of an agent, which no agent of a config can have. It differs between agents,
    /// so that a standing approval holds for the copy of one agent only.
    pub fn copy_id(agent_id: &str) -> String {
        [agent_id, COPY].concat()
    }

    /// Returns whether an id is that of an agent or of its copy.
    pub fn is_agent_or_copy(id: &str, agent_id: &str) -> bool {
        id.strip_suffix(COPY).unwrap_or(id) == agent_id
    }

    /// The default timeout of a task.
    pub const TIMEOUT: Duration = Duration::from_secs(900);

    /// Returns the agent with the limits that a call sets.
    pub(super) fn for_call(&self, call: &ToolCall) -> Cow<'_, Agent> {
        let turns = call.input.get("max_turns").and_then(Value::as_u64).filter(|_| self.is_copy);
        let Some(turns) = turns.and_then(|turns| u32::try_from(turns).ok()) else { return Cow::Borrowed(&self.agent) };
        let mut agent = self.agent.clone();
        agent.settings.max_steps = agent.settings.max_steps.min(turns.max(1));
        Cow::Owned(agent)
    }

    /// Returns the default schema of a task.
    pub fn default_schema() -> Value {
        json!({
            "type": "object",
            "properties": { "task": { "type": "string", "description": "The task, with all information that is needed for it." } },
            "required": ["task"],
        })
    }
}
