//! The connections of a checked config.

use config_source::Location;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use settings::mcp::{McpFeatures, McpTransport};
use settings::user_auth::{Service, UserAuth, UserVariable, UserVariables};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

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
    /// The features of the server that are used in addition to its tools.
    pub features: McpFeatures,
}
