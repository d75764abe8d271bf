//! The connections and agents of the config, and the connections that administrators have added to them.

use crate::definition::{Additions, ConnectionDefinition};
use crate::secrets::Keys;
use crate::section::ModelConnections;
use crate::store::{CONNECTIONS, StoredConnection, StoredConnections};
use ::store::{Store, StoreError};
use config::{AccessRule, Agent, Config, Env, Model, ProcessEnv};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The connections and agents of the config itself, and the problems of the added connections.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The connections of the config that have models, with their types.
    pub(crate) connections: Vec<(String, &'static str)>,
    /// The agents of the config.
    pub(crate) agents: Vec<ConfigAgent>,
    /// The names of the config's connections, models, and agents with pages.
    taken: Taken,
    /// The problems of added connections, by their names.
    pub(crate) problems: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Default)]
struct Taken {
    connections: BTreeSet<String>,
    models: BTreeSet<String>,
    agents: BTreeSet<String>,
}

/// An agent of the config.
#[derive(Clone, Debug)]
pub(crate) struct ConfigAgent {
    pub(crate) id: String,
    /// Whether everybody may use it, signed in or not.
    pub(crate) is_public: bool,
    /// The models that it answers with in the config.
    pub(crate) answers: Answers,
}

/// The models of an agent of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// One model, by the provider's name. Added models take its place.
    Model(String),
    /// One of these models, by their ids in the config. Added ones are further choices.
    Choice(Vec<String>),
}

/// Returns the config with the added connections, their models and what agents have of them.
pub(crate) async fn with_stored(store: &Store, config: Config) -> Result<Config, StoreError> {
    Ok(with_catalog(config, &CONNECTIONS.tables.read(store, CONNECTIONS.most).await?, &ProcessEnv))
}

/// Like [`with_stored`], for what was read.
pub(crate) fn with_catalog(mut config: Config, stored: &StoredConnections, env: &dyn Env) -> Config {
    let section = ModelConnections::from_config(&config);
    let mut catalog = Catalog::of_config(&config);
    if section.at_run_time {
        let keys = Keys::read(&section.keys, env);
        let allow_private = section.allows_private(&config);
        for connection in stored.entries.iter().filter(|connection| connection.enabled) {
            catalog.add(&mut config, connection, &keys, allow_private);
        }
    }
    config.set_section(ModelConnections { catalog: Arc::new(catalog), ..section });
    config
}

impl Catalog {
    /// Reads a config without additions.
    fn of_config(config: &Config) -> Self {
        let models = config.connections.values().filter(|connection| connection.kind.is_model());
        let connections = models.map(|connection| (connection.id.clone(), connection.kind.name()));
        let agent = |agent: &Agent| ConfigAgent {
            id: agent.id.clone(),
            is_public: agent.auth == AccessRule::Public,
            answers: match &agent.models {
                Some(models) => Answers::Choice(models.ids.clone()),
                None => Answers::Model(agent.model.clone()),
            },
        };
        let pages = config.pages.iter().map(|page| &page.definition.id);
        let taken = Taken {
            connections: config.connections.keys().cloned().collect(),
            models: config.models.keys().cloned().collect(),
            agents: config.agents.keys().chain(pages).cloned().collect(),
        };
        Self {
            connections: connections.collect(),
            agents: config.agents.values().map(agent).collect(),
            taken,
            problems: BTreeMap::new(),
        }
    }

    /// Returns whether the config has a connection with this name.
    pub(crate) fn has_connection(&self, name: &str) -> bool {
        self.taken.connections.contains(name)
    }

    /// Returns the first of these ids of models that the config has.
    pub(crate) fn taken_model<'i>(&self, mut ids: impl Iterator<Item = &'i str>) -> Option<&'i str> {
        ids.find(|id| self.taken.models.contains(*id))
    }

    /// Returns whether the config has an agent or a page with this id.
    pub(crate) fn has_agent_or_page(&self, id: &str) -> bool {
        self.taken.agents.contains(id)
    }

    /// Returns an agent of the config.
    pub(crate) fn agent(&self, id: &str) -> Option<&ConfigAgent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// Adds a connection. Agents that the config does not have are passed over.
    fn add(&mut self, config: &mut Config, stored: &StoredConnection, keys: &Keys, allow_private: bool) {
        let added = usable(stored, keys, allow_private).and_then(|(definition, additions)| {
            check_names(config, &additions)?;
            Ok((definition, additions))
        });
        let (definition, Additions { connection, models, agent }) = match added {
            Ok(added) => added,
            Err(problem) => return self.report(stored, problem),
        };
        config.connections.insert(connection.id.clone(), connection);
        for id in &definition.agents {
            let Some(known) = config.agents.get(id).filter(|_| self.agent(id).is_some()) else { continue };
            match with_models(known, &models) {
                Ok(changed) => drop(config.agents.insert(id.clone(), changed)),
                Err(problem) => self.report(stored, format!("the agent `{id}` cannot use it: {problem}")),
            }
        }
        config.models.extend(models.into_iter().map(|model| (model.id.clone(), model)));
        let Some((agent, page)) = agent else { return };
        let is_taken = config.agents.contains_key(&agent.id)
            || config.pages.iter().any(|other| other.definition.id == page.definition.id);
        if is_taken {
            let problem = format!("there is another agent or page `{}`, so its own agent is left out", agent.id);
            return self.report(stored, problem);
        }
        config.agents.insert(agent.id.clone(), agent);
        config.pages.push(page);
    }

    fn report(&mut self, stored: &StoredConnection, problem: String) {
        tracing::warn!(
            connection = stored.name,
            problem,
            "an added connection to a provider is not used as it should be"
        );
        self.problems.entry(stored.name.clone()).or_default().push(problem);
    }
}

/// Returns the additions of a stored connection to the config.
fn usable<'s>(
    stored: &'s StoredConnection,
    keys: &Keys,
    allow_private: bool,
) -> Result<(&'s ConnectionDefinition, Additions), String> {
    let definition = stored.definition.as_ref().ok_or("its row in the database is damaged")?;
    let key = keys.open(&stored.name, &stored.secret)?;
    let additions = definition.additions(&stored.name, key.as_ref(), allow_private)?;
    Ok((definition, additions))
}

/// Checks that the config has none of the names.
fn check_names(config: &Config, additions: &Additions) -> Result<(), String> {
    let name = &additions.connection.id;
    if config.connections.contains_key(name) {
        return Err("the config has a connection with this name".to_owned());
    }
    match additions.models.iter().find(|model| config.models.contains_key(&model.id)) {
        Some(model) => Err(format!("the config has a model with the id `{}`", model.id)),
        None => Ok(()),
    }
}

/// Returns an agent of the config with further models. If it had a single one, they take its place: a config cannot
/// have both for an agent.
///
/// # Errors
/// Why it cannot have one of them.
pub(crate) fn with_models(agent: &Agent, models: &[Model]) -> Result<Agent, String> {
    let Some(first) = models.first() else { return Ok(agent.clone()) };
    let mut changed = if agent.models.is_some() { agent.clone() } else { agent.with_model(first)? };
    for model in models {
        agent.with_model(model)?;
        let ids = changed.models.iter_mut().flat_map(|models| [&mut models.ids]);
        ids.filter(|ids| !ids.contains(&model.id)).for_each(|ids| ids.push(model.id.clone()));
    }
    Ok(changed)
}
