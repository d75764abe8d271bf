//! The checked config that the server is built from.

use crate::agent::Agent;
use crate::auth::Auth;
use crate::embed::Embed;
use crate::home::Home;
use crate::limits::Limits;
use crate::limits::rate_limit::RateLimit;
use crate::model::Model;
use crate::rule::AccessRule;
use crate::section_type::Sections;
use crate::served::ServedAgent;
use agent::PolicySettings;
use config_source::{ConfigSource, Location};
use contract::{Confirm, DeclaredAnnotations, Price};
use indexmap::IndexMap;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use settings::mcp::{McpFeatures, McpTransport};
use settings::user_auth::{Service, UserAuth, UserVariable, UserVariables};
use settings::{Quota, Retention};
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use wire::locale::Locale;

/// A checked config: all references are valid and all values are in range.
#[derive(Clone, Debug)]
pub struct Config {
    /// A hash of the texts of all files that it was read from.
    pub fingerprint: u64,
    /// The connections by id, in the order of the file.
    pub connections: IndexMap<String, Connection>,
    /// The agents by id, in the order of the file.
    pub agents: IndexMap<String, Agent>,
    /// Which tool calls of all agents may run, beside the policies of the agents.
    pub policy: Option<PolicySettings>,
    /// The sections that capabilities bring.
    pub sections: Sections,
    /// The endpoints of the section `api` by id, in the order of the file.
    pub endpoints: IndexMap<String, Endpoint>,
    /// The pages in the order of the file. The first one is the start page.
    pub pages: Vec<Page>,
    /// The page at `/` that lists what the user may use. `None`: `/` is the first page.
    pub home: Option<Home>,
    /// How users sign in.
    pub auth: Auth,
    /// Which other sites may embed chats.
    pub embed: Option<Embed>,
    /// The origins of other sites whose images pages may show.
    pub image_origins: Vec<String>,
    /// The origins of other sites to which pages upload files.
    pub upload_origins: Vec<String>,
    /// The endpoints that other agent platforms may call.
    pub served_agent: Option<ServedAgent>,
    /// Timeouts, sizes and numbers that the server enforces.
    pub limits: Limits,
    /// Usage quotas per day or month.
    pub quotas: Vec<Quota>,
    /// Rate limits for users and addresses.
    pub rate_limits: Vec<RateLimit>,
    /// The proxies whose `X-Forwarded-For` header is accepted.
    pub trusted_proxies: Vec<IpNet>,
    /// The language and the texts of the UI. `None`: English.
    pub locale: Option<Locale>,
    /// The models among which users of agents choose, by id, in the order of the file.
    pub models: IndexMap<String, Model>,
    /// The prices of models by a prefix of the model's name. `default` is the price of all others.
    pub prices: IndexMap<String, Price>,
    /// The texts of the files that it was read from. They may hold secrets.
    pub source: Arc<ConfigSource>,
    /// The folder of the main file, if the config is on disk.
    pub folder: Option<PathBuf>,
    /// The URL of the database, if the config sets it: `sqlite://PATH`, `sqlite::memory:` or
    /// `postgres://…`.
    pub store: Option<SecretString>,
    /// How long data is retained.
    pub retention: Retention,
}

impl Config {
    /// Returns whether a connection has models of a provider, and not only those of the built-in demo.
    pub fn has_model_provider(&self) -> bool {
        let mut kinds = self.connections.values().map(|connection| &connection.kind);
        kinds.any(|kind| kind.is_model() && !matches!(kind, ConnectionKind::Demo(_)))
    }
}

/// A connection to an external service, such as a model provider or a database.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The connection's id.
    pub id: String,
    /// The type of service, with its settings.
    pub kind: ConnectionKind,
    /// Where the connection is declared.
    pub at: Location,
}

/// The type of a connection, with its settings.
#[derive(Clone, Debug)]
pub enum ConnectionKind {
    /// Anthropic's Messages API.
    Anthropic(ModelConnection),
    /// OpenAI's own APIs.
    OpenAi(ModelConnection),
    /// The Chat Completions API at any address.
    OpenAiCompatible(ModelConnection),
    /// Google's Gemini API.
    Google(ModelConnection),
    /// Vercel's AI Gateway.
    AiGateway(ModelConnection),
    /// The built-in offline model of the demo.
    Demo(DemoConnection),
    /// A SQL database.
    Sql(SqlConnection),
    /// An HTTP service.
    Http(HttpConnection),
    /// An MCP server.
    Mcp(McpConnection),
    /// A remote agent: a server that offers tools.
    RemoteAgent(RemoteAgentConnection),
    /// A type that a capability brings.
    Added(AddedConnection),
}

/// A connection whose type a capability brings. [`Connection::properties`] returns its properties.
#[derive(Clone)]
pub struct AddedConnection {
    pub(crate) type_name: &'static str,
    pub(crate) has_models: bool,
    pub(crate) properties: Arc<dyn Any + Send + Sync>,
}

/// Formats the type: the properties may hold secrets.
impl fmt::Debug for AddedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddedConnection").field(&self.type_name).finish()
    }
}

/// The types of connections that have models.
pub(crate) const MODEL_TYPES: [&str; 6] = ["Anthropic", "OpenAI", "OpenAICompatible", "Google", "AIGateway", "Demo"];

impl ConnectionKind {
    /// Returns the name of the type in a config.
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
            Self::Added(added) => added.type_name,
        }
    }

    /// Whether the connection has models.
    pub fn is_model(&self) -> bool {
        match self {
            Self::Added(added) => added.has_models,
            kind => MODEL_TYPES.contains(&kind.name()),
        }
    }
}

