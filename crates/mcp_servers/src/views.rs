//! Servers as administrators see them, with their state.

use crate::body::ServerBody;
use crate::catalog::{ConfigServer, program_name};
use crate::current::Current;
use crate::definition::TransportKind;
use crate::store::{StoredServer, TESTED, TestResult};
use added_entries::console::Origin;
use capability::{Context, ToolServerStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// An added server with its state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AddedMcpServerDetail")]
pub(crate) struct ServerDetail {
    /// The name.
    pub(crate) name: String,
    /// The version; send it with a change.
    pub(crate) version: i64,
    /// The server. Stored secrets are shown as `***`.
    pub(crate) server: ServerBody,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Its agents that are not in the config any more.
    pub(crate) missing_agents: Vec<String>,
    /// The result of the last test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tested: Option<TestResult>,
    /// Its connections of this process; absent if nobody has used it since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<ToolServerStatus>,
    /// The administrator who has added it.
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// The administrator who has changed it last.
    pub(crate) changed_by: String,
    /// Unix time, milliseconds.
    pub(crate) changed_at: i64,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpServerState")]
pub(crate) enum ServerState {
    /// Agents have its tools.
    On,
    /// It is switched on, but no agent has it.
    NoAgents,
    /// It is switched on, but its last use or test has failed.
    Failing,
    /// It cannot be used.
    Unusable,
    /// It is switched off.
    Off,
    /// It is switched off, and no longer in the config.
    Gone,
}

impl ServerState {
    /// Returns the words for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::NoAgents => "on, but no agent has it",
            Self::Failing => "failing",
            Self::Unusable => "cannot be used",
            Self::Off => "off",
            Self::Gone => "off, not in the config any more",
        }
    }
}

/// A server in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "McpServerItem")]
pub(crate) struct ServerItem {
    /// The name.
    pub(crate) name: String,
    /// Identifies a server of the config; the name of an added one.
    pub(crate) key: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// The state of the server.
    pub(crate) state: ServerState,
    /// `http`, `sse` or `stdio`.
    #[serde(rename = "type")]
    pub(crate) transport: &'static str,
    /// The host, or the name of the program.
    pub(crate) place: String,
    /// The agents of the config that have it.
    pub(crate) agents: Vec<String>,
    /// The number of tools that it offers; absent if it was neither used nor tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<usize>,
    /// Why it cannot be used, or what failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Whether the list has a switch for it.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) has_switch: bool,
}

impl Current {
    /// Returns an added server with its state.
    pub(crate) fn detail(&self, context: &Context, server: &StoredServer) -> ServerDetail {
        let (_, place) = self.reached(server);
        let agents = server.definition.iter().flat_map(|definition| &definition.agents);
        let missing = agents.filter(|id| !self.section.catalog.has_agent(id)).cloned();
        ServerDetail {
            name: server.name.clone(),
            version: server.version,
            server: self.body(server),
            problem: self.problem(server),
            missing_agents: missing.collect(),
            tested: server.found(TESTED),
            status: status(context, &server.name, &place),
            created_by: server.created_by.clone(),
            created_at: server.created_at,
            changed_by: server.changed_by.clone(),
            changed_at: server.changed_at,
        }
    }

    /// Returns all servers: those of the config, and the added ones.
    pub(crate) fn items(&self, context: &Context) -> Vec<ServerItem> {
        let is_allowed = self.section.at_run_time;
        let of_config = self.section.catalog.servers.iter().map(|server| config_item(context, server, is_allowed));
        let known = |key: &str| self.section.catalog.servers.iter().any(|server| server.key == key);
        let gone = self.stored.switched_off.iter().filter(|key| is_allowed && !known(key)).map(|key| gone_item(key));
        let added = self.stored.entries.iter().map(|server| self.added_item(context, server));
        let mut items: Vec<_> = of_config.chain(gone).chain(added).collect();
        items.sort_by(|one, other| (&one.name, &one.key).cmp(&(&other.name, &other.key)));
        items
    }

