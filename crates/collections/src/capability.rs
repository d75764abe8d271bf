//! The capability: the tools of agents that have `data`.

use crate::section::{AgentData, Collections};
use crate::store::TABLES;
use crate::tools;
use ::capability::{AgentTools, Capability, Definition};
use anyhow::anyhow;
use config::{Config, SectionType};
use std::sync::Arc;
use store::Store;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Collections>(), SectionType::of::<AgentData>()],
    tables: Some(TABLES),
    start: Some(|host| Ok(Arc::new(DataCollections { store: host.store.clone() }))),
    ..Definition::new("collections")
};

/// The capability of a running server.
struct DataCollections {
    store: Store,
}

impl Capability for DataCollections {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(section) = agent.section::<AgentData>() else { return Ok(AgentTools::default()) };
        let all = config.section::<Collections>().map_or(&[][..], |all| &all.0);
        let used = section.collections.iter().map(|id| {
            let found = all.iter().find(|collection| collection.id.0 == *id);
            found.cloned().ok_or_else(|| anyhow!("there is no collection `{id}`"))
        });
        let used = used.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(AgentTools { tools: tools::tools(&self.store, &used, section), ..AgentTools::default() })
    }
}