/// The settings of a connection to a model provider.
#[derive(Clone, Debug)]
pub struct ModelConnection {
    /// The API key, if the provider needs one.
    pub api_key: Option<SecretString>,
    /// The base URL if it is not the provider's own, without a slash at the end.
    pub base_url: Option<String>,
    /// Additional headers of each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether only public addresses are reached. Connections of a config reach any.
    pub public_only: bool,
}

/// The settings of the offline model.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DemoConnection {
    /// The pause between two words, in milliseconds.
    #[serde(rename = "delayMs", with = "settings::milliseconds")]
    #[schemars(with = "Option<u64>", range(max = 10_000))]
    pub delay: Option<Duration>,
}

/// The settings of a connection to a SQL database.
#[derive(Clone, Debug)]
pub struct SqlConnection {
    /// The URL: `sqlite://PATH`, `sqlite::memory:` or `postgres://…`. It may hold a password, so it
    /// is a secret.
    pub url: SecretString,
    /// Whether every statement that writes is refused.
    pub read_only: bool,
    /// SQL that is run once, if the database has no tables yet.
    pub init: Option<String>,
}

/// The settings of a connection to an HTTP service.
#[derive(Clone, Debug)]
pub struct HttpConnection {
    /// The base URL. Requests cannot leave it.
    pub base_url: Url,
    /// Additional headers of each request.
    pub headers: Vec<(String, SecretString)>,
    /// How the user's token is obtained that is sent with each request, if one is sent.
    pub auth: Option<UserAuth>,
    /// Whether this machine and private networks may be reached.
    pub allow_private: bool,
    /// The timeout of one request.
    pub timeout: Duration,
}

impl HttpConnection {
    /// Returns the service that is called on behalf of each user; `None` if no token of the user is sent.
    pub fn user_service(&self, id: &str) -> Option<Service> {
        let (auth, url) = (self.auth.clone()?, self.base_url.clone());
        Some(Service { name: id.to_owned(), url, allow_private: self.allow_private, is_mcp: false, auth })
    }
}

/// The settings of a connection to a remote agent.
#[derive(Clone, Debug)]
pub struct RemoteAgentConnection {
    /// The base URL, to which `/tools` is appended.
    pub base_url: Url,
    /// The API key, sent as `x-api-key`.
    pub api_key: SecretString,
    /// The bearer token that is sent for all users.
    pub token: Option<SecretString>,
    /// Whether the user's own access token is sent instead of `token`.
    pub user_token: bool,
    /// How the user's token is obtained, which is sent instead of `token`.
    pub auth: Option<UserAuth>,
    /// Variables by name. Each one is sent as the header `x-NAME`.
    pub variables: Vec<(String, SecretString)>,
    /// Variables that each user enters.
    pub user_variables: Vec<UserVariable>,
    /// Whether this machine and private networks may be reached.
    pub allow_private: bool,
    /// The timeout of one call.
    pub timeout: Duration,
}

impl RemoteAgentConnection {
    /// Returns the service that is called on behalf of each user; `None` if no token of an account or an exchange is sent.
    pub fn user_service(&self, id: &str) -> Option<Service> {
        let (auth, url) = (self.auth.clone()?, self.base_url.clone());
        Some(Service { name: id.to_owned(), url, allow_private: self.allow_private, is_mcp: false, auth })
    }

    /// Returns the variables that each user enters, if there are some.
    pub fn variables_of_users(&self, id: &str) -> Option<UserVariables> {
        let (url, variables) = (self.base_url.clone(), self.user_variables.clone());
        (!variables.is_empty()).then(|| UserVariables { connection: id.to_owned(), url, variables })
    }
}

/// The settings of a connection to an MCP server.
#[derive(Clone, Debug)]
pub struct McpConnection {
    /// The transport, with its settings.
    pub transport: McpTransport,
    /// Whether all users share one connection.
    pub shared: bool,
    /// What is used of the server beside its tools.
    pub features: McpFeatures,
}

/// A page with its access rule and its client tools.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page as the browser gets it.
    pub definition: wire::page::Page,
    /// Who may open the page.
    pub auth: AccessRule,
    /// The client tools as the model is told about them. Browsers do not get these definitions, so
    /// they cannot change them.
    pub client_tools: Vec<ClientTool>,
}

/// A tool that a page runs in the user's browser.
#[derive(Clone, Debug)]
pub struct ClientTool {
    /// The id of the chat block that declares the tool.
    pub block_id: String,
    /// The id of the agent that may call the tool from that chat.
    pub agent_id: String,
    /// The tool's name for the model.
    pub name: String,
    /// The tool's description for the model.
    pub description: String,
    /// The JSON Schema of the tool's input, an object.
    pub input_schema: Value,
    /// How the user approves each call. `None`: calls need no approval.
    pub confirm: Option<Confirm>,
    /// The tool's annotations.
    pub annotations: DeclaredAnnotations,
}

/// An endpoint: a routine that pages, agents and other clients can call.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The endpoint's id.
    pub id: String,
    /// The description for models.
    pub description: Option<String>,
    /// The secrets that its requests send: pairs of the environment variable's name and its value.
    pub secrets: Vec<(String, SecretString)>,
    /// The JSON Schema of the payload, which is valid.
    pub payload_schema: Option<Value>,
    /// The steps as written: requests and controls, with operators that are not evaluated yet.
    pub routine: Vec<Value>,
    /// Whether only routines, hooks and agents may call it (`InternalApi`).
    pub is_internal: bool,
    /// Who may call it, directly or through a routine, a hook or an agent.
    pub auth: AccessRule,
    /// Where the endpoint is declared.
    pub at: Location,
    /// Where its steps are declared, by their ids.
    pub step_positions: HashMap<String, Location>,
}
