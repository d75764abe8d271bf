//! A definition as programs write it, and the custom agent that it is.

use super::MAX_DEFINITIONS;
use crate::CustomAgents;
use crate::definition::CustomAgent;
use crate::store::CustomAgentRow;
use capability::Context;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use wire::UserError;

/// The definition of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentDefinition {
    /// The name by which it is stored: letters from a to z, digits and hyphens. Upper and lower case make
    /// no difference.
    pub(super) name: String,
    /// The name that users read. Default: `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    /// The purpose.
    #[serde(default)]
    description: String,
    /// The instructions.
    instructions: String,
    /// The agent of the config that it is based on. Default: the first of `customAgents.from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// A model of the section `models`. Default: the models of the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The tools of the base agent that it has.
    #[serde(default)]
    tools: ToolNames,
    /// How it works. Default: as the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workflows: Option<WorkSettings>,
    /// Must be empty: what an agent may do is decided by the roles of the user.
    #[serde(default)]
    scopes: Vec<String>,
    /// Whether the `fallbackModels` of the base agent answer when its model fails. Default: as the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allow_frontier_fallback: Option<bool>,
    /// Must be `false`: built-in agents are those of the config.
    #[serde(default)]
    is_builtin: bool,
}

/// The tools of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolNames {
    /// Names of tools, and `knowledge:LIBRARY`, `skills:SKILL`, `mcp:SERVER` and so on, as in the console.
    #[serde(default)]
    names: Vec<String>,
}

/// How an agent works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkSettings {
    /// How often it goes on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    execution_mode: Option<ExecutionModeName>,
    /// In which way it uses its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_strategy: Option<ToolStrategyName>,
    /// The most steps with tool calls, with `run_max_iterations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_iterations: Option<u32>,
}

/// How often an agent goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum ExecutionModeName {
    /// Tools in one step; then it answers.
    #[serde(rename = "run_once")]
    Once,
    /// Until it is done, or a limit is reached.
    #[serde(rename = "run_until_done")]
    UntilDone,
    /// At most `max_iterations` steps with tools.
    #[serde(rename = "run_max_iterations")]
    MaxIterations,
}

/// In which way an agent uses its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ToolStrategyName {
    /// The model decides.
    LlmDriven,
    /// One call after the other.
    Sequential,
    /// Independent calls in one step.
    Parallel,
    /// The tools in the order of `tools.names`, each once.
    PredefinedPipeline,
}

/// One definition, or a list of up to 100.
#[derive(Deserialize)]
pub(super) struct Definitions(pub(super) Value);

impl JsonSchema for Definitions {
    fn schema_name() -> Cow<'static, str> {
        "AgentDefinitions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<AgentDefinition>();
        let list = json_schema!({ "type": "array", "items": one, "maxItems": MAX_DEFINITIONS });
        json_schema!({ "description": "One definition, or a list of them.", "anyOf": [one, list] })
    }
}

/// A stored definition.
#[derive(Serialize, JsonSchema)]
pub(super) struct StoredDefinition {
    #[serde(flatten)]
    definition: AgentDefinition,
    /// The id of the agent, and of its page.
    id: String,
    /// Its version; counts from 1.
    version: i64,
    /// Whether the running config has the agent. It has not if its base is gone, or no longer has a model
    /// or a library that the agent uses.
    available: bool,
    /// Unix time in milliseconds.
    created_at: i64,
    /// Unix time in milliseconds.
    updated_at: i64,
}

