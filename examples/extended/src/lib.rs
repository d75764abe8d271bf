#![doc = include_str!("../README.md")]

mod echo;
mod warehouse;

use capability::{AgentTools, Capability, Definition};
use config::{Config, Connection, ConnectionType, SectionType};
use contract::Model;
use echo::{Echo, EchoModel};
use std::sync::Arc;
use warehouse::{AgentStock, Warehouse};

/// What this crate adds to the product.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentStock>()],
    connections: &[ConnectionType::of::<Warehouse>(), ConnectionType::of::<Echo>()],
    start: Some(|_| Ok(Arc::new(Extended))),
    ..Definition::new("extended")
};

struct Extended;

impl Capability for Extended {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let tools = agent.section::<AgentStock>().map(|stock| stock.tool(config)).transpose()?;
        Ok(AgentTools { tools: tools.into_iter().collect(), ..AgentTools::default() })
    }

    fn model(&self, connection: &Connection, model: &str) -> Option<Arc<dyn Model>> {
        Some(Arc::new(EchoModel::new(model, connection.properties::<Echo>()?)))
    }
}
