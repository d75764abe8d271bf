//! An agent and its settings.

use crate::context::{ContextBudget, ModelRoom};
use crate::execution_mode::{ExecutionMode, ToolStrategy};
use crate::limits::TurnLimits;
use crate::{ContextSettings, DeferTools, Policy, Prune, Route, RunRecorder, StepRule, SubAgent};
use contract::{Model, Price, ResponseFormat, Sampling, Tool, ToolChoice, ToolSource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{OneOrMany, ToolName};
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
    /// The content of the user's page, which the model reads with the user's message.
    pub page_context: Option<String>,
    /// The tools; their names are unique.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The sub-agents, which are offered as tools.
    pub agents: Vec<Arc<SubAgent>>,
    /// Sources of further tools, asked when a turn begins. Tools whose names are taken are left
    /// out.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// Decides which calls may run; all may if absent.
    pub policy: Option<Arc<dyn Policy>>,
    /// The model that summarises older messages; the agent's own if absent.
    pub summary_model: Option<Arc<dyn Model>>,
    /// Whether its tools search the documents that the user attaches. Then the model reads the beginning of
    /// long ones only.
    pub searches_attachments: bool,
    /// The routes among which each turn takes one, the first possible one if the model does not decide; none
    /// if the agent always answers in the same way.
    pub routes: &'static [Route],
    /// Records the agent's runs; those of its sub-agents belong to the run that calls them.
    pub recorder: Option<Arc<dyn RunRecorder>>,
    /// The settings.
    pub settings: RunSettings,
}

impl Agent {
    /// Creates an agent without instructions and tools, with the default settings.
    pub fn new(id: impl Into<String>, model: Arc<dyn Model>) -> Self {
        Self {
            id: id.into(),
            model,
            fallbacks: Vec::new(),
            instructions: None,
            page_context: None,
            tools: Vec::new(),
            agents: Vec::new(),
            sources: Vec::new(),
            policy: None,
            summary_model: None,
            searches_attachments: false,
            routes: &[],
            recorder: None,
            settings: RunSettings::default(),
        }
    }

