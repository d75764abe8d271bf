//! `generateTitle` of an agent, or of the root for all agents: whether and how new conversations are named
//! by a model.

use crate::agent::{Agent, ModelRef, Titles};
use crate::section::Context;
use crate::section::value::{Id, Text};
use crate::shape::{Shape, decode};
use config_source::{Node, NodeKind};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// The key.
const KEY: &str = "generateTitle";

/// Whether new conversations are named by a model.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TitleEntry {
    /// With the agent's own model, or not at all.
    Switch(bool),
    /// In this way.
    Settings(TitleSettings),
}

/// How a model names new conversations.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TitleSettings {
    /// The provider's name for the model. Default: the model of the agent.
    model: Option<Text>,
    /// The connection to its provider. Default: the agent's.
    connection_id: Option<Id>,
    /// The most words of a title.
    #[schemars(range(min = 1, max = 20))]
    max_words: usize,
    /// The most characters of a title.
    #[schemars(range(min = 10, max = 200))]
    max_chars: usize,
}

impl Default for TitleSettings {
    fn default() -> Self {
        let Titles { max_words, max_chars, .. } = Titles::default();
        Self { model: None, connection_id: None, max_words, max_chars }
    }
}

impl TitleEntry {
    /// Returns how conversations with an agent of this connection are named; `None` if not by a model.
    pub(crate) fn titles(&self, connection_id: &str) -> Option<Titles> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) => Some(Titles::default()),
            Self::Settings(settings) => {
                let connection_id = settings.connection_id.as_ref().map_or(connection_id, |Id(id)| id).to_owned();
                let model = settings.model.as_ref();
                let model = model.map(|Text(model)| ModelRef { connection_id, model: model.clone() });
                Some(Titles { model, max_words: settings.max_words, max_chars: settings.max_chars })
            }
        }
    }
}

/// Reports a connection without a model. `owner` has the key.
pub(crate) fn check(owner: &Node, context: &mut Context<'_, '_>) {
    let Some(entry) = owner.get(KEY).filter(|entry| entry.value.get("model").is_none()) else { return };
    if let Some(connection) = entry.value.get("connectionId") {
        let help = "add `model`: the connection alone does not say which model names conversations";
        let message = "`connectionId` needs `model`".to_owned();
        context.report.error(connection.key_at, message, Some(help.to_owned()));
    }
}

/// Reads the key of the root, and applies it to the agents that do not have the key themselves.
pub(crate) fn apply_to_all(agents: &mut IndexMap<String, Agent>, context: &mut Context<'_, '_>) {
    let root = context.root;
    let Some(section) = root.get(KEY).map(|entry| &entry.value).filter(|node| !matches!(node.kind, NodeKind::Null))
    else {
        return;
    };
    super::other_model::check(KEY, root, context);
    check(root, context);
    let Some(shape) = Shape::for_type::<TitleEntry>() else { return };
    let Some(entry) = decode::<TitleEntry>(section, shape, context.report) else { return };
    for agent in agents.values_mut() {
        let properties = context.agents.get(agent.id.as_str()).and_then(|node| node.get("properties"));
        if properties.is_none_or(|properties| properties.value.get(KEY).is_none()) {
            agent.titles = entry.titles(&agent.connection_id);
        }
    }
}
