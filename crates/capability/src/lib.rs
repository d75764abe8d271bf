#![doc = include_str!("../README.md")]

mod additions;
mod annotations;
mod chat_posts;
mod context;
mod job;
mod libraries;
mod memories;
mod project_files;
mod quotes;
mod running;
mod service_tokens;
mod status;
mod user_documents;
mod user_prompts;
mod waiting;

pub use additions::{ConfigAdditions, ConfigOverlay, StoredAdditions, Written};
pub use annotations::{annotated, annotated_source};
pub use chat_posts::{ChatPost, ChatPosts, PostError, PostToChats};
pub use context::{
    Context, CurrentConfig, DraftConfigs, EndpointCall, EndpointFailure, ModelFailure, ModelQuestion, QuestionFile,
};
pub use job::{Job, RepeatedJob};
pub use libraries::{FindLibraries, Libraries, ListLibraries, ReadableLibrary};
pub use memories::{Memories, RememberFacts, RememberedFact, RememberedFacts};
pub use project_files::{FileState, Membership, NewProjectFile, ProjectFile, ProjectFiles, ProjectMembers};
pub use quotes::{FindQuotes, QuotedDocument, Quotes};
pub use running::Capabilities;
pub use service_tokens::{
    AfterRefusal, AskToOpen, MAX_TOKEN_RENEWALS, PageToOpen, ProvideTokens, ServiceTokens, TokenProblem, TokenRefusal,
    UserValues, VariableProblem,
};
pub use status::ToolServerStatus;
pub use user_documents::{
    DocumentFile, DocumentText, TextPosition, UserDocument, UserDocumentId, UserDocumentPage, UserDocuments,
};
pub use user_prompts::{FilledPrompt, UserPrompt, UserPromptPage, UserPromptVariable, UserPrompts};
pub use waiting::{FindWaiting, TellOfWaiting, Waiting, WaitingItem, WaitingKind};

pub use chat::{Caller, LifecycleEvent};
pub use settings::user_auth::{Service, SignInTokens};

use agent::{Policy, RunRecorder};
use chat::AgentRequest;
use config::{Config, Connection, ConnectionType, Language, SectionType};
use contract::{Model, Tool, ToolSource};
use endpoints::OpenDatabases;
use futures::future::BoxFuture;
use jobs::Jobs;
use operators::Operators;
use serde_json::{Map, Value};
use std::sync::Arc;
use store::{CapabilityTables, Store};
use web::ApiFormat;
use web::admin::{MenuCount, MenuEntry, Section};
use web::html::AccountPage;
use web::openapi::ApiRouter;
use wire::UserError;
use wire::api::RunOptions;

/// Starts a capability. The server does not start if that fails.
pub type Start = fn(&Host) -> anyhow::Result<Arc<dyn Capability>>;

/// The parts of a capability.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The name of the capability, in snake case.
    pub name: &'static str,
    /// The parts of the config that it reads.
    pub sections: &'static [SectionType],
    /// The types of connections that it brings.
    pub connections: &'static [ConnectionType],
    /// The operators that it brings, which the server evaluates: in agents and in routines of
    /// endpoints.
    pub operators: &'static [operators::Definition],
    /// The tables that it stores its data in.
    pub tables: Option<CapabilityTables>,
    /// Changes of the config's files that it stores in the database.
    pub config_overlay: Option<ConfigOverlay>,
    /// Entries of the config that it stores in the database.
    pub config_additions: Option<ConfigAdditions>,
    /// Starts the capability. `None` if it does nothing while the server runs.
    pub start: Option<Start>,
}

impl Definition {
    /// A capability that brings nothing: `..Definition::new("notes")` stands for the parts that a
    /// capability does not have.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            sections: &[],
            connections: &[],
            operators: &[],
            tables: None,
            config_overlay: None,
            config_additions: None,
            start: None,
        }
    }
}