    /// Iterates over all models that may be asked, in their order.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.model).chain(&self.fallbacks)
    }

    /// Returns the first model without a known price, among its own and those of its sub-agents.
    pub fn unpriced_model(&self) -> Option<&str> {
        let mut own = self.models().chain(&self.summary_model).map(|model| model.id().model.as_str());
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

/// The settings of an agent. Keys of the config are deserialized; the other fields come from the
/// server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunSettings {
    /// The size of the model's context window in tokens, input and output together, for the meter in
    /// the chat and the triggers of `context`. Default: known for well-known models.
    #[schemars(range(min = 1))]
    pub context_tokens: Option<u64>,
    /// The most requests to the model in one turn, including those after an approval or a result of
    /// a client tool.
    #[schemars(range(min = 1, max = 1000))]
    pub max_steps: u32,
    /// How often a request is retried after a temporary failure.
    // Only before the first part of its reply.
    #[schemars(range(max = 10))]
    pub max_retries: u32,
    /// The sampling settings.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Puts `/no_think` before the instructions, so that models that write their reasoning into
    /// their text, such as Qwen3, reply without it. Default: `true` for an agent with a `preset`
    /// and a model that is known for this, else `false`.
    pub no_think: Option<bool>,
    /// Whether the model must call a tool, and which.
    pub tool_choice: ToolChoice,
    /// The names of the tools that are offered. Default: all.
    #[schemars(inner(regex(pattern = settings::pattern::TOOL_NAME)))]
    pub active_tools: Option<Vec<String>>,
    /// When the tools of MCP servers and remote agents are listed by name only. The agent then finds
    /// them with `tool_search` and calls them with `tool_call`, or the provider finds them: `true`, `false`,
    /// or above a number of tools in all. Default: `{ above: 40 }`.
    pub defer_tools: DeferTools,
    /// The name of a tool, or several: a call ends the turn after the tool has run.
    #[serde(deserialize_with = "settings::from_form::<OneOrMany<ToolName>, _, _>")]
    #[schemars(with = "Option<OneOrMany<ToolName>>", skip_serializing_if = "Vec::is_empty")]
    pub stop_on_tool_call: Vec<String>,
    /// How many steps with tool calls a turn has: `untilDone`, `once` or `atMost` a number. After the
    /// last of them the model is asked once more, without tools, so that the turn ends with an answer.
    /// `maxSteps` holds as well.
    pub execution_mode: ExecutionMode,
    /// In which way the agent uses its tools: `model`, `sequential`, `parallel`, or a fixed `pipeline`.
    pub tool_strategy: ToolStrategy,
    /// Overrides of settings for some steps of a turn. The first rule that matches a step applies.
    pub prepare_step: Vec<StepRule>,
    /// Which parts of the history the model does not get.
    pub prune: Prune,
    /// How a long conversation is made shorter for the model.
    pub context: ContextSettings,
    /// Reports a tool call that cannot be run to the model, which may correct it. With `false` such
    /// a call ends the turn with an error.
    pub repair_tool_call: bool,
    /// The timeout of a whole turn in milliseconds, or timeouts of its parts. Default: those of the
    /// section `limits`.
    #[serde(rename = "timeout", deserialize_with = "settings::from_form::<TimeoutForm, _, _>")]
    #[schemars(with = "Option<TimeoutForm>")]
    pub timeouts: Timeouts,
    /// The roles whose users decide on calls that need an approval when the agent runs without a
    /// conversation (`POST /api/runs`). Whoever started the run does not, unless they have such a role.
    /// Default: whoever started it, unless the request names roles.
    #[schemars(length(max = 20))]
    pub approvers: Vec<String>,
    /// Limits for one turn.
    pub limits: TurnLimits,
    /// Options for the provider, by its name, in the terms of its API (`reasoning_effort`) or of
    /// the AI SDK (`reasoningEffort`). Unknown options are added to each request unchanged.
    /// `_secret` reads an environment variable here.
    #[schemars(with = "HashMap<String, Map<String, Value>>")]
    pub provider_options: Map<String, Value>,
    /// Whether all models of the agent have a search for tools at their provider.
    #[serde(skip)]
    pub provider_has_search: bool,
    /// Whether `context_tokens` is the room for the input alone.
    #[serde(skip)]
    pub output_is_beside: bool,
    /// Requests the answer as JSON of this form; see [`contract::Request::response_format`].
    #[serde(skip)]
    pub response_format: Option<ResponseFormat>,
    /// The prices of models by their names.
    #[serde(skip)]
    pub prices: HashMap<String, Price>,
    /// The maximum number of tools that run at the same time.
    #[serde(skip)]
    pub max_parallel_tools: usize,
    /// The maximum number of sub-agents that run at the same time, on all levels. An agent that
    /// waits for its own sub-agents does not count.
    #[serde(skip)]
    pub max_parallel_agents: usize,
}

impl RunSettings {
    /// The default of [`RunSettings::max_parallel_tools`].
    pub const MAX_PARALLEL_TOOLS: usize = 8;
    /// The default of [`RunSettings::max_parallel_agents`].
    pub const MAX_PARALLEL_AGENTS: usize = 3;

    /// Returns the most requests to the model in one turn, by `maxSteps` and the execution mode.
    pub fn step_limit(&self) -> u32 {
        self.execution_mode.max_steps(self.max_steps)
    }

    /// Returns what is known of the room in the model's context.
    fn model_room(&self) -> ModelRoom {
        let answer = self.sampling.max_output_tokens.filter(|_| !self.output_is_beside).map(u64::from);
        ModelRoom { tokens: self.context_tokens, answer }
    }

    /// Returns the limits of a request's context; `None` if the whole history is sent.
    pub(crate) fn context_budget(&self) -> Option<ContextBudget> {
        self.context.budget(self.model_room())
    }

    /// Returns the longest result that is sent whole, in bytes.
    pub(crate) fn result_limit(&self) -> usize {
        self.context.result_limit(self.model_room())
    }

