//! Connections in the database, in the config, and as administrators see and send them.

mod applied;
mod exported;
mod masked;
mod refused;
mod stored;

use crate::body::ConnectionBody;
use crate::capability::DEFINITION;
use crate::catalog::with_catalog;
use crate::current::{Current, Planned};
use crate::store::{StoredConnection, StoredConnections};
use crate::views::ConnectionDetail;
use added_entries::{Change, Entries};
use config::{Config, Language};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

/// A key that must not be seen anywhere.
const CANARY: &str = "canary-7c1f0d2e9a";

const CONFIG: &str = "
modelConnections: { keys: [KEY] }
auth: { mode: password, publicUrls: ['https://chat.example.com'] }
connections:
  - { id: demo, type: Demo }
  - { id: claude, type: Anthropic, properties: { baseURL: 'https://claude.example.com' } }
models:
  - { id: quick, connectionId: demo, model: demo-quick }
  - { id: slow, connectionId: demo, model: demo-slow }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo-one } }
  - { id: chooser, type: Agent, models: [quick, slow] }
  - { id: claude-only, type: ClaudeAgent, connectionId: claude, properties: { model: claude-x } }
pages: [{ id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
";

static ENV: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let pairs = [("KEY", "0123456789abcdef0123456789abcdef"), ("NEW_KEY", "fedcba9876543210fedcba9876543210")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
});

/// Reads a config with the capability's section.
fn load(text: &str) -> Config {
    let language = Language::new(DEFINITION.sections, &[]);
    language.read_text(text).unwrap_or_else(|problems| panic!("{}", config::render(&problems))).0
}

fn body(value: Value) -> ConnectionBody {
    serde_json::from_value(value).unwrap()
}

/// The connections of a config, changed as administrators do, without a database.
struct Bench {
    written: Config,
    stored: StoredConnections,
}

impl Bench {
    fn new(config: &str) -> Self {
        Self { written: load(config), stored: StoredConnections::default() }
    }

    /// Returns the config with what is stored.
    fn config(&self) -> Config {
        with_catalog(self.written.clone(), &self.stored, &*ENV)
    }

    fn current(&self) -> Current {
        Current::new(Arc::new(self.config()), self.stored.clone(), &*ENV)
    }

    /// Stores the planned change.
    fn keep(&mut self, planned: Planned) {
        let connections = &mut self.stored.entries;
        match planned.change {
            Change::Add(write) | Change::Update(write, _) => {
                let known = connections.iter().find(|known| known.name == write.name);
                let version = known.map_or(1, |known| known.version + 1);
                connections.retain(|known| known.name != write.name);
                connections.push(StoredConnection {
                    name: write.name,
                    version,
                    enabled: write.enabled,
                    definition: Some(write.definition),
                    secret: write.secret,
                    created_by: "ada".to_owned(),
                    changed_by: "ada".to_owned(),
                    created_at: 1,
                    changed_at: 1,
                    found: BTreeMap::new(),
                });
                connections.sort_by(|one, other| one.name.cmp(&other.name));
            }
            Change::Enable { name, enabled, .. } => {
                connections.iter_mut().filter(|known| known.name == name).for_each(|known| known.enabled = enabled);
            }
            Change::Delete { name, .. } => connections.retain(|known| known.name != name),
            Change::Switch { .. } => panic!("connections of the config cannot be switched"),
        }
    }

    /// Saves a connection; an error as `path: message`, and `unchanged` if there is nothing to store.
    fn save(&mut self, name: &str, value: Value) -> Result<(), String> {
        let planned = self.current().save(name, &body(value));
        let planned = planned.map_err(|error| format!("{}: {}", error.path.unwrap_or_default(), error.message))?;
        planned.map(|planned| self.keep(planned)).ok_or_else(|| "unchanged".to_owned())
    }
}

/// Returns a connection as administrators see it.
fn detail(bench: &Bench, name: &str) -> ConnectionDetail {
    let current = bench.current();
    current.detail(current.stored.find(name).unwrap())
}

/// Returns the models of an agent: the connection and the model of its default, and its choices.
fn answers(config: &Config, agent: &str) -> String {
    let Some(agent) = config.agents.get(agent) else { return "none".to_owned() };
    let ids = agent.models.iter().flat_map(|models| &models.ids).map(String::as_str).collect::<Vec<_>>().join(" ");
    format!("{}/{} [{ids}]", agent.connection_id, agent.model)
}