/// The parts of the server that a capability gets.
#[derive(Clone)]
pub struct Host {
    /// The database, with the tables of all capabilities.
    pub store: Store,
    /// The queue of background work in this database.
    pub jobs: Jobs,
    /// The SQL connections of the config in use.
    pub databases: OpenDatabases,
    /// The search for quotes in the documents of agents.
    pub quotes: Quotes,
    /// The libraries that users may read, and those that conversations have of their own.
    pub libraries: Libraries,
    /// The memories of agents about users.
    pub memories: Memories,
    /// Tokens of users for services that are called on their behalf.
    pub tokens: ServiceTokens,
    /// The sources of things that wait for people, and the notifier of these people.
    pub waiting: Waiting,
    /// The sender of messages to chats of messengers.
    pub chat_posts: ChatPosts,
}

/// A capability of a running server. It lives as long as the server, over all changes of the config.
pub trait Capability: Send + Sync + 'static {
    /// Returns the tools of an agent. Called for each agent whenever a config is built, even if that
    /// config is not used in the end. To keep a connection open over changes of the config, return
    /// the same connection for equal settings.
    ///
    /// # Errors
    /// The config cannot be used, for example because of an invalid pattern. The message is for the
    /// operator.
    fn agent_tools(&self, _config: &Config, _agent: &config::Agent) -> anyhow::Result<AgentTools> {
        Ok(AgentTools::default())
    }

    /// Returns a model of a connection whose type the capability brings; `None` for other types. Called
    /// for each agent and each step of a routine that uses a model of the connection.
    fn model(&self, _connection: &Connection, _model: &str) -> Option<Arc<dyn Model>> {
        None
    }

    /// Returns a model of an agent with what the capability adds to it, such as a check of what it writes.
    /// Called for each model of the agent whenever a config is built.
    fn wrap_model(&self, _agent: &config::Agent, model: Arc<dyn Model>) -> Arc<dyn Model> {
        model
    }

    /// Returns what records a run of the agent that a user has asked for; `None` if its runs are not
    /// recorded. The first capability with a recorder records.
    fn recorder(
        &self,
        _config: &Config,
        _agent: &config::Agent,
        _request: &AgentRequest<'_>,
    ) -> Option<Arc<dyn RunRecorder>> {
        None
    }

    /// Returns properties that the composers of chats with the agent get (`wire::page::SenderProperties`),
    /// beside those of the config. Lists are added to those that the config has.
    fn composer(&self, _config: &Config, _agent: &config::Agent) -> Map<String, Value> {
        Map::new()
    }

    /// Checks what a user has chosen for an answer of the agent, as far as the capability knows it.
    ///
    /// # Errors
    /// The agent does not allow it, or the user has no right to it: 422 with the path of the option.
    fn check_options<'a>(
        &'a self,
        _caller: &'a Caller,
        _agent: &'a config::Agent,
        _options: &'a RunOptions,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns whether tools need the user's own token with this config, so that the server keeps
    /// the token of a request for its runs.
    fn needs_user_tokens(&self, _config: &Config) -> bool {
        false
    }

    /// Returns the status of the servers whose tools the capability offers.
    fn tool_servers(&self) -> Vec<ToolServerStatus> {
        Vec::new()
    }

    /// Returns its routes for callers. A request has an extension with its [`chat::Caller`].
    fn routes(&self, _context: &Context) -> Option<ApiRouter> {
        None
    }

    /// Returns its routes for callers whose bodies may be larger than those of other requests. The handlers
    /// check the caller first, and bound the body themselves.
    fn upload_routes(&self, _context: &Context) -> Option<ApiRouter> {
        None
    }

    /// Returns its routes for other services, which prove by a signature or a key who they are. The
    /// handlers check it, before anything else. Their tag has [`web::openapi::Access::Senders`].
    fn sender_routes(&self, _context: &Context) -> Option<ApiRouter> {
        None
    }

    /// Returns which of its paths are those of another service's API, with the form of its errors. API keys
    /// can be used for them as for paths below `/api/`.
    fn api_format(&self) -> Option<ApiFormat> {
        None
    }

    /// Returns the value of `WWW-Authenticate` in a response of one of its paths with a form of errors to callers
    /// who are not signed in, such as where they get a token. `origin` is that under which the client reaches
    /// this server, if it is known. Default: `Bearer`.
    fn challenge(&self, _config: &Config, _path: &str, _origin: Option<&str>) -> Option<String> {
        None
    }

    /// Returns tools that signed-in users can use without an agent, on what the user of the
    /// [scope](contract::RunScope) may reach. They change nothing.
    fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Returns the prompts that users have, if the capability keeps them. Other programs than the composer of a chat
    /// offer them.
    fn user_prompts(&self) -> Option<Arc<dyn UserPrompts>> {
        None
    }

    /// Returns the documents that users may read, if the capability stores documents. They are for other programs than the
    /// pages of this server.
    fn user_documents(&self) -> Option<Arc<dyn UserDocuments>> {
        None
    }

    /// Returns a page of its own about the user, to which the account page links.
    fn account_link(&self) -> Option<AccountPage> {
        None
    }

    /// Returns its part of the admin console.
    fn console(&self, _context: &Context) -> Option<Section> {
        None
    }

    /// Returns a page elsewhere to which the console's menu leads with the config in use. Each page of the console asks.
    fn console_link(&self) -> Option<MenuEntry> {
        None
    }

    /// Counts what waits for people on its pages of the console, for the menu. Each page of the console asks, so it
    /// must be quick.
    fn menu_counts(&self, _context: &Context) -> BoxFuture<'static, anyhow::Result<Vec<MenuCount>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Handles an event of a run, a conversation or a user. It must return quickly. Rows in the
    /// capability's own tables are deleted without it.
    fn observe(&self, _event: &LifecycleEvent) {}

    /// Handles a new config, which is in use from now on: at start, and after each change.
    fn config_changed(&self, _config: &Arc<Config>) {}

    /// Returns the background work of the capability: what is repeated, and the handlers of the jobs
    /// that it enqueues. It runs on servers, and in programs that ask for it.
    fn jobs(&self, _context: &Context) -> Vec<Job> {
        Vec::new()
    }

    /// Returns the background work that answers wait for, such as the reading of attached files. It also
    /// runs where agents are used without their server: in another program, or in an evaluation. There
    /// nothing may happen on its own, so nothing in it acts without an answer.
    fn answer_jobs(&self, _context: &Context) -> Vec<Job> {
        Vec::new()
    }
}

