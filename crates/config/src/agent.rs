//! An agent of a checked config.

mod hooks;
mod model;
mod provider_search;
mod tools;

pub use hooks::Hooks;
pub use model::{AgentType, ModelRef, OpenAiApi, Titles};
pub use tools::{
    AnnotatedTools, Delegation, FileSystem, McpRef, RemoteAgentRef, SourceAnnotations, SubAgentRef, ToolRef,
};

use crate::model::{AllowedModels, UnreadFiles};
use crate::rule::AccessRule;
use crate::section_type::Sections;
use agent::{PolicySettings, RunSettings};
use config_source::Location;
use secrecy::SecretString;
use serde_json::Value;
use std::sync::Arc;

/// An agent: a model with instructions, tools and limits.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The agent's id.
    pub id: String,
    /// The name for users. `None`: the id.
    pub title: Option<String>,
    /// The purpose of the agent, for users.
    pub description: Option<String>,
    /// The address of an image (`/…` or `https://…`), or one or two characters.
    pub picture: Option<String>,
    /// The agent's type.
    pub agent_type: AgentType,
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model. Empty if an operator decides it for each turn.
    pub model: String,
    /// The models among which users choose. `None`: there is no choice. [`Agent::for_turn`] returns the
    /// agent with one of them; the fields here are those of the default.
    pub models: Option<AllowedModels>,
    /// The files that the model is not sent.
    pub unread_files: UnreadFiles,
    /// The models to try, in this order, if a model fails before its reply begins.
    pub fallback_models: Vec<ModelRef>,
    /// How a model names new conversations. `None`: they are named after the first words.
    pub titles: Option<Titles>,
    /// The model that summarises the older messages of a long conversation. `None`: the agent's own.
    pub summary_model: Option<ModelRef>,
    /// The instructions: a text, or an operator that is evaluated for each turn.
    pub instructions: Option<Value>,
    /// Whether the agent extracts records, so that models which write their reasoning into their text
    /// are told not to.
    pub extracts_records: bool,
    /// The routes among which each turn takes one; none if the agent always answers in the same way.
    pub routes: &'static [agent::Route],
    /// The settings of the agent's runs, without what depends on the server.
    pub settings: RunSettings,
    /// Whether the agent is told about the page, the user, the conversation and the page's address.
    pub page_context: bool,
    /// Whether the agent may ask the user a question and wait for the answer.
    pub ask_user: bool,
    /// The properties above that hold operators. [`Agent::for_turn`] takes their values.
    pub dynamic_properties: Option<Arc<DynamicProperties>>,
    /// The agent's other keys and properties as written, into which values and models are put.
    pub(crate) static_entry: Arc<Value>,
    /// The secrets that these properties refer to: pairs of the environment variable's name and its
    /// value.
    pub secrets: Vec<(String, SecretString)>,
    /// The OpenAI API that an `OpenAIAgent` uses.
    pub openai_api: OpenAiApi,
    /// The endpoints that the agent may call as tools.
    pub tools: Vec<ToolRef>,
    /// The MCP servers whose tools the agent may call.
    pub mcp: Vec<McpRef>,
    /// The names of further MCP servers of the agent that cannot be used now: administrators have switched
    /// them off, or what they need is missing. Agents that are made of this one may still choose them.
    pub unavailable_mcp: Vec<String>,
    /// The remote agents whose tools the agent may call.
    pub remote_agents: Vec<RemoteAgentRef>,
    /// The sub-agents that the agent may delegate tasks to. They never form a cycle.
    pub agents: Vec<SubAgentRef>,
    /// Whether the agent may hand tasks to a copy of itself, and how.
    pub delegation: Option<Delegation>,
    /// Which tool calls may run. `None`: all.
    pub policy: Option<PolicySettings>,
    /// The endpoints that are called during the agent's runs.
    pub hooks: Hooks,
    /// The sections that capabilities bring.
    pub sections: Sections,
    /// The folder that the agent may read.
    pub file_system: Option<FileSystem>,
    /// Who may use the agent.
    pub auth: AccessRule,
    /// Where the agent is declared.
    pub at: Location,
}

/// The properties of an agent that hold operators and therefore have a value only for a turn.
#[derive(Clone, Debug)]
pub struct DynamicProperties {
    /// The properties with operators.
    pub properties: Vec<DynamicProperty>,
}

/// A property that holds operators.
#[derive(Clone, Debug)]
pub struct DynamicProperty {
    /// The property's key.
    pub name: String,
    /// The value as written, with its operators.
    pub value: Value,
    /// Whether `_secret` is allowed in it: only in what is sent to the provider unchanged.
    pub may_hold_secrets: bool,
    /// Where the value is written.
    pub at: Location,
}
