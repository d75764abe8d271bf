//! A checked config: what the server is built from.

use crate::agent::{Agent, Confirm, Marks};
use crate::auth::Auth;
use crate::embed::Embed;
use crate::operation::{CustomAgents, Rate, Retention};
use crate::rule::Rule;
use crate::served::ServedAgent;
use crate::source::Location;
use indexmap::IndexMap;
use ipnet::IpNet;
use secrecy::SecretString;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;
use wire::locale::Locale;

/// A config in which every reference leads somewhere and every value is in range.
#[derive(Clone, Debug)]
pub struct Config {
    /// By id, in the order of the file.
    pub connections: IndexMap<String, Connection>,
    /// By id, in the order of the file.
    pub agents: IndexMap<String, Agent>,
    /// What administrators may make agents of, if they may.
    pub custom_agents: Option<CustomAgents>,
    /// The section `api`: by id, in the order of the file.
    pub endpoints: IndexMap<String, Endpoint>,
    /// In the order of the file; the first one is the start page.
    pub pages: Vec<Page>,
    /// Who may use the server.
    pub auth: Auth,
    /// Which other sites may show chats.
    pub embed: Option<Embed>,
    /// Other sites whose pictures are shown, as origins.
    pub pictures: Vec<String>,
    /// Other sites to which pages send files, as origins.
    pub uploads: Vec<String>,
    /// What other agent platforms may call.
    pub served: Option<ServedAgent>,
    /// Bounds of time, size and number.
    pub limits: Limits,
    /// What users may use in a day or a month.
    pub quotas: Vec<Quota>,
    /// How often users and addresses may ask.
    pub rates: Vec<Rate>,
    /// The proxies in front of the server, whose word about addresses counts.
    pub trusted_proxies: Vec<IpNet>,
    /// The words of the UI, where they are not the English ones.
    pub locale: Option<Locale>,
    /// What models cost, by the beginning of their names; `default` is for all others.
    pub prices: IndexMap<String, Price>,
    /// The folder of the main file, if the config is on disk.
    pub folder: Option<PathBuf>,
    /// Where conversations are kept, if the config says so: `sqlite://PATH`, `sqlite::memory:` or `postgres://…`.
    pub store: Option<SecretString>,
    /// For how long.
    pub retention: Retention,
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Input that was read from a cache.
    pub cache_read: f64,
    /// Input that was written to a cache.
    pub cache_write: f64,
    /// Output, reasoning included.
    pub output: f64,
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
    /// A web service.
    Http(HttpConnection),
    /// An MCP server.
    Mcp(McpConnection),
    /// A remote tool-agent.
    RemoteAgent(RemoteConnection),
}

/// The types of connections that have models.
pub(crate) const MODEL_TYPES: [&str; 6] = ["Anthropic", "OpenAI", "OpenAICompatible", "Google", "AIGateway", "Demo"];

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
            Self::Http(_) => "Http",
            Self::Mcp(_) => "Mcp",
            Self::RemoteAgent(_) => "RemoteAgent",
        }
    }

    /// Whether agents can be run over it.
    pub fn is_model(&self) -> bool {
        MODEL_TYPES.contains(&self.name())
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
    /// `sqlite://PATH`, `sqlite::memory:` or `postgres://…`; it may hold a password, so it is not shown.
    pub url: SecretString,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// SQL that is run once, when the database has no tables yet.
    pub init: Option<String>,
}

/// A web service.
#[derive(Clone, Debug)]
pub struct HttpConnection {
    /// The address below which every request stays.
    pub base_url: Url,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether addresses of this machine and its networks may be reached.
    pub allow_private: bool,
    /// For one request.
    pub timeout: Duration,
}

/// A remote tool-agent.
#[derive(Clone, Debug)]
pub struct RemoteConnection {
    /// What `/tools` is put behind.
    pub base_url: Url,
    /// Sent as `x-api-key`.
    pub api_key: SecretString,
    /// Sent as a bearer's token.
    pub token: Option<SecretString>,
    /// Instead of it, what the user came with is sent.
    pub user_token: bool,
    /// Each is sent as a header, `x-` and its name.
    pub variables: Vec<(String, SecretString)>,
    /// Whether addresses of this machine and its networks may be reached.
    pub allow_private: bool,
    /// For one call.
    pub timeout: Duration,
}

