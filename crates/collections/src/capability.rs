//! The capability: the tools of agents that have `data`, and the routes.

use crate::records::Data;
use crate::routes;
use crate::section::{AgentData, Collections};
use crate::store::TABLES;
use crate::tools;
use ::capability::{AgentTools, Capability, Context, Definition};
use anyhow::anyhow;
use config::{Config, SectionType};
use std::sync::Arc;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Collections>(), SectionType::of::<AgentData>()],
    tables: Some(TABLES),
    start: Some(|host| {
        let (store, databases, quotes) = (host.store.clone(), host.databases.clone(), host.quotes.clone());
        Ok(Arc::new(DataCollections(Data { store, databases, quotes })))
    }),
    ..Definition::new("collections")
};

/// The capability of a running server.
struct DataCollections(Data);

impl Capability for DataCollections {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(section) = agent.section::<AgentData>() else { return Ok(AgentTools::default()) };
        let all = config.section::<Collections>().map_or(&[][..], |all| &all.0);
        let used = section.collections.iter().map(|id| {
            let found = all.iter().find(|collection| collection.id.0 == *id);
            found.cloned().ok_or_else(|| anyhow!("there is no collection `{id}`"))
        });
        let used = used.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(AgentTools { tools: tools::tools(&self.0, &agent.id, &used, section), ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.0.clone(), context))
    }
}
