//! Where agents come from: the trait that the current config implements.

use crate::{Caller, Hooks, Quota, Retention};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use settings::InvocationTiers;
use std::sync::{Arc, LazyLock};
use wire::UserError;
use wire::api::{RunOptions, SendRequest};

/// An agent that names new conversations.
pub struct TitleAgent {
    /// The agent, which is given the first message.
    pub agent: agent::Agent,
    /// The most words of a title.
    pub max_words: usize,
    /// The most characters of a title.
    pub max_chars: usize,
    /// Whether only conversations are named whose first message a user has written or chosen.
    pub is_for_users: bool,
}

/// The source of agents: the current config.
pub trait AgentSource: Send + Sync + 'static {
    /// Returns the agent for one turn, ready to run. Asynchronous, because operators in its
    /// properties may take time to evaluate. Dropping the future cancels the evaluation.
    ///
    /// # Errors
    /// The agent does not exist, is not allowed or not available; the error is for the user.
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>>;

    /// Returns the hooks of this turn, if any.
    fn hooks(&self, _request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        None
    }

    /// Returns the models among which the users of an agent choose, the default first; none if there is
    /// no choice.
    fn models(&self, _agent_id: &str) -> Vec<SelectableModel> {
        Vec::new()
    }

    /// Returns whether the users of an agent choose if it may hand tasks to a copy of itself.
    fn offers_delegation(&self, _agent_id: &str) -> bool {
        false
    }

    /// Returns what names a new conversation, if it is to be named by a model. `agent` is the agent that
    /// answers.
    fn title_agent(&self, _request: &AgentRequest<'_>, _agent: &agent::Agent) -> Option<TitleAgent> {
        None
    }

    /// Returns the caller's quotas, all of which apply.
    fn quotas(&self, _caller: &Caller) -> Vec<Quota> {
        Vec::new()
    }

    /// Returns the caller's limits.
    fn submission_limits(&self, _caller: &Caller) -> SubmissionLimits {
        SubmissionLimits::default()
    }

    /// Returns the time limits of invocations.
    fn invocation_tiers(&self) -> InvocationTiers {
        InvocationTiers::default()
    }

    /// Returns the retention settings.
    fn retention(&self) -> Retention {
        Retention::default()
    }

    /// Returns an agent outside of any page.
    ///
    /// # Errors
    /// The same as [`AgentSource::agent`].
    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>>;
}

/// A model that the users of an agent may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectableModel {
    /// The id by which requests name it.
    pub id: String,
    /// Whether its thinking can be switched on.
    pub can_think: bool,
}

/// Limits on a user's submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionLimits {
    /// The maximum number of concurrent runs of the user on this server.
    pub runs: usize,
    /// The maximum size of a message's text in bytes.
    pub text_bytes: usize,
}

impl Default for SubmissionLimits {
    fn default() -> Self {
        Self { runs: usize::MAX, text_bytes: 256 * 1024 }
    }
}

/// The values on which an agent's configuration may depend.
#[derive(Clone, Copy, Debug)]
pub struct AgentRequest<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// The page that shows the chat; empty if there is none.
    pub page_id: &'a str,
    /// The id of the chat's block on the page, if the client sent it.
    pub block_id: Option<&'a str>,
    /// The agent.
    pub agent_id: &'a str,
    /// The conversation; empty if there is none.
    pub conversation_id: &'a str,
    /// The current shared state of the page.
    pub shared_state: &'a Map<String, Value>,
    /// The page's query string.
    pub url_query: &'a Map<String, Value>,
    /// The states of the composer's switches, `true` or `false`.
    pub switches: &'a Map<String, Value>,
    /// The choices of the user for the answer.
    pub options: &'a RunOptions,
    /// Whether the client is a frontend of its own instead of the page: see [`crate::Frontend`].
    pub has_own_frontend: bool,
}

/// The state of a page, where there is no page.
static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The options of a request in which nobody has chosen anything.
static NO_OPTIONS: LazyLock<RunOptions> = LazyLock::new(RunOptions::default);

impl<'a> AgentRequest<'a> {
    /// The request of a program: there is neither a page nor a conversation.
    pub fn without_page(caller: &'a Caller, agent_id: &'a str) -> Self {
        Self {
            caller,
            page_id: "",
            block_id: None,
            agent_id,
            conversation_id: "",
            shared_state: &NOTHING,
            url_query: &NOTHING,
            switches: &NOTHING,
            options: &NO_OPTIONS,
            has_own_frontend: false,
        }
    }

    pub(crate) fn new(caller: &'a Caller, request: &'a SendRequest) -> Self {
        Self {
            caller,
            page_id: &request.page_id,
            block_id: request.block_id.as_deref(),
            agent_id: &request.agent_id,
            conversation_id: &request.conversation_id,
            shared_state: &request.shared_state,
            url_query: &request.url_query,
            switches: &request.switches,
            options: &request.options,
            has_own_frontend: false,
        }
    }
}
