//! A connection as the API shows and reads it.

use crate::definition::ConnectionDefinition;
use crate::provider::Provider;
use added_entries::MASK;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A connection to a model provider that administrators add.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "AddedModelConnection")]
pub(crate) struct ConnectionBody {
    /// Whether agents may use it.
    pub(crate) enabled: bool,
    /// The provider.
    pub(crate) provider: Provider,
    /// The address, if it is not the provider's own.
    #[serde(rename = "baseURL", skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    /// The provider's API key. A stored one is shown as `***`; sent back, that leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key: Option<String>,
    /// The provider's names of the models.
    pub(crate) models: Vec<String>,
    /// The ids of the agents of the config that get the models. One with a choice of models gets further ones; for
    /// another one they take the place of its model.
    pub(crate) agents: Vec<String>,
    /// An agent that is made of the models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<OwnAgentBody>,
}

/// An agent that is made of a connection's models, with a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AgentOfModelConnection")]
pub(crate) struct OwnAgentBody {
    /// The name that users read. The agent's id and its page are made of it.
    pub(crate) name: String,
    /// Its instructions.
    pub(crate) instructions: String,
}

/// Formats everything but the key.
impl fmt::Debug for ConnectionBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionBody")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key.as_ref().map(|_| MASK))
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

impl Default for ConnectionBody {
    fn default() -> Self {
        let provider = Provider::default();
        let (models, agents) = (Vec::new(), Vec::new());
        Self { enabled: true, provider, base_url: None, api_key: None, models, agents, agent: None }
    }
}

impl ConnectionBody {
    /// Returns a stored connection without its key.
    pub(crate) fn masked(enabled: bool, definition: &ConnectionDefinition) -> Self {
        let agent = definition.agent.as_ref();
        Self {
            enabled,
            provider: definition.provider,
            base_url: definition.base_url.clone(),
            api_key: definition.has_key.then(|| MASK.to_owned()),
            models: definition.models.clone(),
            agents: definition.agents.clone(),
            agent: agent.map(|own| OwnAgentBody { name: own.name.clone(), instructions: own.instructions.clone() }),
        }
    }

    /// Removes a key that was entered, so that a page does not repeat it.
    pub(crate) fn without_key(self) -> Self {
        Self { api_key: self.api_key.filter(|key| key == MASK), ..self }
    }
}
