//! The capability: the tools of agents that have `webSearch` or `webFetch`.

use crate::connection::{Brave, Exa, ProviderSettings, SearXng, Tavily};
use crate::fetch::{Hosts, PageCache, WebFetch};
use crate::known::{KnownUrls, TABLES};
use crate::provider::Provider;
use crate::search::{Pauses, WebSearch};
use crate::section::{AgentWebFetch, AgentWebSearch};
use ::capability::{AgentTools, Capability, Definition, LifecycleEvent};
use anyhow::anyhow;
use config::{Config, ConnectionType, SectionType};
use contract::Tool;
use std::sync::Arc;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentWebSearch>(), SectionType::of::<AgentWebFetch>()],
    connections: &[
        ConnectionType::of::<SearXng>(),
        ConnectionType::of::<Brave>(),
        ConnectionType::of::<Tavily>(),
        ConnectionType::of::<Exa>(),
    ],
    tables: Some(TABLES),
    start: Some(|host| {
        let known = Arc::new(KnownUrls::new(host.store.clone()));
        Ok(Arc::new(WebResearch { known, pauses: Arc::default(), cache: Arc::default() }))
    }),
    ..Definition::new("web_research")
};

/// The capability of a running server.
struct WebResearch {
    known: Arc<KnownUrls>,
    pauses: Arc<Pauses>,
    cache: Arc<PageCache>,
}

impl WebResearch {
    fn search_tool(&self, config: &Config, section: &AgentWebSearch) -> anyhow::Result<Arc<dyn Tool>> {
        let providers = section.connections.iter().map(|id| {
            let settings = config.connections.get(id).and_then(ProviderSettings::from_connection);
            let settings = settings.ok_or_else(|| anyhow!("`{id}` is not a provider of web search"))?;
            Provider::new(id, settings).map_err(|error| anyhow!("the connection `{id}`: {error}"))
        });
        let providers = providers.collect::<anyhow::Result<_>>()?;
        let (pauses, known) = (self.pauses.clone(), self.known.clone());
        Ok(Arc::new(WebSearch::new(providers, section.max_results, pauses, known)))
    }

    fn fetch_tool(&self, section: &AgentWebFetch) -> anyhow::Result<Arc<dyn Tool>> {
        let hosts = Hosts::new(section.allow.as_deref(), &section.deny).map_err(|error| anyhow!(error))?;
        let (known, cache) = (self.known.clone(), self.cache.clone());
        let tool = WebFetch::new(hosts, section.follow_links, section.allow_private, known, cache);
        Ok(Arc::new(tool.map_err(|error| anyhow!(error))?))
    }
}

impl Capability for WebResearch {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let mut tools = Vec::new();
        if let Some(section) = agent.section::<AgentWebSearch>() {
            tools.push(self.search_tool(config, section)?);
        }
        if let Some(section) = agent.section::<AgentWebFetch>() {
            tools.push(self.fetch_tool(section)?);
        }
        Ok(AgentTools { tools, ..AgentTools::default() })
    }

    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::RunEnded { run_id, .. } = event {
            self.cache.forget(run_id);
        }
    }

    fn config_changed(&self, _: &Arc<Config>) {
        self.pauses.clear();
    }
}
