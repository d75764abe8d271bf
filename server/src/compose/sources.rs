//! Lists what tool sources offer, without an agent, for checks of a config.

use crate::capabilities::{database_schema, definitions};
use capability::{Capabilities, Host, Quotes};
use config::Config;
use contract::{OmittedTool, RunScope, ToolSource};
use endpoints::OpenDatabases;
use futures::future::join_all;
use jobs::Jobs;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The user on whose behalf sources are listed.
const PROBE_USER: &str = "doctor";

/// The tools of a source: how many can be used, and which cannot.
pub(crate) struct SourceReport {
    pub(crate) tools: usize,
    pub(crate) left_out: Vec<OmittedTool>,
}

/// Returns each tool source of the config's agents with its tools, or why it cannot be used. The
/// capabilities get an empty database in memory.
pub(crate) async fn sources(config: &Config) -> Vec<(String, Result<SourceReport, String>)> {
    let store = match database_schema().open("sqlite::memory:", "", Duration::ZERO).await {
        Ok(store) => store,
        Err(error) => return vec![("database".to_owned(), Err(error.to_string()))],
    };
    let jobs = Jobs::new(store.clone());
    let host = Host {
        jobs,
        store,
        databases: OpenDatabases::default(),
        quotes: Quotes::default(),
        libraries: Default::default(),
        memories: Default::default(),
        tokens: Default::default(),
        waiting: Default::default(),
        chat_posts: Default::default(),
    };
    let capabilities = match Capabilities::start(definitions(), &host) {
        Ok(capabilities) => capabilities,
        Err(error) => return vec![("capabilities".to_owned(), Err(error.to_string()))],
    };
    let mut known = HashSet::new();
    let (mut sources, mut failed) = (Vec::<Arc<dyn ToolSource>>::new(), Vec::new());
    for agent in config.agents.values() {
        match capabilities.agent_tools(config, agent) {
            Ok(found) => {
                sources.extend(found.sources.into_iter().filter(|source| known.insert(source.name().to_owned())));
            }
            Err(error) => failed.push((agent.id.clone(), Err(error.to_string()))),
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
