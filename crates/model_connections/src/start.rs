//! The first steps on a new server, and which of them are done.

use crate::current::Current;
use crate::views::ConnectionState;
use added_entries::console::Origin;
use capability::{Caller, Context};
use config::{AuthMode, Config, ConnectionKind};

/// The remaining steps of the setup of a new server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstSteps {
    /// The connections to providers.
    pub(crate) providers: Vec<String>,
    /// An added connection without a model, or without an agent that uses it.
    pub(crate) unfinished: Option<String>,
    /// Why no API key can be stored, and what to do.
    pub(crate) key_problem: Option<String>,
    /// The page of an agent that answers with a provider's model, and its name.
    pub(crate) question: Option<(String, String)>,
    /// Whether users have accounts on this server, so that they can be invited.
    pub(crate) invites: bool,
    /// Whether the server is for one person on this machine.
    pub(crate) is_local: bool,
}

impl FirstSteps {
    /// Finds out which steps are done.
    pub(crate) fn new(context: &Context, caller: &Caller, current: &Current) -> Self {
        let config = &current.config;
        let is_provider = |kind: &ConnectionKind| kind.is_model() && !matches!(kind, ConnectionKind::Demo(_));
        let providers = config.connections.values().filter(|connection| is_provider(&connection.kind));
        let unfinished = current.items().into_iter().find(|item| {
            item.origin == Origin::Added
                && matches!(
                    item.state,
                    ConnectionState::NoModel | ConnectionState::NoAgents | ConnectionState::Unusable
                )
        });
        Self {
            providers: providers.map(|connection| connection.id.clone()).collect(),
            unfinished: unfinished.map(|item| item.name),
            key_problem: current.keys.problem().map(str::to_owned),
            question: page_to_ask(context, caller, config),
            invites: matches!(&config.auth.mode, AuthMode::Accounts(accounts) if accounts.passwords),
            is_local: matches!(config.auth.mode, AuthMode::Local),
        }
    }
}

/// Returns the page of the first agent that the caller may use and that answers with a provider's model.
fn page_to_ask(context: &Context, caller: &Caller, config: &Config) -> Option<(String, String)> {
    let usable = context.current.usable_agents(caller);
    usable.into_iter().find_map(|id| {
        let agent = config.agents.get(&id)?;
        let kind = &config.connections.get(&agent.connection_id)?.kind;
        let page = context.current.page_for_agent(caller, &id).filter(|_| !matches!(kind, ConnectionKind::Demo(_)))?;
        Some((page, agent.title.clone().unwrap_or(id)))
    })
}
