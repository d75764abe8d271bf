//! Lists what tool sources offer, without an agent, for checks of a config.

use super::mcp::McpServers;
use super::remote_agents;
use config::Config;
use contract::{OmittedTool, RunScope, ToolSource};
use futures::future::join_all;
use std::collections::HashSet;
use std::sync::Arc;

/// The user on whose behalf sources are listed.
const PROBE_USER: &str = "doctor";

/// The tools of a source: how many can be used, and which cannot.
pub(crate) struct SourceReport {
    pub(crate) tools: usize,
    pub(crate) left_out: Vec<OmittedTool>,
}

/// Returns each tool source of the config's agents with its tools, or why it cannot be used.
pub(crate) async fn sources(config: &Config) -> Vec<(String, Result<SourceReport, String>)> {
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
    let probe = RunScope { user_id: PROBE_USER.to_owned(), ..RunScope::default() };
    let asked = sources.iter().map(async |source| {
        let tools = source.tools(&probe).await;
        let offered = tools.map(|sourced| SourceReport { tools: sourced.tools.len(), left_out: sourced.left_out });
        (source.name().to_owned(), offered.map_err(|error| error.message))
    });
    failed.into_iter().chain(join_all(asked).await).collect()
}
