//! An agent, and how it runs.

use crate::limits::Limits;
use crate::{Policy, Prune, StepRule, SubAgent};
use contract::{Model, Price, ResponseFormat, Sampling, Tool, ToolChoice, ToolSource};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A model with instructions and tools.
#[derive(Clone)]
pub struct Agent {
    /// Its name, for the log.
    pub id: String,
    /// The model that is asked.
    pub model: Arc<dyn Model>,
    /// Asked in this order when a model fails before its reply begins.
    pub fallbacks: Vec<Arc<dyn Model>>,
    /// What the model is told before everything else.
    pub instructions: Option<String>,
    /// What it may call; names are unique.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Agents that it may hand a task to, as tools.
    pub agents: Vec<Arc<SubAgent>>,
    /// Where more tools come from, asked when a turn begins; a name that is taken already is left out.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// Decides which calls may run; all may without it.
    pub policy: Option<Arc<dyn Policy>>,
    /// How it runs.
    pub settings: Settings,
}

impl Agent {
    /// Every model that may be asked, the first one first.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.model).chain(&self.fallbacks)
    }

    /// The first of its models, and of those of the agents below it, whose price is not known.
    pub fn unpriced_model(&self) -> Option<&str> {
        let mut own = self.models().map(|model| model.id().model.as_str());
        let own = own.find(|name| !self.settings.prices.contains_key(*name));
        own.or_else(|| self.agents.iter().find_map(|below| below.agent.unpriced_model()))
    }

    /// Tells it something behind its instructions, which go first.
    pub fn tell(&mut self, text: &str) {
        self.instructions = Some(match &self.instructions {
            Some(instructions) => format!("{instructions}\n\n{text}"),
            None => text.to_owned(),
        });
    }
}

/// How an agent runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests to the model in one turn, those after an approval or a page's answer included.
    pub max_steps: u32,
    /// Tell a model that writes its thoughts into its text to answer at once.
    pub no_think: bool,
    /// Whether and which tool must be called.
    pub tool_choice: ToolChoice,
    /// The tools that are offered, by name; all without it (L-35).
    pub active_tools: Option<Vec<String>>,
    /// Other settings for some requests (L-41).
    pub prepare_step: Vec<StepRule>,
    /// What is left out of the history (L-42 to L-44).
    pub prune: Prune,
    /// Whether a call that cannot be run goes back to the model, which may correct it; otherwise it ends the turn.
    pub repair_tool_call: bool,
    /// A step in which one of these runs is the last one.
    pub stop_on_tool_call: Vec<String>,
    /// Sampling settings.
    pub sampling: Sampling,
    /// The answer as JSON of this form; see [`contract::Request::response_format`].
    pub response_format: Option<ResponseFormat>,
    /// Merged last into each request, by provider (L-40).
    pub provider_options: Map<String, Value>,
    /// Retries of a request that failed before its first part (L-39).
    pub max_retries: u32,
    /// Tokens that the model can read at once, where that is known. Nothing is cut by it; users are told.
    pub context_tokens: Option<u64>,
    /// Bounds of what a turn may take in all (B-12).
    pub limits: Limits,
    /// What models cost, by their names.
    pub prices: HashMap<String, Price>,
    /// Bounds of time.
    pub timeouts: Timeouts,
    /// Tools that run at the same time.
    pub max_parallel_tools: usize,
    /// Agents below this one that work at the same time, over all levels; one that waits for agents below it does not count.
    pub max_parallel_agents: usize,
}

impl Default for Settings {
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
            limits: Limits::default(),
            prices: HashMap::new(),
            timeouts: Timeouts::default(),
            max_parallel_tools: 8,
            max_parallel_agents: 3,
        }
    }
}

/// Bounds of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A whole turn.
    pub total: Duration,
    /// One request to the model with its answer.
    pub step: Option<Duration>,
    /// How long the provider may show no sign of life before its answer begins.
    pub first_byte: Duration,
    /// How long it may show none between two pieces of the answer.
    pub chunk: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self { total: 15 * minute, step: None, first_byte: minute, chunk: minute }
    }
}