/// An MCP server.
#[derive(Clone, Debug)]
pub struct McpConnection {
    /// How it is reached.
    pub transport: McpTransport,
    /// One connection for all users.
    pub shared: bool,
}

/// How an MCP server is reached.
#[derive(Clone, Debug)]
pub enum McpTransport {
    /// Streamable HTTP.
    Http(McpHttp),
    /// The HTTP transport of 2024.
    Sse(McpHttp),
    /// A program that is started here.
    Stdio(McpStdio),
}

/// An address of an MCP server.
#[derive(Clone, Debug)]
pub struct McpHttp {
    /// The address.
    pub url: Url,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether its name may lead to this machine or its networks.
    pub allow_private: bool,
    /// How to get a token.
    pub oauth: Option<McpOauth>,
}

/// OAuth for programs.
#[derive(Clone, Debug)]
pub struct McpOauth {
    /// Where tokens are given.
    pub token_url: Url,
    /// Who asks.
    pub client_id: String,
    /// Its secret.
    pub client_secret: SecretString,
    /// Instead of the grant for programs.
    pub refresh_token: Option<SecretString>,
    /// What for.
    pub scope: Option<String>,
}

/// A program that is an MCP server.
#[derive(Clone, Debug)]
pub struct McpStdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, besides what every program needs.
    pub env: Vec<(String, SecretString)>,
}

/// A page, and who may open it.
#[derive(Clone, Debug)]
pub struct Page {
    /// What the browser gets.
    pub definition: wire::page::Page,
    /// Who may open it.
    pub auth: Rule,
    /// What it does for agents, as they are told. It never reaches the browser, so no browser can change it.
    pub client_tools: Vec<ClientTool>,
}

/// A tool that a page runs in the user's browser.
#[derive(Clone, Debug)]
pub struct ClientTool {
    /// The chat that has it, by the id of its block.
    pub block_id: String,
    /// The agent that may call it, from that chat.
    pub agent_id: String,
    /// What the model calls it.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of an object.
    pub input_schema: Value,
    /// Whether and how the user is asked before each call.
    pub confirm: Option<Confirm>,
    /// What it does with data.
    pub marks: Marks,
}

/// A routine that pages, agents and other clients can call.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its id.
    pub id: String,
    /// What it does, for models.
    pub description: Option<String>,
    /// The secrets that its requests send, by the names of their variables.
    pub secrets: Vec<(String, SecretString)>,
    /// A valid JSON Schema for the payload.
    pub payload_schema: Option<Value>,
    /// Its steps as written: requests and controls, operators not evaluated.
    pub routine: Vec<Value>,
    /// Only routines, hooks and agents may call it (`InternalApi`).
    pub is_internal: bool,
    /// Who may call it, also through those.
    pub auth: Rule,
    /// Where it was declared.
    pub at: Location,
}

/// What each of some users may use in a span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// For users with one of these roles.
    pub roles: Vec<String>,
    /// For these users, by id. With neither it is for everybody.
    pub users: Vec<String>,
    /// When it begins anew.
    pub span: QuotaSpan,
    /// Messages, and questions of programs.
    pub messages: Option<u64>,
    /// Tokens in and out.
    pub tokens: Option<u64>,
    /// US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
}

/// A span of time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaSpan {
    /// A day.
    Day,
    /// A month.
    Month,
}

/// Bounds of time, size and number, each with a default that suits one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the headers of a request.
    pub header_read: Duration,
    /// For the body of a request; a second more for each 16 KiB that has come.
    pub body_read: Duration,
    /// Bytes of a request's body; files have a bound of their own.
    pub body_bytes: usize,
    /// Bytes of a message's text.
    pub text_bytes: usize,
    /// Bytes of a file that a user attaches.
    pub file_bytes: u64,
    /// Bytes of all files that one user keeps.
    pub user_file_bytes: u64,
    /// Open connections.
    pub connections: usize,
    /// Open connections from one address.
    pub connections_per_address: usize,
    /// Within it, a client takes something of what is written to it.
    pub write: Duration,
    /// Between two signs of life on an idle stream.
    pub heartbeat: Duration,
    /// For running turns to end when the server stops.
    pub drain: Duration,
    /// Answers that are written at the same time.
    pub runs: usize,
    /// Of those, answers for one user; without it by the mode of `auth`.
    pub runs_per_user: Option<usize>,
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
    /// Agents below others that work at the same time in one turn.
    pub parallel_agents: usize,
}
