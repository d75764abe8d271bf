//! A model of a checked config, among those that users choose from.

use crate::agent::AgentType;
use config_source::Location;
use contract::Price;
use serde_json::{Map, Value};

/// A model of the section `models`.
#[derive(Clone, Debug)]
pub struct Model {
    /// The id by which agents and requests name it.
    pub id: String,
    /// The name that users read.
    pub title: String,
    /// The id of a connection that has models.
    pub connection_id: String,
    /// The provider's name for the model.
    pub model: String,
    /// Whether its thinking can be switched on and off.
    pub can_think: bool,
    /// Whether it reads images. `None`: as its provider accepts them.
    pub vision: Option<bool>,
    /// Whether it reads other files. `None`: as its provider accepts them.
    pub files: Option<bool>,
    /// The size of its context window in tokens. `None`: known for well-known models.
    pub context_tokens: Option<u64>,
    /// Its price. `None`: that of the section `prices`, or the list price.
    pub price: Option<Price>,
    /// The type of agent whose properties it has.
    pub(crate) agent_type: AgentType,
    /// The properties that take precedence over those of an agent.
    pub(crate) properties: Map<String, Value>,
    /// Further properties while it thinks.
    pub(crate) when_thinking: Map<String, Value>,
    /// Further properties while it does not think.
    pub(crate) when_not_thinking: Map<String, Value>,
    /// Where it is declared.
    pub at: Location,
}

/// The models among which the users of an agent choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedModels {
    /// Their ids, in the order of the agent; at least one.
    pub ids: Vec<String>,
    /// The id of the one that answers until the user chooses.
    pub default: String,
}

/// Files that a model gets a note about instead of their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadFiles {
    /// Whether it reads no images.
    pub images: bool,
    /// Whether it reads no other files.
    pub others: bool,
}

impl Model {
    /// Returns what the model is not sent.
    pub fn unread_files(&self) -> UnreadFiles {
        UnreadFiles { images: self.vision == Some(false), others: self.files == Some(false) }
    }
}
