//! Reads what an administrator has sent about a connection: checks it, and puts the stored key in place of its mask.

use crate::address::check_address;
use crate::body::{ConnectionBody, OwnAgentBody};
use crate::catalog::{Catalog, with_models};
use crate::definition::{ConnectionDefinition, OwnAgent, slug};
use crate::provider::Provider;
use added_entries::MASK;
use added_entries::checks::{refuse, sentence, unique};
use axum::http::HeaderValue;
use config::Config;
use secrecy::SecretString;
use wire::UserError;

/// The most characters of a connection's name, of a model's and of an agent's, of instructions and of a key.
pub(crate) const MAX_NAME: usize = 40;
pub(crate) const MAX_MODEL: usize = 200;
pub(crate) const MAX_AGENT_NAME: usize = 60;
pub(crate) const MAX_INSTRUCTIONS: usize = 20_000;
pub(crate) const MAX_KEY: usize = 8 * 1024;
/// The most models of a connection, and the most agents that get them.
pub(crate) const MAX_MODELS: usize = 20;
const MAX_AGENTS: usize = 500;

/// A connection as it is stored now.
pub(crate) struct StoredState {
    pub(crate) definition: ConnectionDefinition,
    /// Its key, or why it cannot be read.
    pub(crate) key: Result<Option<SecretString>, &'static str>,
}

/// The config and the settings with which a connection is validated.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'r> {
    /// The config in use.
    pub(crate) config: &'r Config,
    pub(crate) catalog: &'r Catalog,
    pub(crate) allow_private: bool,
}

/// Returns the connection that was sent, with its key. `known` is the stored connection with its name.
///
/// # Errors
/// 422 with the path of the first field that is invalid.
pub(crate) fn read(
    name: &str,
    body: &ConnectionBody,
    known: Option<&StoredState>,
    rules: Rules<'_>,
) -> Result<(ConnectionDefinition, Option<SecretString>), UserError> {
    let base_url = base_url(body, known, rules.allow_private)?;
    let definition = ConnectionDefinition {
        provider: body.provider,
        base_url,
        has_key: body.api_key.is_some(),
        models: models(&body.models)?,
        agents: agents(&body.agents, known, rules.catalog)?,
        agent: body.agent.as_ref().map(|agent| own_agent(name, agent)).transpose()?,
    };
    let key = key(body, &definition, known)?;
    check_use(name, &definition, key.as_ref(), known, rules)?;
    Ok((definition, key))
}

fn base_url(
    body: &ConnectionBody,
    known: Option<&StoredState>,
    allow_private: bool,
) -> Result<Option<String>, UserError> {
    let sent = body.base_url.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let sent = sent.map(|text| text.trim_end_matches('/').to_owned());
    let Some(address) = sent.as_deref().or_else(|| body.provider.config_address()) else {
        return match body.provider {
            Provider::Compatible => refuse("/baseURL", "Enter the address."),
            _ => Ok(None),
        };
    };
    // A stored address may stay, even if it is not allowed any more.
    let is_kept = known.is_some_and(|known| known.definition.address() == address);
    if !is_kept {
        let checked = check_address(address, allow_private);
        checked.map_err(|problem| UserError::invalid("/baseURL", sentence(&problem)))?;
    }
    Ok(sent.filter(|sent| Some(sent.as_str()) != body.provider.address()))
}

fn models(sent: &[String]) -> Result<Vec<String>, UserError> {
    let models = unique(sent.iter().map(|model| model.trim()).filter(|model| !model.is_empty()));
    if models.len() > MAX_MODELS {
        return refuse("/models", format!("A connection has at most {MAX_MODELS} models."));
    }
    let is_wrong = |model: &&String| {
        model.chars().count() > MAX_MODEL || model.chars().any(|sign| sign.is_control() || sign.is_whitespace())
    };
    match models.iter().find(is_wrong) {
        Some(_) => refuse("/models", format!("The name of a model has up to {MAX_MODEL} characters and no spaces.")),
        None => Ok(models),
    }
}

/// Reads the agents of the config that get the models. One that is not in the config any more may come back.
fn agents(sent: &[String], known: Option<&StoredState>, catalog: &Catalog) -> Result<Vec<String>, UserError> {
    if sent.len() > MAX_AGENTS {
        return refuse("/agents", format!("At most {MAX_AGENTS} agents can be named."));
    }
    let known = known.map(|known| known.definition.agents.as_slice()).unwrap_or_default();
    match sent.iter().find(|id| catalog.agent(id).is_none() && !known.contains(id)) {
        Some(id) => refuse("/agents", format!("The config has no agent `{}`.", shortened(id))),
        None => Ok(unique(sent.iter().map(String::as_str))),
    }
}

