//! The servers of the config, and what administrators have added and switched.

use crate::definition::Rules;
use crate::secrets::Keys;
use crate::section::McpServers;
use crate::store::{SERVERS, StoredServer, StoredServers};
use ::store::{Store, StoreError};
use config::{AccessRule, Config, ConnectionKind, Env, McpRef, ProcessEnv};
use settings::mcp::McpTransport;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The servers of the config alone, and the added servers that cannot be used.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The servers of the config.
    pub(crate) servers: Vec<ConfigServer>,
    /// The agents of the config.
    pub(crate) agents: Vec<ConfigAgent>,
    /// The names that added servers cannot have.
    taken: BTreeSet<String>,
    /// Why added servers cannot be used, by their names.
    pub(crate) problems: BTreeMap<String, String>,
}

/// A server of the config: a connection, or a server that agents have for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigServer {
    /// Identifies it. Several servers of agents may have the same name.
    pub(crate) key: String,
    pub(crate) name: String,
    /// `http`, `sse` or `stdio`.
    pub(crate) transport: &'static str,
    /// The host, or the name of the program.
    pub(crate) place: String,
    /// The agents that have it.
    pub(crate) agents: Vec<String>,
    /// Whether it is switched on.
    pub(crate) enabled: bool,
}

/// An agent of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigAgent {
    pub(crate) id: String,
    /// Whether everybody may use it, signed in or not.
    pub(crate) is_public: bool,
}

/// Returns the config with the added servers, and without those that are switched off.
pub(crate) async fn with_stored(store: &Store, config: Config) -> Result<Config, StoreError> {
    Ok(with_catalog(config, &SERVERS.tables.read(store, SERVERS.most).await?, &ProcessEnv))
}

/// As [`with_stored`], for what was read.
pub(crate) fn with_catalog(mut config: Config, stored: &StoredServers, env: &dyn Env) -> Config {
    let section = config.section::<McpServers>().cloned().unwrap_or_default();
    let mut catalog = Catalog::of_config(&config);
    if section.at_run_time {
        catalog.switch_off(&mut config, &stored.switched_off);
        let keys = Keys::read(&section.keys, env);
        keys.warn();
        for server in &stored.entries {
            catalog.add(&mut config, server, &section, &keys, env);
        }
    }
    config.set_section(McpServers { catalog: Arc::new(catalog), ..section });
    config
}

impl Catalog {
    /// Reads the servers of a config without additions.
    fn of_config(config: &Config) -> Self {
        let mut servers: Vec<ConfigServer> = Vec::new();
        for connection in config.connections.values() {
            if let ConnectionKind::Mcp(server) = &connection.kind {
                let (transport, place) = place(&server.transport);
                let (key, name) = (connection.id.clone(), connection.id.clone());
                servers.push(ConfigServer { key, name, transport, place, agents: Vec::new(), enabled: true });
            }
        }
        for agent in config.agents.values() {
            for used in &agent.mcp {
                let key = key(used);
                match servers.iter_mut().find(|server| server.key == key) {
                    Some(known) => known.agents.push(agent.id.clone()),
                    None => {
                        let (transport, place) = place(&used.server.transport);
                        let (name, agents) = (used.name.clone(), vec![agent.id.clone()]);
                        servers.push(ConfigServer { key, name, transport, place, agents, enabled: true });
                    }
                }
            }
        }
        servers.iter_mut().for_each(|server| server.agents.dedup());
        let agents = config.agents.values();
        let agents =
            agents.map(|agent| ConfigAgent { id: agent.id.clone(), is_public: agent.auth == AccessRule::Public });
        let names = config.connections.keys().chain(servers.iter().map(|server| &server.name));
        Self { taken: names.cloned().collect(), agents: agents.collect(), servers, problems: BTreeMap::new() }
    }

    /// Returns whether the config has a server or a connection with this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// Returns whether the config has this agent.
    pub(crate) fn has_agent(&self, id: &str) -> bool {
        self.agents.iter().any(|agent| agent.id == id)
    }

    fn switch_off(&mut self, config: &mut Config, keys: &[String]) {
        for server in &mut self.servers {
            server.enabled = !keys.contains(&server.key);
        }
        for agent in config.agents.values_mut() {
            let (off, on) = agent.mcp.drain(..).partition(|used| keys.contains(&key(used)));
            agent.mcp = on;
            let off: Vec<McpRef> = off;
            agent.unavailable_mcp.extend(off.into_iter().map(|used| used.name));
        }
    }

    /// Adds a server to its agents. Agents that the config does not have are passed over.
    fn add(&mut self, config: &mut Config, server: &StoredServer, section: &McpServers, keys: &Keys, env: &dyn Env) {
        let name = &server.name;
        if self.is_taken(name) {
            self.report(server, "the config has a server or a connection with this name".to_owned());
            return;
        }
        let rules = Rules { section, env, folder: config.folder.as_deref() };
        let usable = usable(server, keys, rules);
        let agents = server.definition.iter().flat_map(|definition| &definition.agents);
        for id in agents {
            let Some(agent) = config.agents.get_mut(id) else { continue };
            match &usable {
                Ok(used) if server.enabled => agent.mcp.push(used.clone()),
                _ => agent.unavailable_mcp.push(name.clone()),
            }
        }
        if let Err(problem) = usable {
            self.report(server, problem);
        }
    }

    fn report(&mut self, server: &StoredServer, problem: String) {
        if server.enabled {
            tracing::warn!(server = server.name, problem, "an added MCP server is not used");
        }
        self.problems.insert(server.name.clone(), problem);
    }
}

/// Returns an added server as a source of tools.
fn usable(server: &StoredServer, keys: &Keys, rules: Rules<'_>) -> Result<McpRef, String> {
    let definition = server.definition.as_ref().ok_or("its row in the database is damaged")?;
    definition.check_patterns()?;
    let secrets = keys.open(&server.name, &server.secret)?;
    let connection = definition.connection(&secrets, rules)?;
    Ok(definition.reference(&server.name, connection))
}

/// Returns what identifies a server of the config: the id of its connection, or its name with a hash of how it
/// is reached.
fn key(used: &McpRef) -> String {
    match &used.connection_id {
        Some(id) => id.clone(),
        None => {
            let reached = match &used.server.transport {
                McpTransport::Http(http) => format!("http {}", http.url),
                McpTransport::Sse(http) => format!("sse {}", http.url),
                McpTransport::Stdio(program) => format!("stdio {} {}", program.command, program.args.join(" ")),
            };
            format!("{}@{}", used.name, &hex::encode(Sha256::digest(reached))[..12])
        }
    }
}

/// Returns the transport, and the host or the name of the program.
pub(crate) fn place(transport: &McpTransport) -> (&'static str, String) {
    let host = |url: &url::Url| url.host_str().unwrap_or_default().to_owned();
    match transport {
        McpTransport::Http(http) => ("http", host(&http.url)),
        McpTransport::Sse(http) => ("sse", host(&http.url)),
        McpTransport::Stdio(program) => ("stdio", program_name(&program.command)),
    }
}

/// Returns the name of a program without its folder.
pub(crate) fn program_name(command: &str) -> String {
    Path::new(command).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
