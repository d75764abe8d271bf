//! An agent and its settings.

use crate::limits::TurnLimits;
use crate::{Policy, Prune, StepRule, SubAgent};
use contract::{Model, Price, ResponseFormat, Sampling, Tool, ToolChoice, ToolSource};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A model with instructions and tools.
#[derive(Clone)]
pub struct Agent {
    /// The agent's id, for the log.
    pub id: String,
    /// The model that is asked first.
    pub model: Arc<dyn Model>,
    /// The models that are asked, in this order, if a model fails before its reply begins.
    pub fallbacks: Vec<Arc<dyn Model>>,
    /// The instructions for the model (the system prompt).
    pub instructions: Option<String>,
    /// The tools; their names are unique.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The sub-agents, which are offered as tools.
    pub agents: Vec<Arc<SubAgent>>,
    /// Sources of further tools, asked when a turn begins. Tools whose names are taken are left
    /// out.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// Decides which calls may run; all may if absent.
    pub policy: Option<Arc<dyn Policy>>,
    /// The settings.
    pub settings: RunSettings,
}

impl Agent {
    /// Iterates over all models that may be asked, in their order.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.model).chain(&self.fallbacks)
    }

    /// Returns the first model without a known price, among its own and those of its sub-agents.
    pub fn unpriced_model(&self) -> Option<&str> {
        let mut own = self.models().map(|model| model.id().model.as_str());
        let own = own.find(|name| !self.settings.prices.contains_key(*name));
        own.or_else(|| self.agents.iter().find_map(|below| below.agent.unpriced_model()))
    }

    /// Appends a text to the instructions.
    pub fn append_instructions(&mut self, text: &str) {
        self.instructions = Some(match &self.instructions {
            Some(instructions) => format!("{instructions}\n\n{text}"),
            None => text.to_owned(),
        });
    }
}

/// The settings of an agent.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The maximum number of requests to the model in one turn, including those after an approval
    /// or after the answer of a page.
    pub max_steps: u32,
    /// Whether to tell a model that writes its reasoning into its text to answer at once.
    pub no_think: bool,
    /// Whether the model must call a tool, and which one.
    pub tool_choice: ToolChoice,
    /// The names of the tools that are offered; all if absent.
    pub active_tools: Option<Vec<String>>,
    /// Settings for some steps only.
    pub prepare_step: Vec<StepRule>,
    /// What to prune from the history.
    pub prune: Prune,
    /// Whether an invalid call goes back to the model, which may correct it. Otherwise it ends the
    /// turn.
    pub repair_tool_call: bool,
    /// The tools that end the turn: a step in which one of them runs is the last.
    pub stop_on_tool_call: Vec<String>,
    /// The sampling settings.
    pub sampling: Sampling,
    /// Requests the answer as JSON of this form; see [`contract::Request::response_format`].
    pub response_format: Option<ResponseFormat>,
    /// Options that are merged last into each request, by provider.
    pub provider_options: Map<String, Value>,
    /// The maximum number of retries of a request that failed before its first part.
    pub max_retries: u32,
    /// The size of the model's context window in tokens, if it is known. It is only shown to users;
    /// nothing is truncated.
    pub context_tokens: Option<u64>,
    /// The limits of a turn.
    pub limits: TurnLimits,
    /// The prices of models by their names.
    pub prices: HashMap<String, Price>,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// The maximum number of tools that run at the same time.
    pub max_parallel_tools: usize,
    /// The maximum number of sub-agents that run at the same time, on all levels. An agent that
    /// waits for its own sub-agents does not count.
    pub max_parallel_agents: usize,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            max_steps: 10,
            no_think: false,
            tool_choice: ToolChoice::Auto,
            active_tools: None,
            prepare_step: Vec::new(),
            prune: Prune::default(),
            repair_tool_call: true,
            stop_on_tool_call: Vec::new(),
            sampling: Sampling::default(),
            response_format: None,
            provider_options: Map::new(),
            max_retries: 2,
            context_tokens: None,
            limits: TurnLimits::default(),
            prices: HashMap::new(),
            timeouts: Timeouts::default(),
            max_parallel_tools: 8,
            max_parallel_agents: 3,
        }
    }
}

/// The timeouts of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The maximum duration of a turn.
    pub total: Duration,
    /// The maximum duration of one request with its reply.
    pub step: Option<Duration>,
    /// How long the provider may send nothing, not even a keep-alive, before its reply begins.
    pub first_byte: Duration,
    /// How long the provider may send nothing, not even a keep-alive, between two parts of its
    /// reply.
    pub chunk: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self { total: 15 * minute, step: None, first_byte: minute, chunk: minute }
    }
}
