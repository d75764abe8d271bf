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
        let agents = config.agents.values().filter_map(|agent| agent.section::<AgentData>());
        let from_documents = has_values_from_documents(section, agents);
        let tools = tools::tools(&self.0, &agent.id, &used, section, from_documents);
        Ok(AgentTools { tools, ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.0.clone(), context))
    }
}

/// Returns whether one of these agents fills a collection of `section` from documents.
fn has_values_from_documents<'a>(section: &AgentData, agents: impl IntoIterator<Item = &'a AgentData>) -> bool {
    let mut filling = agents.into_iter().filter(|agent| agent.write && agent.sources);
    filling.any(|agent| agent.collections.iter().any(|id| section.collections.contains(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn collections_that_any_agent_fills_from_documents_are_found() {
        let section = |value: Value| serde_json::from_value::<AgentData>(value).unwrap();
        let reader = section(json!({ "collections": ["a", "b"] }));
        let check = |agent: Value, expected: bool| {
            let agents = [&reader, &section(agent.clone())];
            assert_eq!(has_values_from_documents(&reader, agents), expected, "{agent}");
        };
        check(json!({ "collections": ["c", "b"], "write": true, "sources": true }), true);
        check(json!({ "collections": ["c"], "write": true, "sources": true }), false);
        check(json!({ "collections": ["b"], "write": true }), false);
    }
}
