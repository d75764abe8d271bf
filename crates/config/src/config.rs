//! The checked config that the server is built from.

use crate::agent::Agent;
use crate::auth::Auth;
use crate::connection::{Connection, ConnectionKind};
use crate::embed::Embed;
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
use secrecy::SecretString;
use serde_json::Value;
use settings::{Quota, Retention};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
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

/// The page at `/` with the pages and agents that the user may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Home {
    /// The heading. `None`: the UI's own.
    pub title: Option<String>,
    /// The text below the heading.
    pub description: Option<String>,
    /// The agents without a page that get one. `None`: all that are not sub-agents.
    pub agents: Option<Vec<String>>,
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