/// The parts that a capability offers to an agent.
#[derive(Default)]
pub struct AgentTools {
    /// Tools that the agent always has.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools and context that depend on the run.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// Policies that decide about the calls of the agent and of its sub-agents, beside those of the config.
    pub policies: Vec<Arc<dyn Policy>>,
    /// Whether the tools search the documents that the user attaches, so that the model needs no more than the
    /// beginning of long ones.
    pub searches_attachments: bool,
}

/// Returns the config language with the sections and types of connections of these capabilities.
pub fn language(capabilities: &[Definition]) -> Language {
    let sections: Vec<_> = capabilities.iter().flat_map(|capability| capability.sections).copied().collect();
    let connections: Vec<_> = capabilities.iter().flat_map(|capability| capability.connections).copied().collect();
    Language::new(&sections, &connections)
}

/// Returns the operators of the product and of these capabilities.
///
/// # Errors
/// The first one whose name cannot be used, with the reason.
pub fn operators(capabilities: &[Definition]) -> Result<Operators, String> {
    Operators::with(capabilities.iter().flat_map(|capability| capability.operators).collect())
}

/// Returns the tables of these capabilities.
pub fn tables(capabilities: &[Definition]) -> Vec<CapabilityTables> {
    capabilities.iter().filter_map(|capability| capability.tables).collect()
}
