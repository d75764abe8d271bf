//! The capability: the tools of agents that have `webSearch` or `webFetch`, and the switch `web`.

use crate::connection::{Brave, Exa, ProviderSettings, SearXng, Tavily};
use crate::fetch::{Hosts, SharedReading, WebFetch};
use crate::known::{KnownUrls, TABLES};
use crate::provider::Provider;
use crate::search::{Pauses, WebSearch};
use crate::section::{AgentWeb, AgentWebFetch, AgentWebSearch};
use crate::switched::SwitchedTools;
use ::capability::{AgentTools, Caller, Capability, Definition, LifecycleEvent};
use anyhow::anyhow;
use config::{Config, ConnectionType, SectionType};
use contract::Tool;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::UserError;
use wire::api::RunOptions;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentWebSearch>(), SectionType::of::<AgentWebFetch>(), SectionType::of::<AgentWeb>()],
    connections: &[
        ConnectionType::of::<SearXng>(),
        ConnectionType::of::<Brave>(),
        ConnectionType::of::<Tavily>(),
        ConnectionType::of::<Exa>(),
    ],
    tables: Some(TABLES),
    start: Some(|host| {
        let known = Arc::new(KnownUrls::new(host.store.clone()));
        Ok(Arc::new(WebResearch { known, pauses: Arc::default(), reading: SharedReading::default() }))
    }),
    ..Definition::new("web_research")
};

/// The capability of a running server.
struct WebResearch {
    known: Arc<KnownUrls>,
    pauses: Arc<Pauses>,
    reading: SharedReading,
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
        let (known, reading) = (self.known.clone(), self.reading.clone());
        let tool = WebFetch::new(hosts, section.follow_links, section.allow_private, known, reading);
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
        Ok(match agent.section() {
            Some(AgentWeb(switch)) => {
                let source = Arc::new(SwitchedTools { switch: *switch, tools });
                AgentTools { sources: vec![source], ..AgentTools::default() }
            }
            None => AgentTools { tools, ..AgentTools::default() },
        })
    }

    fn composer(&self, _: &Config, agent: &config::Agent) -> Map<String, Value> {
        let switch = agent.section().map(|AgentWeb(switch)| ("web".to_owned(), switch.is_on(None).into()));
        switch.into_iter().collect()
    }

    fn check_options<'a>(
        &'a self,
        _: &'a Caller,
        agent: &'a config::Agent,
        options: &'a RunOptions,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        let has_tools = agent.section::<AgentWebSearch>().is_some() || agent.section::<AgentWebFetch>().is_some();
        let is_switched = agent.section::<AgentWeb>().is_some();
        let checked = match options.web {
            Some(true) if !has_tools => Err("This agent does not use the web."),
            Some(false) if has_tools && !is_switched => Err("The web cannot be switched off: the agent has no `web`."),
            _ => Ok(()),
        };
        Box::pin(std::future::ready(checked.map_err(|message| UserError::invalid("/web", message))))
    }

    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::RunEnded { run_id, .. } = event {
            self.reading.cache.forget(run_id);
        }
    }

    fn config_changed(&self, _: &Arc<Config>) {
        self.pauses.clear();
    }
}