/// Reads the agent that is made of the connection. Its id is made of its name, or of the connection's.
fn own_agent(connection: &str, sent: &OwnAgentBody) -> Result<OwnAgent, UserError> {
    let (name, instructions) = (sent.name.trim(), sent.instructions.trim());
    if !(1..=MAX_AGENT_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return refuse("/agent/name", format!("The name of an agent has 1 to {MAX_AGENT_NAME} characters."));
    }
    if !(1..=MAX_INSTRUCTIONS).contains(&instructions.chars().count()) {
        return refuse("/agent/instructions", format!("Instructions have 1 to {MAX_INSTRUCTIONS} characters."));
    }
    let id = Some(slug(name, MAX_AGENT_NAME)).filter(|id| !id.is_empty()).unwrap_or_else(|| connection.to_owned());
    Ok(OwnAgent { id, name: name.to_owned(), instructions: instructions.to_owned() })
}

/// Reads the key. A stored one is kept only for the server that it was entered for: otherwise, whoever may change an
/// address could have it sent to one of their own.
fn key(
    body: &ConnectionBody,
    definition: &ConnectionDefinition,
    known: Option<&StoredState>,
) -> Result<Option<SecretString>, UserError> {
    const PATH: &str = "/apiKey";
    match body.api_key.as_deref() {
        Some(MASK) => {
            let known = known.filter(|known| known.definition.has_key);
            let Some(known) = known else {
                return refuse(PATH, "There is no stored key that could be kept: enter it.");
            };
            if known.definition.origin() != definition.origin() {
                let message =
                    "The address is on another server than the one for which the key was entered: enter the key again.";
                return refuse(PATH, message);
            }
            known.key.clone().map_err(|problem| UserError::invalid(PATH, sentence(problem)))
        }
        Some(text) => {
            let text = text.trim();
            if text.is_empty() || text.len() > MAX_KEY || HeaderValue::from_str(text).is_err() {
                return refuse(
                    PATH,
                    format!("An API key has 1 to {MAX_KEY} characters without spaces and line breaks."),
                );
            }
            Ok(Some(text.into()))
        }
        None if definition.provider.needs_key() && definition.base_url.is_none() => {
            refuse(PATH, format!("Enter the API key: {} answers only with one.", definition.provider.title()))
        }
        None => Ok(None),
    }
}

/// Checks that the connection can be used, that its names are free, and that its agents can have its models. Stored
/// values may stay.
fn check_use(
    name: &str,
    definition: &ConnectionDefinition,
    key: Option<&SecretString>,
    known: Option<&StoredState>,
    rules: Rules<'_>,
) -> Result<(), UserError> {
    if known.is_some_and(|known| known.definition == *definition) {
        return Ok(());
    }
    let Rules { config, catalog, allow_private } = rules;
    let additions = definition.additions(name, key, allow_private);
    let additions =
        additions.map_err(|problem| UserError::invalid("/", format!("The connection cannot be used: {problem}.")))?;
    let ids = definition.model_ids(name);
    if let Some(id) = catalog.taken_model(ids.iter().map(|(id, _)| id.as_str())) {
        return refuse("/models", format!("The config has a model with the id `{id}`. Choose another name."));
    }
    if let Some(agent) = &definition.agent {
        let is_own = known.and_then(|known| known.definition.agent.as_ref()).is_some_and(|own| own.id == agent.id);
        let is_added = config.agents.contains_key(&agent.id) && !is_own;
        if catalog.has_agent_or_page(&agent.id) || is_added {
            let message =
                format!("There is an agent or a page `{}` already. Choose another name for the agent.", agent.id);
            return refuse("/agent/name", message);
        }
    }
    for id in &definition.agents {
        let Some(agent) = config.agents.get(id) else { continue };
        with_models(agent, &additions.models).map_err(|problem| {
            UserError::invalid("/agents", format!("The agent `{id}` cannot use this connection: {problem}."))
        })?;
    }
    Ok(())
}

fn shortened(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control()).take(MAX_MODEL).collect()
}
