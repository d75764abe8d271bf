//! Connections as administrators see them, with their state.

use crate::body::ConnectionBody;
use crate::current::Current;
use crate::store::{LISTED, ListResult, StoredConnection, TESTED, TestResult};
use added_entries::console::Origin;
use config::Agent;
use schemars::JsonSchema;
use serde::Serialize;

/// An added connection with its state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AddedModelConnectionDetail")]
pub(crate) struct ConnectionDetail {
    /// The name.
    pub(crate) name: String,
    /// The version; send it with a change.
    pub(crate) version: i64,
    /// The connection. A stored key is shown as `***`.
    pub(crate) connection: ConnectionBody,
    /// Its problems, because of which parts of it are not used.
    pub(crate) problems: Vec<String>,
    /// All agents that may answer with its models now.
    pub(crate) used_by: Vec<String>,
    /// The agent that is made of its models, if it can be used now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    /// Its agents that are not in the config any more.
    pub(crate) missing_agents: Vec<String>,
    /// The result of the last test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tested: Option<TestResult>,
    /// The models that the provider has named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listed: Option<ListResult>,
    /// The administrator who has added it.
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// The administrator who has changed it last.
    pub(crate) changed_by: String,
    /// Unix time, milliseconds.
    pub(crate) changed_at: i64,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ModelConnectionState")]
pub(crate) enum ConnectionState {
    /// Agents answer with its models.
    On,
    /// No model was chosen yet.
    NoModel,
    /// No agent uses it.
    NoAgents,
    /// The last test has failed.
    Failing,
    /// Something of it cannot be used.
    Unusable,
    /// It is switched off.
    Off,
}

impl ConnectionState {
    /// Returns the words for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::NoModel => "on, but no model is chosen",
            Self::NoAgents => "on, but no agent uses it",
            Self::Failing => "the last test failed",
            Self::Unusable => "cannot be used as it should be",
            Self::Off => "off",
        }
    }
}

/// A connection in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ModelConnectionItem")]
pub(crate) struct ConnectionItem {
    /// The name.
    pub(crate) name: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// The state.
    pub(crate) state: ConnectionState,
    /// The provider, or the type of a connection of the config.
    pub(crate) provider: String,
    /// The provider's names of the models that agents use.
    pub(crate) models: Vec<String>,
    /// All agents that may answer with its models now.
    pub(crate) agents: Vec<String>,
    /// Its first problem, or why the last test failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

impl Current {
    /// Returns an added connection with its state.
    pub(crate) fn detail(&self, stored: &StoredConnection) -> ConnectionDetail {
        let agents = stored.definition.iter().flat_map(|definition| &definition.agents);
        let missing = agents.filter(|id| self.section.catalog.agent(id).is_none()).cloned();
        ConnectionDetail {
            name: stored.name.clone(),
            version: stored.version,
            connection: Self::body(stored),
            problems: self.problems(stored),
            used_by: self.used_by(&stored.name),
            agent_id: self.own_agent(stored),
            missing_agents: missing.collect(),
            tested: stored.found(TESTED),
            listed: stored.found(LISTED),
            created_by: stored.created_by.clone(),
            created_at: stored.created_at,
            changed_by: stored.changed_by.clone(),
            changed_at: stored.changed_at,
        }
    }

    /// Returns all connections with models: those of the config, and the added ones.
    pub(crate) fn items(&self) -> Vec<ConnectionItem> {
        let of_config = self.section.catalog.connections.iter();
        let of_config = of_config.map(|(id, type_name)| self.config_item(id, type_name));
        let added = self.stored.entries.iter().map(|stored| self.added_item(stored));
        let mut items: Vec<_> = of_config.chain(added).collect();
        items.sort_by(|one, other| one.name.cmp(&other.name));
        items
    }

    fn config_item(&self, id: &str, type_name: &str) -> ConnectionItem {
        let agents = self.used_by(id);
        let state = if agents.is_empty() { ConnectionState::NoAgents } else { ConnectionState::On };
        let (provider, models) = (type_name.to_owned(), self.used_models(id));
        ConnectionItem { name: id.to_owned(), origin: Origin::Config, state, provider, models, agents, problem: None }
    }

    fn added_item(&self, stored: &StoredConnection) -> ConnectionItem {
        let definition = stored.definition.clone().unwrap_or_default();
        let agents = self.used_by(&stored.name);
        let problem = self.problems(stored).into_iter().next();
        let failure = stored.found(TESTED).and_then(|test: TestResult| test.error);
        let state = match (&problem, &failure) {
            _ if !stored.enabled => ConnectionState::Off,
            (Some(_), _) => ConnectionState::Unusable,
            (None, _) if definition.models.is_empty() => ConnectionState::NoModel,
            (None, _) if agents.is_empty() => ConnectionState::NoAgents,
            (None, Some(_)) => ConnectionState::Failing,
            (None, None) => ConnectionState::On,
        };
        ConnectionItem {
            name: stored.name.clone(),
            origin: Origin::Added,
            state,
            provider: definition.provider.title().to_owned(),
            models: definition.models,
            agents,
            problem: problem.or(failure),
        }
    }

    /// Returns the problems of an added connection.
    fn problems(&self, stored: &StoredConnection) -> Vec<String> {
        if !self.section.at_run_time {
            return vec!["the config does not allow connections that are added at run time".to_owned()];
        }
        self.section.catalog.problems.get(&stored.name).cloned().unwrap_or_default()
    }

    /// Returns the id of the agent that is made of a connection, if the config has it now.
    fn own_agent(&self, stored: &StoredConnection) -> Option<String> {
        let own = stored.definition.as_ref()?.agent.as_ref()?;
        let agent = self.config.agents.get(&own.id).filter(|_| stored.enabled && self.section.at_run_time)?;
        (agent.connection_id == stored.name).then(|| own.id.clone())
    }

    /// Returns the agents that may answer with a model of the connection.
    pub(crate) fn used_by(&self, connection: &str) -> Vec<String> {
        let agents = self.config.agents.values().filter(|agent| self.uses(agent, connection));
        agents.map(|agent| agent.id.clone()).collect()
    }

    fn uses(&self, agent: &Agent, connection: &str) -> bool {
        let mut ids = agent.models.iter().flat_map(|models| &models.ids);
        let is_choice = ids.any(|id| self.config.models.get(id).is_some_and(|model| model.connection_id == connection));
        let is_fallback = agent.fallback_models.iter().any(|model| model.connection_id == connection);
        agent.connection_id == connection || is_choice || is_fallback
    }

    /// Returns the provider's names of the models of a connection of the config that agents use.
    fn used_models(&self, connection: &str) -> Vec<String> {
        let own = self.config.agents.values().filter(|agent| agent.connection_id == connection);
        let own = own.map(|agent| &agent.model).filter(|model| !model.is_empty());
        let choices = self.config.models.values().filter(|model| model.connection_id == connection);
        let mut models: Vec<_> = own.chain(choices.map(|model| &model.model)).cloned().collect();
        models.sort_unstable();
        models.dedup();
        models
    }
}
