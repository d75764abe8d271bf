//! Where agents get tools from while they run, asked without an agent: for who checks a config.

use super::mcp::McpServers;
use super::remote_agents;
use config::Config;
use contract::{LeftOut, ToolSource};
use futures::future::join_all;
use std::collections::HashSet;
use std::sync::Arc;

/// The user on whose behalf sources are asked.
const USER: &str = "doctor";

/// What a source offers: how many tools can be used, and which cannot.
pub(crate) struct Offered {
    pub(crate) tools: usize,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Each source of an agent with what it offers, or why nothing.
pub(crate) async fn sources(config: &Config) -> Vec<(String, Result<Offered, String>)> {
    let servers = McpServers::open(config, &McpServers::default());
    let mut known = HashSet::new();
    let (mut sources, mut failed) = (Vec::<Arc<dyn ToolSource>>::new(), Vec::new());
    for agent in config.agents.values() {
        for found in [servers.sources(config, agent), remote_agents::sources(config, agent)] {
            match found {
                Ok(found) => sources.extend(found.into_iter().filter(|source| known.insert(source.name().to_owned()))),
                Err(error) => failed.push((agent.id.clone(), Err(error.to_string()))),
            }
        }
    }
    let asked = sources.iter().map(async |source| {
        let tools = source.tools(USER).await;
        let offered = tools.map(|sourced| Offered { tools: sourced.tools.len(), left_out: sourced.left_out });
        (source.name().to_owned(), offered.map_err(|error| error.message))
    });
    failed.into_iter().chain(join_all(asked).await).collect()
}
