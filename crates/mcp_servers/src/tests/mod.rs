//! Servers in the database, in the config, and as administrators see and send them.

mod applied;
mod exported;
mod masked;
mod reached;
mod stored;

use crate::body::ServerBody;
use crate::capability::DEFINITION;
use crate::catalog::with_catalog;
use crate::current::{Current, Planned};
use crate::store::{StoredServer, StoredServers};
use added_entries::{Change, Entries};
use config::{Config, Env, Language};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

/// A secret that must not be seen anywhere.
const CANARY: &str = "canary-7c1f0d2e9a";

const CONFIG: &str = "
mcpServers: { secrets: [TOKEN], keys: [KEY], commands: ['node server.js stdio'] }
connections:
  - { id: demo, type: Demo }
  - { id: files, type: Mcp, properties: { command: files } }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo }, mcp: [files] }
  - { id: writer, type: Agent, connectionId: demo, properties: { model: demo }, mcp: [{ url: 'https://one.example.com/a' }, { url: 'https://one.example.com/b' }] }
  - { id: open, type: Agent, connectionId: demo, properties: { model: demo }, auth: { public: true } }
pages: [{ id: p }]
";

static ENV: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let key = "0123456789abcdef0123456789abcdef";
    let pairs =
        [("TOKEN", "the-token"), ("KEY", key), ("NEW_KEY", "fedcba9876543210fedcba9876543210"), ("OTHER", CANARY)];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
});

fn env() -> &'static (dyn Env + Sync) {
    &*ENV
}

/// Reads a config with the capability's section.
fn load(text: &str) -> Config {
    let language = Language::new(DEFINITION.sections, &[]);
    language.read_text(text).unwrap_or_else(|problems| panic!("{}", config::render(&problems))).0
}

fn body(value: Value) -> ServerBody {
    serde_json::from_value(value).unwrap()
}

/// The servers of a config, changed as administrators do, without a database.
struct Bench {
    written: Config,
    stored: StoredServers,
}

impl Bench {
    fn new(config: &str) -> Self {
        Self { written: load(config), stored: StoredServers::default() }
    }

    /// Returns the config with what is stored.
    fn config(&self) -> Config {
        with_catalog(self.written.clone(), &self.stored, env())
    }

    fn current(&self) -> Current {
        Current::new(Arc::new(self.config()), self.stored.clone(), env())
    }

    /// Stores what was planned.
    fn keep(&mut self, planned: Planned) {
        self.stored.version += 1;
        let servers = &mut self.stored.entries;
        match planned.change {
            Change::Add(write) | Change::Update(write, _) => {
                let version = servers.iter().find(|server| server.name == write.name).map_or(1, |old| old.version + 1);
                servers.retain(|server| server.name != write.name);
                servers.push(StoredServer {
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
                servers.sort_by(|one, other| one.name.cmp(&other.name));
            }
            Change::Enable { name, enabled, .. } => {
                servers.iter_mut().filter(|server| server.name == name).for_each(|server| server.enabled = enabled);
            }
            Change::Delete { name, .. } => servers.retain(|server| server.name != name),
            Change::Switch { key, off: true } => self.stored.switched_off.push(key),
            Change::Switch { key, off: false } => self.stored.switched_off.retain(|off| *off != key),
        }
    }

    /// Saves a server; an error as `path: message`, and `unchanged` if there is nothing to store.
    fn save(&mut self, name: &str, value: Value) -> Result<(), String> {
        let planned = self.current().save(name, &body(value));
        let planned = planned.map_err(|error| format!("{}: {}", error.path.unwrap_or_default(), error.message))?;
        planned.map(|planned| self.keep(planned)).ok_or_else(|| "unchanged".to_owned())
    }

    fn switch(&mut self, key: &str, on: bool) {
        let planned = self.current().switch(key, on).unwrap();
        planned.into_iter().for_each(|planned| self.keep(planned));
    }
}

/// Returns the names of an agent's servers, and behind `|` those that it has but cannot use now.
fn servers(config: &Config, agent: &str) -> String {
    let agent = &config.agents[agent];
    let used: Vec<_> = agent.mcp.iter().map(|used| used.name.as_str()).collect();
    format!("{} | {}", used.join(" "), agent.unavailable_mcp.join(" "))
}
