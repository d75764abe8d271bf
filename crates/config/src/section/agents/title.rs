//! `generateTitle` of an agent, or of the root for all agents: whether and how new conversations are named
//! by a model.

use crate::agent::{Agent, ModelRef, Titles};
use crate::connection::{Connection, ConnectionKind};
use crate::section::Context;
use crate::section::value::{Id, Text};
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
                Some(Titles { model, max_words: settings.max_words, max_chars: settings.max_chars, is_default: false })
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

/// Says how the conversations of agents that do not have the key themselves are named: as the key of the
/// root says, or by default with a model where that costs little.
pub(crate) fn complete(
    agents: &mut IndexMap<String, Agent>,
    connections: &IndexMap<String, Connection>,
    context: &mut Context<'_, '_>,
) {
    let for_all = for_all(context);
    for agent in agents.values_mut() {
        let properties = context.agents.get(agent.id.as_str()).and_then(|node| node.get("properties"));
        if properties.is_none_or(|properties| properties.value.get(KEY).is_none()) {
            agent.titles = match &for_all {
                Some(entry) => entry.titles(&agent.connection_id),
                None => default_titles(agent, connections),
            };
        }
    }
}

/// Reads the key of the root; `None` if it says nothing.
fn for_all(context: &mut Context<'_, '_>) -> Option<TitleEntry> {
    let root = context.root;
    let section = root.get(KEY).map(|entry| &entry.value).filter(|node| !matches!(node.kind, NodeKind::Null))?;
    super::other_model::check(KEY, root, context);
    check(root, context);
    context.decode(section)
}

/// Returns the titles of an agent about which the config says nothing: a short request to the model of its
/// summaries, or to its own, if that is at the provider's own address. A server of one's own may answer
/// one request at a time, so the answer would wait for its title.
fn default_titles(agent: &Agent, connections: &IndexMap<String, Connection>) -> Option<Titles> {
    let connection_id = agent.summary_model.as_ref().map_or(&agent.connection_id, |model| &model.connection_id);
    let is_hosted = match &connections.get(connection_id)?.kind {
        ConnectionKind::Anthropic(connection)
        | ConnectionKind::OpenAi(connection)
        | ConnectionKind::Google(connection)
        | ConnectionKind::AiGateway(connection) => connection.base_url.is_none(),
        _ => false,
    };
    is_hosted.then(|| Titles { model: agent.summary_model.clone(), is_default: true, ..Titles::default() })
}
