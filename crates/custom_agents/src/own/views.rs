//! The request bodies and the responses of the routes for users.

use super::store::{AgentSharing, OwnAgentRow, OwnAgentVersion};
use crate::choices::BaseChoices;
use crate::definition::CustomAgent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The agents that a user has made, and those of others that they may use.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnAgents {
    /// The agents that the user has made, the oldest first.
    pub(crate) own: Vec<OwnAgentItem>,
    /// The agents of others that are shared with the user.
    pub(crate) shared: Vec<OwnAgentItem>,
    /// The selectable parts of agents by base; empty if the user may make none.
    pub(crate) choices: Vec<BaseChoices>,
    /// The most agents that a user may make.
    pub(crate) most: u32,
    /// Whether agents can be shared.
    pub(crate) can_share: bool,
}

/// An agent in a list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnAgentItem {
    /// Its id, which is also that of its page.
    pub(crate) id: String,
    /// Its name among the agents of its maker.
    pub(crate) name: String,
    /// The name that users read.
    pub(crate) title: String,
    /// Its purpose.
    pub(crate) description: String,
    /// Its picture; empty for none.
    pub(crate) picture: String,
    /// Whether it can be used.
    pub(crate) available: bool,
    /// Whether its maker shares it.
    pub(crate) is_shared: bool,
    /// When it was last changed; Unix time in milliseconds.
    pub(crate) updated_at: i64,
}

impl OwnAgentItem {
    pub(crate) fn new(row: &OwnAgentRow, available: bool) -> Self {
        let custom: CustomAgent = serde_json::from_value(row.definition.clone()).unwrap_or_default();
        Self {
            id: row.id.clone(),
            name: row.name.clone(),
            title: custom.name,
            description: custom.description,
            picture: custom.picture,
            available,
            is_shared: row.sharing != AgentSharing::default(),
            updated_at: row.updated_at,
        }
    }
}

/// An agent that a user makes or changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OwnAgentBody {
    /// The name: letters from a to z, digits and hyphens. No other agent of the user has it.
    pub(crate) name: String,
    /// The name that users read.
    pub(crate) title: String,
    /// The purpose.
    #[serde(default)]
    pub(crate) description: String,
    /// The picture: an emoji, or one or two letters.
    #[serde(default)]
    pub(crate) picture: String,
    /// The base agent, one of `choices`.
    pub(crate) from: String,
    /// The instructions.
    pub(crate) instructions: String,
    /// The tools, libraries and skills that it has, of those in `choices`.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// The model, one of those in `choices`. Default: the models of the base agent.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The version that the change is based on; absent for a new agent.
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

impl OwnAgentBody {
    pub(super) fn into_agent(self) -> CustomAgent {
        CustomAgent {
            name: self.title,
            description: self.description,
            picture: self.picture,
            from: self.from,
            instructions: self.instructions,
            tools: self.tools,
            model: self.model,
            ..CustomAgent::default()
        }
    }

    /// Returns the body that would store an agent as it is.
    pub(super) fn from_agent(name: String, custom: CustomAgent, version: i64) -> Self {
        Self {
            name,
            title: custom.name,
            description: custom.description,
            picture: custom.picture,
            from: custom.from,
            instructions: custom.instructions,
            tools: custom.tools,
            model: custom.model,
            version: Some(version),
        }
    }
}

/// An agent of a user, with its versions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnAgentDetail {
    /// Its id, which is also that of its page.
    pub(crate) id: String,
    /// The agent.
    pub(crate) agent: OwnAgentBody,
    /// With whom it is shared.
    pub(crate) sharing: AgentSharing,
    /// Whether it can be used. It cannot if an administrator has switched it off, or the config no longer
    /// allows it.
    pub(crate) available: bool,
    /// Whether an administrator has switched it off.
    pub(crate) switched_off: bool,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
    /// Unix time in milliseconds.
    pub(crate) updated_at: i64,
    /// The newest 50 versions, the newest first.
    pub(crate) versions: Vec<OwnAgentVersion>,
}

impl OwnAgentDetail {
    pub(super) fn new(row: OwnAgentRow, available: bool, versions: Vec<OwnAgentVersion>) -> Self {
        let agent = OwnAgentBody::from_agent(row.name, CustomAgent::from_stored(row.definition), row.version);
        Self {
            id: row.id,
            agent,
            sharing: row.sharing,
            available,
            switched_off: row.disabled_at.is_some(),
            created_at: row.created_at,
            updated_at: row.updated_at,
            versions,
        }
    }
}