    /// Returns how many tools run at the same time.
    pub(crate) fn tools_at_once(&self) -> usize {
        if self.tool_strategy.is_sequential() { 1 } else { self.max_parallel_tools }
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            context_tokens: None,
            output_is_beside: false,
            max_steps: 10,
            max_retries: 2,
            sampling: Sampling::default(),
            no_think: None,
            tool_choice: ToolChoice::Auto,
            active_tools: None,
            defer_tools: DeferTools::default(),
            provider_has_search: false,
            stop_on_tool_call: Vec::new(),
            execution_mode: ExecutionMode::default(),
            tool_strategy: ToolStrategy::default(),
            prepare_step: Vec::new(),
            prune: Prune::default(),
            context: ContextSettings::default(),
            repair_tool_call: true,
            timeouts: Timeouts::default(),
            approvers: Vec::new(),
            limits: TurnLimits::default(),
            provider_options: Map::new(),
            response_format: None,
            prices: HashMap::new(),
            max_parallel_tools: Self::MAX_PARALLEL_TOOLS,
            max_parallel_agents: Self::MAX_PARALLEL_AGENTS,
        }
    }
}

/// The timeouts of an agent.
// An agent of the config gets those of the section `limits` where it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct Timeouts {
    /// The timeout of a whole turn, in milliseconds.
    #[serde(rename = "totalMs", with = "settings::milliseconds")]
    #[schemars(with = "Option<Milliseconds>")]
    pub total: Option<Duration>,
    /// The timeout of one step, in milliseconds: a request to the model with its reply.
    #[serde(rename = "stepMs", with = "settings::milliseconds")]
    #[schemars(with = "Option<Milliseconds>")]
    pub step: Option<Duration>,
    /// The longest silence of the provider before its reply begins, in milliseconds. Default:
    /// `limits.firstByteMs`. After it the request is retried, see `maxRetries`.
    // A keep-alive ends the silence.
    #[serde(rename = "firstByteMs", with = "settings::milliseconds")]
    #[schemars(with = "Option<Milliseconds>")]
    pub first_byte: Option<Duration>,
    /// The longest silence of the provider between two parts of its reply, in milliseconds.
    /// Default: `limits.idleMs`.
    #[serde(rename = "chunkMs", with = "settings::milliseconds")]
    #[schemars(with = "Option<Milliseconds>")]
    pub chunk: Option<Duration>,
}

impl Timeouts {
    /// The default of [`Timeouts::total`].
    pub const TOTAL: Duration = Duration::from_mins(15);
    /// The default of [`Timeouts::first_byte`].
    pub const FIRST_BYTE: Duration = Duration::from_mins(1);
    /// The default of [`Timeouts::chunk`].
    pub const CHUNK: Duration = Duration::from_mins(1);

    /// Returns the timeout of a turn.
    pub fn total(&self) -> Duration {
        self.total.unwrap_or(Self::TOTAL)
    }

    /// Returns the timeout for the beginning of a reply.
    pub(crate) fn first_byte(&self) -> Duration {
        self.first_byte.unwrap_or(Self::FIRST_BYTE)
    }

    /// Returns the timeout for the next part of a reply.
    pub(crate) fn chunk(&self) -> Duration {
        self.chunk.unwrap_or(Self::CHUNK)
    }
}

/// How timeouts are written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum TimeoutForm {
    /// The timeout of a whole turn, in milliseconds.
    Total(Milliseconds),
    /// Timeouts of the parts of a turn.
    Parts(Timeouts),
}

/// A duration in milliseconds.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct Milliseconds(#[schemars(range(min = 1, max = 86_400_000))] u64);

impl From<TimeoutForm> for Timeouts {
    fn from(form: TimeoutForm) -> Self {
        match form {
            TimeoutForm::Total(Milliseconds(total)) => {
                Self { total: Some(Duration::from_millis(total)), ..Self::default() }
            }
            TimeoutForm::Parts(timeouts) => timeouts,
        }
    }
}