    fn added_item(&self, context: &Context, server: &StoredServer) -> ServerItem {
        let (transport, place) = self.reached(server);
        let status = status(context, &server.name, &place);
        let tested: Option<TestResult> = server.found(TESTED);
        let agents = server.definition.iter().flat_map(|definition| &definition.agents);
        let agents: Vec<_> = agents.filter(|id| self.section.catalog.has_agent(id)).cloned().collect();
        let problem = self.problem(server);
        let failure = match &status {
            Some(status) if status.error.is_some() || status.open > 0 => status.error.clone(),
            _ => tested.as_ref().and_then(|test| test.error.clone()),
        };
        let state = state_of(server.enabled, problem.as_deref(), &agents, failure.as_deref());
        let used = status.map(|status| status.tools.len()).filter(|count| *count > 0);
        let found = tested.filter(|test| test.error.is_none()).map(|test| test.tools.len());
        ServerItem {
            name: server.name.clone(),
            key: server.name.clone(),
            origin: Origin::Added,
            state,
            transport,
            place,
            agents,
            tools: used.or(found),
            problem: problem.or(failure),
            has_switch: false,
        }
    }

    /// Returns why an added server cannot be used.
    fn problem(&self, server: &StoredServer) -> Option<String> {
        if !self.section.at_run_time {
            return Some("the config does not allow servers that are added at run time".to_owned());
        }
        self.section.catalog.problems.get(&server.name).cloned()
    }

    /// Returns how a server is reached, and the host or the name of the program.
    fn reached(&self, server: &StoredServer) -> (&'static str, String) {
        let Some(definition) = &server.definition else { return ("http", String::new()) };
        let place = match definition.transport {
            TransportKind::Stdio => definition.command.first().map(|command| program_name(command)).unwrap_or_default(),
            _ => self.place(definition, &self.readable_secrets(server)),
        };
        (definition.transport.name(), place)
    }
}

/// Returns a server of the config with its state.
fn config_item(context: &Context, server: &ConfigServer, has_switch: bool) -> ServerItem {
    let status = status(context, &server.name, &server.place);
    let error = status.as_ref().and_then(|status| status.error.clone());
    let state = state_of(server.enabled, None, &server.agents, error.as_deref());
    ServerItem {
        name: server.name.clone(),
        key: server.key.clone(),
        origin: Origin::Config,
        state,
        transport: server.transport,
        place: server.place.clone(),
        agents: server.agents.clone(),
        tools: status.map(|status| status.tools.len()).filter(|count| *count > 0),
        problem: error.filter(|_| server.enabled),
        has_switch,
    }
}

/// Returns the state of a server.
fn state_of(enabled: bool, problem: Option<&str>, agents: &[String], failure: Option<&str>) -> ServerState {
    if !enabled {
        return ServerState::Off;
    }
    match (problem, failure) {
        (Some(_), _) => ServerState::Unusable,
        _ if agents.is_empty() => ServerState::NoAgents,
        (None, Some(_)) => ServerState::Failing,
        (None, None) => ServerState::On,
    }
}

/// A switch of a server that the config does not have any more.
fn gone_item(key: &str) -> ServerItem {
    ServerItem {
        name: key.split('@').next().unwrap_or(key).to_owned(),
        key: key.to_owned(),
        origin: Origin::Config,
        state: ServerState::Gone,
        transport: "",
        place: String::new(),
        agents: Vec::new(),
        tools: None,
        problem: None,
        has_switch: true,
    }
}

/// Returns the connections of a server. While a turn still uses an earlier one with the same name, there are
/// several, and the newest one counts.
fn status(context: &Context, name: &str, place: &str) -> Option<ToolServerStatus> {
    let mut servers = context.current.tool_servers().into_iter();
    servers.rfind(|status| status.name == name && status.place == place)
}
