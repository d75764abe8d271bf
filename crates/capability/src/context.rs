//! The context that the server gives to the routes and the background work of a capability.

use crate::{ToolServerStatus, UserDocuments, UserPrompts};
use chat::{Caller, Chat};
use config::{Config, ConnectionKind, Language, ModelRef};
use contract::{CallReports, Model, ModelUse, Tool};
use futures::future::BoxFuture;
use operators::Operators;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio_util::sync::CancellationToken;
use wire::UserError;

/// The state of a capability's routes, and what its background work uses.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Store,
    /// The conversations and runs, for example to start a run.
    pub chat: Chat,
    /// The config in use.
    pub current: Arc<dyn CurrentConfig>,
}

impl Context {
    /// Returns the page on which the caller's conversations with an agent are shown.
    ///
    /// # Errors
    /// 404 if there is none; 401 for a visitor, if the agent exists.
    pub fn page_of_agent(&self, caller: &Caller, agent_id: &str) -> Result<String, UserError> {
        self.current.page_for_agent(caller, agent_id).ok_or_else(|| {
            if !caller.is_authenticated && self.current.config().agents.contains_key(agent_id) {
                UserError::unauthenticated()
            } else {
                UserError::not_found()
            }
        })
    }
}

/// The config in use. It may change when it is reloaded, so each request asks again.
pub trait CurrentConfig: Send + Sync {
    /// Returns the config. It contains secrets and must not be shown.
    fn config(&self) -> Arc<Config>;

    /// Loads the stored additions to the config again, after one of them has changed.
    ///
    /// # Errors
    /// The config cannot be rebuilt; the one in use stays.
    fn refresh_additions(&self) -> BoxFuture<'_, anyhow::Result<()>>;

    /// Returns what tries configs that are not in use.
    fn drafts(&self) -> &dyn DraftConfigs;

    /// Returns the status of the servers whose tools this server offers, as far as they were used since it
    /// started.
    fn tool_servers(&self) -> Vec<ToolServerStatus>;

    /// Returns the language of configs of this program.
    fn language(&self) -> &'static Language;

    /// Returns the operators of this program.
    fn operators(&self) -> Arc<Operators>;

    /// Returns the ids of the agents that a user may use, in the order of the config.
    fn usable_agents(&self, caller: &Caller) -> Vec<String>;

    /// Returns the page on which a user finds an agent; `None` if no page that they may open has a chat with it.
    fn page_for_agent(&self, caller: &Caller, agent_id: &str) -> Option<String>;

    /// Returns the first page on which a user finds the questions of workflows; `None` if no page that they may open has
    /// the block `WorkflowTasks`.
    fn tasks_page(&self, caller: &Caller) -> Option<String>;

    /// Returns the tools of capabilities that a signed-in user can use without an agent.
    fn user_tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Returns the prompts that users have; `None` on a server without a prompt library.
    fn user_prompts(&self) -> Option<Arc<dyn UserPrompts>> {
        None
    }

    /// Returns the documents that users may read; `None` on a server without libraries.
    fn user_documents(&self) -> Option<Arc<dyn UserDocuments>> {
        None
    }

    /// Runs an endpoint for a user, with that user's rights. It may be an internal one.
    fn call_endpoint<'a>(&'a self, call: EndpointCall<'a>) -> BoxFuture<'a, Result<Value, EndpointFailure>>;

    /// Returns a model of a connection to a provider, to try it; the connection need not be in the config. `None` if
    /// this server has no models of its type.
    fn model(&self, connection: &ConnectionKind, name: &str) -> Option<Arc<dyn Model>>;

    /// Asks a model in the background, for a user and an agent, whose usage and quotas count. It has
    /// no tools.
    ///
    /// # Errors
    /// There is no answer.
    fn ask_model<'a>(&'a self, question: ModelQuestion<'a>) -> BoxFuture<'a, Result<Value, ModelFailure>>;
}

/// Tries configs that are not in use.
pub trait DraftConfigs: Send + Sync {
    /// Builds everything of a config, as if it were in use, and drops it again. The config has no stored additions; those
    /// are added. Databases that it names are opened.
    ///
    /// # Errors
    /// The config cannot be used, for example because a database cannot be opened.
    fn try_config(&self, config: Config) -> BoxFuture<'_, anyhow::Result<()>>;

    /// Lets a user's own requests to this server use a config in place of the one in use, until the time (Unix time in
    /// milliseconds) or [`DraftConfigs::end_preview`]. It replaces an earlier preview of the user.
    ///
    /// # Errors
    /// As [`DraftConfigs::try_config`], or there are too many previews.
    fn start_preview<'a>(&'a self, user_id: &'a str, config: Config, until: i64) -> BoxFuture<'a, anyhow::Result<()>>;

    /// Returns until when a user has a preview on this server, as Unix time in milliseconds.
    fn preview(&self, user_id: &str) -> Option<i64>;

    /// Ends the preview of a user, if there is one.
    fn end_preview(&self, user_id: &str);
}

/// A question to a model.
pub struct ModelQuestion<'a> {
    /// The user for whom it is asked.
    pub caller: &'a Caller,
    /// The agent whose model is asked, and in whose usage the question counts.
    pub agent_id: &'a str,
    /// Another model than the agent's.
    pub model: Option<&'a ModelRef>,
    /// The task of the model.
    pub instructions: String,
    /// The text that it works on.
    pub prompt: String,
    /// The files that it works on.
    pub files: Vec<QuestionFile>,
    /// The name and the JSON Schema of the answer.
    pub form: (&'static str, Value),
    /// The longest answer in tokens.
    pub max_output_tokens: u32,
    /// How long all attempts together may take.
    pub time: Duration,
    /// Cancels the question.
    pub cancel: CancellationToken,
}

/// A file of a question to a model. A model that does not read such files gets a note in its place.
#[derive(Clone, Debug)]
pub struct QuestionFile {
    /// The name of the file.
    pub name: String,
    /// The media type, for example `application/pdf`.
    pub media_type: String,
    /// The content.
    pub content: Arc<[u8]>,
}

/// Why a question to a model has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelFailure {
    /// A quota of the user is used up. The message is for them.
    Refused(String),
    /// The model did not answer, or not in the form. The cause is for operators.
    Failed(String),
}

impl fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(cause) | Self::Failed(cause)) = self;
        f.write_str(cause)
    }
}

/// A call of an endpoint.
pub struct EndpointCall<'a> {
    /// The user.
    pub caller: &'a Caller,
    /// The endpoint.
    pub id: &'a str,
    /// The payload.
    pub payload: Value,
    /// Who is named in the usage of its model requests, for example `workflow:ID`.
    pub usage: String,
    /// A key that is the same whenever the same call is made again. Requests to web services that may
    /// change something carry it.
    pub idempotency_key: String,
    /// Puts another meter around the one of the user's quotas.
    pub meter: Arc<dyn Fn(ModelUse) -> ModelUse + Send + Sync>,
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// Shows what the routine says with `:status`.
    pub reports: CallReports,
}

/// Why an endpoint has no result. The messages are for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointFailure {
    /// The call cannot succeed as it is: the endpoint does not exist for this user, the payload does
    /// not fit, or the routine has rejected it.
    Refused(String),
    /// It took longer than the config allows.
    TimedOut(String),
    /// A step failed.
    Failed(String),
}
