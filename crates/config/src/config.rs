//! A checked config: what the server is built from.

use crate::source::Location;
use indexmap::IndexMap;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::time::Duration;

/// A config in which every reference leads somewhere and every value is in range.
#[derive(Clone, Debug)]
pub struct Config {
    /// By id, in the order of the file.
    pub connections: IndexMap<String, Connection>,
    /// By id, in the order of the file.
    pub agents: IndexMap<String, Agent>,
    /// The section `api`: by id, in the order of the file.
    pub endpoints: IndexMap<String, Endpoint>,
    /// In the order of the file; the first one is the start page.
    pub pages: Vec<wire::page::Page>,
    /// Who may use the server.
    pub auth: Auth,
    /// Bounds of time, size and number.
    pub limits: Limits,
    /// Where conversations are kept, if the config says so: `sqlite://PATH` or `sqlite::memory:`.
    pub store: Option<SecretString>,
}

/// Something outside: a model provider, a database.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: ConnectionKind,
    /// Where it was declared.
    pub at: Location,
}

/// What a connection is, with its settings.
#[derive(Clone, Debug)]
pub enum ConnectionKind {
    /// Anthropic's Messages API.
    Anthropic(ModelConnection),
    /// OpenAI's own APIs.
    OpenAi(ModelConnection),
    /// Chat Completions at any address.
    OpenAiCompatible(ModelConnection),
    /// Google's Gemini API.
    Google(ModelConnection),
    /// Vercel's AI Gateway.
    AiGateway(ModelConnection),
    /// The offline model of the demo.
    Demo(DemoConnection),
    /// A SQL database.
    Sql(SqlConnection),
}

impl ConnectionKind {
    /// Its type as it is written in a config.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Anthropic(_) => "Anthropic",
            Self::OpenAi(_) => "OpenAI",
            Self::OpenAiCompatible(_) => "OpenAICompatible",
            Self::Google(_) => "Google",
            Self::AiGateway(_) => "AIGateway",
            Self::Demo(_) => "Demo",
            Self::Sql(_) => "Sql",
        }
    }

    /// Whether agents can be run over it.
    pub fn is_model(&self) -> bool {
        !matches!(self, Self::Sql(_))
    }
}

/// How to reach a model provider.
#[derive(Clone, Debug)]
pub struct ModelConnection {
    /// The key, where one is needed.
    pub api_key: Option<SecretString>,
    /// Instead of the provider's own address, without a slash at the end.
    pub base_url: Option<String>,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
}

/// The offline model.
#[derive(Clone, Copy, Debug)]
pub struct DemoConnection {
    /// Between two words; absent: the model's own pace.
    pub delay: Option<Duration>,
}

/// A SQL database.
#[derive(Clone, Debug)]
pub struct SqlConnection {
    /// `sqlite://PATH` or `sqlite::memory:`; it may hold a password one day, so it is not shown.
    pub url: SecretString,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// SQL that is run when the server connects.
    pub init: Option<String>,
}

/// A model with instructions and tools.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its type.
    pub agent_type: AgentType,
    /// A connection of the config that has a model.
    pub connection_id: String,
    /// The provider's name for the model.
    pub model: String,
    /// Its instructions.
    pub instructions: Option<String>,
    /// Requests to the model in one turn.
    pub max_steps: u32,
    /// Retries of a failed request.
    pub max_retries: u32,
    /// Sampling settings.
    pub sampling: Sampling,
    /// Whether and which tool must be called.
    pub tool_choice: ToolChoice,
    /// The tools that are offered, by name; absent: all.
    pub active_tools: Option<Vec<String>>,
    /// A call of one of these ends the turn.
    pub stop_on_tool_call: Vec<String>,
    /// Bounds of time of its own.
    pub timeouts: AgentTimeouts,
    /// Keyed by provider, in the provider's own words: merged into each request as they are.
    pub provider_options: Map<String, Value>,
    /// Which of OpenAI's APIs an `OpenAIAgent` speaks.
    pub openai_api: OpenAiApi,
    /// Endpoints that it may call.
    pub tools: Vec<ToolRef>,
    /// Where it was declared.
    pub at: Location,
}

/// An agent's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentType {
    /// Over Anthropic.
    Claude,
    /// Over OpenAI.
    OpenAi,
    /// Over Google.
    Gemini,
    /// Over the AI Gateway.
    AiGateway,
    /// Over any connection that has a model.
    Any,
}

/// Which of OpenAI's APIs is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenAiApi {
    /// The Responses API.
    #[default]
    Responses,
    /// Chat Completions.
    Chat,
}

/// Sampling settings; absent: the provider's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// At least 1.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// At least 1.
    pub top_k: Option<u32>,
    /// -1 to 1.
    pub frequency_penalty: Option<f64>,
    /// -1 to 1.
    pub presence_penalty: Option<f64>,
    /// For repeatable replies.
    pub seed: Option<i64>,
    /// Ends the reply where one of these would be written.
    pub stop_sequences: Vec<String>,
}

/// Whether and which tool must be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Some tool.
    Required,
    /// None.
    None,
    /// The one with this name.
    Tool(String),
}

/// Bounds of time of one agent; absent: those of [`Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentTimeouts {
    /// A whole turn.
    pub total: Option<Duration>,
    /// One request to the model with its answer.
    pub step: Option<Duration>,
    /// Between two pieces of an answer.
    pub chunk: Option<Duration>,
}

/// An endpoint as an agent's tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRef {
    /// An endpoint of the config that has a description and a payload schema.
    pub endpoint_id: String,
    /// Ask the user before each call.
    pub confirm: bool,
    /// What the model calls it: up to 64 letters, digits, `_` and `-`; unique among the agent's tools.
    pub name: String,
}

/// A routine that pages, agents and other clients can call.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its id.
    pub id: String,
    /// What it does, for models.
    pub description: Option<String>,
    /// A valid JSON Schema for the payload.
    pub payload_schema: Option<Value>,
    /// Its steps as written: requests and controls, operators not evaluated.
    pub routine: Vec<Value>,
    /// Where it was declared.
    pub at: Location,
}

/// Who may use the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// One owner, on this machine only.
    #[default]
    Local,
}

/// Bounds of time, size and number, each with a default that suits one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the headers of a request.
    pub header_read: Duration,
    /// For the body of a request.
    pub body_read: Duration,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Open connections.
    pub connections: usize,
    /// Open connections from one address.
    pub connections_per_address: usize,
    /// Between two signs of life on an idle stream.
    pub heartbeat: Duration,
    /// For running turns to end when the server stops.
    pub drain: Duration,
    /// A whole turn.
    pub turn: Duration,
    /// For the first byte of a provider's answer.
    pub first_byte: Duration,
    /// Between two pieces of a provider's answer.
    pub idle: Duration,
    /// One call of a tool.
    pub tool: Duration,
    /// Tools that one turn runs at the same time.
    pub parallel_tools: usize,
}
