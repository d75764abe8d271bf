//! The server's part: a tool with its connection, a model provider and an operator.

mod echo;
mod warehouse;

use capability::{AgentTools, Capability, Definition};
use config::{Config, Connection, ConnectionType, SectionType};
use contract::Model;
use echo::{Echo, EchoModel};
use operators::{Arguments, Kind, Parameters, required};
use serde_json::Value;
use std::sync::Arc;
use warehouse::{AgentStock, Warehouse};

/// The definition of the parts that this crate adds to the server.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentStock>()],
    connections: &[ConnectionType::of::<Warehouse>(), ConnectionType::of::<Echo>()],
    operators: &[operators::Definition::custom(
        "_percent",
        Parameters::Named(&[required("part", Kind::Number), required("of", Kind::Number)]),
        percent,
        "A part of a number in percent, without a fraction.",
    )],
    start: Some(|_| Ok(Arc::new(Extended))),
    ..Definition::new("extended")
};

fn percent(arguments: Arguments) -> Result<Value, String> {
    match (arguments.number(0), arguments.number(1)) {
        (Some(part), Some(of)) if of != 0.0 => Ok(Value::from((part / of * 100.0).round() as i64)),
        _ => Err("nothing has no parts".to_owned()),
    }
}

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
