//! A connection as it is stored, and what it becomes in the config: the same entries that a config would have.

use crate::address::check_address;
use crate::provider::Provider;
use added_entries::address::origin;
use added_entries::export::first_free;
use config::{Agent, Connection, ConnectionKind, Language, Model, Page, to_yaml};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;
use url::Url;

/// The most characters of what stands for a model in its id.
const MAX_MODEL_ID: usize = 60;
/// The variable with the key while the entries are read.
const KEY: &str = "KEY";
/// The name of the source of an added connection's entries in messages, in place of a file name.
const SOURCE: &str = "(added at run time)";

/// The language of the entries of a connection. Capabilities add nothing to it.
static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::default);

/// A connection to a provider without its key, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConnectionDefinition {
    pub(crate) provider: Provider,
    /// The address, if it is not the provider's own.
    pub(crate) base_url: Option<String>,
    /// Whether it has a key, which is stored apart.
    pub(crate) has_key: bool,
    /// The provider's names of the models.
    pub(crate) models: Vec<String>,
    /// The ids of the agents of the config that get the models. Some may not be in the config any more.
    pub(crate) agents: Vec<String>,
    /// An agent that is made of the models.
    pub(crate) agent: Option<OwnAgent>,
}

/// An agent that is made of a connection's models. Its users choose among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OwnAgent {
    /// Its id, and that of its page.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) instructions: String,
}

/// The entries that a connection adds to a config.
pub(crate) struct Additions {
    pub(crate) connection: Connection,
    pub(crate) models: Vec<Model>,
    pub(crate) agent: Option<(Agent, Page)>,
}

impl ConnectionDefinition {
    /// Returns the address that requests go to, as it was entered or as the provider has it.
    pub(crate) fn address(&self) -> &str {
        self.base_url.as_deref().or_else(|| self.provider.address()).unwrap_or_default()
    }

    /// Returns the host that requests go to; empty for an invalid address.
    pub(crate) fn host(&self) -> String {
        Url::parse(self.address()).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Returns the origin that the key is sent to; `None` for an invalid address.
    pub(crate) fn origin(&self) -> Option<String> {
        Url::parse(self.address()).ok().map(|url| origin(&url))
    }

    /// Returns whether the other one is reached in the same way, given the same key.
    pub(crate) fn is_reached_as(&self, other: &Self) -> bool {
        self.provider == other.provider && self.address() == other.address()
    }

    /// Returns the ids of the models in the config, each with the provider's name.
    pub(crate) fn model_ids(&self, connection: &str) -> Vec<(String, &str)> {
        let mut ids: Vec<(String, &str)> = Vec::new();
        for model in &self.models {
            let plain = format!("{connection}-{}", slug(model, MAX_MODEL_ID));
            let id = first_free(plain, '-', |id| ids.iter().all(|(known, _)| known != id));
            ids.push((id, model));
        }
        ids
    }

    /// Returns the entries of a config for it. The key, if it has one, is in this environment variable.
    pub(crate) fn entries(&self, name: &str, variable: Option<&str>) -> Map<String, Value> {
        let mut properties = Map::new();
        if let Some(variable) = variable {
            properties.insert("apiKey".to_owned(), json!({ "_secret": variable }));
        }
        if let Some(address) = self.base_url.as_deref().or_else(|| self.provider.config_address()) {
            properties.insert("baseURL".to_owned(), address.into());
        }
        let connection = json!({ "id": name, "type": self.provider.connection_type(), "properties": properties });
        let ids = self.model_ids(name);
        let model = |(id, model): &(String, &str)| json!({ "id": id, "connectionId": name, "model": model });
        let mut entries = Map::new();
        entries.insert("connections".to_owned(), vec![connection].into());
        if !ids.is_empty() {
            entries.insert("models".to_owned(), ids.iter().map(model).collect());
        }
        if let Some(agent) = self.agent.as_ref().filter(|_| !ids.is_empty()) {
            let ids: Vec<_> = ids.into_iter().map(|(id, _)| id).collect();
            entries.insert("agents".to_owned(), vec![agent.entry(&ids)].into());
            entries.insert("pages".to_owned(), vec![agent.page()].into());
        }
        entries
    }

    /// Reads the entries as a config is read.
    ///
    /// # Errors
    /// Why the connection cannot be used, without the key.
    pub(crate) fn additions(
        &self,
        name: &str,
        key: Option<&SecretString>,
        allow_private: bool,
    ) -> Result<Additions, String> {
        let own = self.base_url.as_deref().or_else(|| self.provider.config_address());
        if let Some(address) = own {
            check_address(address, allow_private)?;
        }
        let text = to_yaml(&self.entries(name, self.has_key.then_some(KEY)).into());
        let env: HashMap<_, _> = key.map(|key| (KEY.to_owned(), key.expose_secret().to_owned())).into_iter().collect();
        let read = LANGUAGE.read_embedded(&[(SOURCE, &text)], &env).outcome;
        let (mut read, _) = read.map_err(|problems| {
            let first = problems.into_iter().next();
            first.map_or_else(|| "it cannot be read".to_owned(), |problem| problem.message)
        })?;
        let mut connection = read.connections.swap_remove(name).ok_or("it cannot be read")?;
        restrict(&mut connection.kind, own.is_some() && !allow_private);
        let agent = self.agent.as_ref().and_then(|own| {
            let page = read.pages.iter().position(|page| page.definition.id == own.id)?;
            Some((read.agents.swap_remove(&own.id)?, read.pages.swap_remove(page)))
        });
        Ok(Additions { connection, models: read.models.into_values().collect(), agent })
    }
}

impl OwnAgent {
    fn entry(&self, models: &[String]) -> Value {
        json!({ "id": self.id, "type": "Agent", "title": self.name, "models": models,
            "properties": { "instructions": self.instructions } })
    }

    fn page(&self) -> Value {
        let chat = json!({ "id": "chat", "type": "AgentChat", "properties": { "agentId": self.id } });
        let conversations = json!({ "id": "conversations", "type": "AgentConversations" });
        json!({ "id": self.id, "title": self.name, "blocks": [conversations, chat] })
    }
}

/// Restricts a connection to public addresses.
fn restrict(kind: &mut ConnectionKind, public_only: bool) {
    if let ConnectionKind::OpenAi(model)
    | ConnectionKind::Anthropic(model)
    | ConnectionKind::Google(model)
    | ConnectionKind::OpenAiCompatible(model) = kind
    {
        model.public_only = public_only;
    }
}

/// Returns the letters and digits of a text, in lower case and with hyphens in place of everything else.
pub(crate) fn slug(text: &str, most: usize) -> String {
    let mut slug = String::new();
    for sign in text.chars() {
        match sign {
            _ if slug.len() >= most => break,
            sign if sign.is_ascii_alphanumeric() => slug.push(sign.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_consist_of_letters_digits_and_hyphens() {
        let check = |text: &str, expected: &str| assert_eq!(slug(text, 20), expected, "{text}");
        check("gpt-4.1-mini", "gpt-4-1-mini");
        check("Anthropic/Claude  Opus", "anthropic-claude-opu");
        check("My Assistant!", "my-assistant");
        check("ä", "");
    }

    #[test]
    fn models_have_ids_of_their_own() {
        let models = ["a/b", "a.b", "c"].map(str::to_owned).to_vec();
        let definition = ConnectionDefinition { models, ..ConnectionDefinition::default() };
        let ids = definition.model_ids("x");
        assert_eq!(ids, [("x-a-b".to_owned(), "a/b"), ("x-a-b-2".to_owned(), "a.b"), ("x-c".to_owned(), "c")]);
    }
}