impl AgentDefinition {
    /// Returns the custom agent.
    ///
    /// # Errors
    /// 422 for what has no meaning here.
    pub(super) fn into_agent(self, config: &config::Config) -> Result<CustomAgent, UserError> {
        let Some(allowed) = config.section::<CustomAgents>() else {
            let message = "The config does not allow custom agents: it has no section `customAgents`.";
            return Err(UserError::invalid("/", message));
        };
        let from = self.from.or_else(|| allowed.from.first().cloned()).unwrap_or_default();
        if self.is_builtin {
            let message = "Built-in agents are those of the config. Leave this out, or send false.";
            return Err(UserError::invalid("/is_builtin", message));
        }
        if !self.scopes.is_empty() {
            let message =
                "Scopes have no meaning here: the roles of the user decide what the agent may do. Leave them out.";
            return Err(UserError::invalid("/scopes", message));
        }
        let has_fallbacks = config.agents.get(&from).is_some_and(|base| !base.fallback_models.is_empty());
        if self.allow_frontier_fallback == Some(true) && !has_fallbacks {
            let message = format!("The agent `{from}` has no `fallbackModels` in the config.");
            return Err(UserError::invalid("/allow_frontier_fallback", message));
        }
        let tools = self.tools.names;
        let (execution_mode, tool_strategy) = match self.workflows {
            Some(settings) => (settings.execution_mode()?, settings.tool_strategy(&tools)),
            None => (None, None),
        };
        Ok(CustomAgent {
            name: self.display_name.unwrap_or(self.name),
            description: self.description,
            picture: String::new(),
            from,
            instructions: self.instructions,
            tools,
            model: self.model,
            execution_mode,
            tool_strategy,
            fallbacks: self.allow_frontier_fallback,
        })
    }
}

impl WorkSettings {
    /// Returns the key `executionMode`.
    fn execution_mode(&self) -> Result<Option<Value>, UserError> {
        use ExecutionModeName::{MaxIterations, Once, UntilDone};
        match (self.execution_mode, self.max_iterations) {
            (None, None) => Ok(None),
            (Some(Once), None) => Ok(Some("once".into())),
            (Some(UntilDone), None) => Ok(Some("untilDone".into())),
            (Some(MaxIterations), Some(most)) => Ok(Some(json!({ "atMost": most }))),
            _ => {
                let message = "`max_iterations` goes with `run_max_iterations`, and with no other mode.";
                Err(UserError::invalid("/workflows/max_iterations", message))
            }
        }
    }

    /// Returns the key `toolStrategy`.
    fn tool_strategy(&self, tools: &[String]) -> Option<Value> {
        Some(match self.tool_strategy? {
            ToolStrategyName::LlmDriven => "model".into(),
            ToolStrategyName::Sequential => "sequential".into(),
            ToolStrategyName::Parallel => "parallel".into(),
            ToolStrategyName::PredefinedPipeline => json!({ "pipeline": tools }),
        })
    }

    /// Returns how a custom agent works; `None` if as its base.
    fn from_agent(custom: &CustomAgent) -> Option<Self> {
        let mode = custom.execution_mode.as_ref();
        let max_iterations = mode.and_then(|mode| mode["atMost"].as_u64()).and_then(|most| u32::try_from(most).ok());
        let execution_mode = mode.map(|mode| match mode.as_str() {
            Some("once") => ExecutionModeName::Once,
            Some(_) => ExecutionModeName::UntilDone,
            None => ExecutionModeName::MaxIterations,
        });
        let tool_strategy = custom.tool_strategy.as_ref().map(|strategy| match strategy.as_str() {
            Some("sequential") => ToolStrategyName::Sequential,
            Some("parallel") => ToolStrategyName::Parallel,
            Some(_) => ToolStrategyName::LlmDriven,
            None => ToolStrategyName::PredefinedPipeline,
        });
        let settings = Self { execution_mode, tool_strategy, max_iterations };
        (settings.execution_mode.is_some() || settings.tool_strategy.is_some()).then_some(settings)
    }
}

impl StoredDefinition {
    pub(super) fn new(state: &Context, row: CustomAgentRow) -> Option<Self> {
        let custom: CustomAgent = serde_json::from_value(row.definition).ok()?;
        let workflows = WorkSettings::from_agent(&custom);
        let definition = AgentDefinition {
            name: row.name?,
            display_name: Some(custom.name),
            description: custom.description,
            instructions: custom.instructions,
            from: Some(custom.from),
            model: custom.model,
            tools: ToolNames { names: custom.tools },
            workflows,
            scopes: Vec::new(),
            allow_frontier_fallback: custom.fallbacks,
            is_builtin: false,
        };
        Some(Self {
            definition,
            available: state.current.config().agents.contains_key(&row.id),
            id: row.id,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}
