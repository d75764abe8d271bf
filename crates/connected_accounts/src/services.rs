//! The services of the config that are called on behalf of users.

use config::{Config, ConnectionKind, Endpoint, RemoteAgentConnection, RemoteAgentRef};
use serde_json::Value;
use settings::user_auth::{Service, UserAuth, UserVariables};
use std::collections::BTreeMap;

/// Returns the services whose tokens come from accounts or from an exchange: those of all agents and endpoints.
pub(crate) fn all(config: &Config) -> impl Iterator<Item = Service> {
    let agents = config.agents.values().flat_map(|agent| of_agent(config, agent));
    agents.chain(of_endpoints(config, |_| true))
}

/// Returns the services to which these endpoints send requests.
fn of_endpoints(config: &Config, is_wanted: impl Fn(&Endpoint) -> bool) -> impl Iterator<Item = Service> {
    let endpoints: Vec<_> = config.endpoints.values().filter(|endpoint| is_wanted(endpoint)).collect();
    config.connections.values().filter_map(move |connection| match &connection.kind {
        ConnectionKind::Http(http) => {
            let service = http.user_service(&connection.id)?;
            endpoints
                .iter()
                .any(|endpoint| endpoint.routine.iter().any(|step| uses(step, &connection.id)))
                .then_some(service)
        }
        _ => None,
    })
}

/// Returns whether a step, or one within it, sends its request to a connection.
fn uses(step: &Value, connection: &str) -> bool {
    match step {
        Value::Object(fields) => {
            fields.get("connectionId").is_some_and(|id| id == connection)
                || fields.values().any(|value| uses(value, connection))
        }
        Value::Array(items) => items.iter().any(|value| uses(value, connection)),
        _ => false,
    }
}

/// Returns the services of an agent.
fn of_agent(config: &Config, agent: &config::Agent) -> Vec<Service> {
    let servers = agent.mcp.iter().filter_map(|used| used.server.transport.user_service(&used.name));
    let remote = agent.remote_agents.iter().filter_map(|used| remote(config, used)?.user_service(&used.connection_id));
    servers.chain(remote).collect()
}

/// Returns the connection of a remote agent.
fn remote<'a>(config: &'a Config, used: &RemoteAgentRef) -> Option<&'a RemoteAgentConnection> {
    match &config.connections.get(&used.connection_id)?.kind {
        ConnectionKind::RemoteAgent(remote) => Some(remote),
        _ => None,
    }
}

/// Returns the variables that users of these agents enter, by connection.
pub(crate) fn variables<'a>(config: &Config, agents: impl Iterator<Item = &'a str>) -> BTreeMap<String, UserVariables> {
    let used = agents.filter_map(|id| config.agents.get(id)).flat_map(|agent| &agent.remote_agents);
    let variables = used.filter_map(|used| remote(config, used)?.variables_of_users(&used.connection_id));
    variables.map(|variables| (variables.connection.clone(), variables)).collect()
}

/// Returns the services of these agents and endpoints at which users have accounts, by name.
pub(crate) fn with_accounts<'a>(
    config: &Config,
    agents: impl Iterator<Item = &'a str>,
    is_usable: impl Fn(&Endpoint) -> bool,
) -> BTreeMap<String, Service> {
    let agents = agents.filter_map(|id| config.agents.get(id));
    let services = agents.flat_map(|agent| of_agent(config, agent)).chain(of_endpoints(config, is_usable));
    let with_accounts = services.filter(|service| matches!(service.auth, UserAuth::Account(_)));
    with_accounts.map(|service| (service.name.clone(), service)).collect()
}
