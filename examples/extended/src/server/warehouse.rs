//! A connection of the type `Warehouse`, and the tool that agents look up its stock with.

use anyhow::Context;
use config::{Config, ConnectionProperties, PathStep, SecretText, Section, SectionPlace, SectionProblems};
use contract::{FunctionTool, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A warehouse. A real one would be a service; this one has its stock in the config.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Warehouse {
    /// The key of the service, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    api_key: SecretText,
    /// How many there are of each part.
    stock: BTreeMap<String, u32>,
}

impl ConnectionProperties for Warehouse {
    const TYPE: &'static str = "Warehouse";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.api_key.expose().len() < 4 {
            problems.error(&[PathStep::Key("apiKey")], "a key of the warehouse has at least 4 characters", None);
        }
    }
}

/// Lets the agent look up the stock of a warehouse.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentStock {
    /// The connection to the warehouse.
    connection_id: String,
}

impl Section for AgentStock {
    const KEY: &'static str = "stock";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        problems.check_connection::<Warehouse>(&[PathStep::Key("connectionId")], &self.connection_id);
    }

    fn tool_names(&self) -> Vec<String> {
        vec![TOOL.to_owned()]
    }
}

const TOOL: &str = "search-stock";

/// The arguments of the tool.
#[derive(Deserialize, JsonSchema)]
struct Lookup {
    /// The name of the part, such as `bolt`.
    part: String,
}

impl AgentStock {
    /// Returns the tool.
    pub(crate) fn tool(&self, config: &Config) -> anyhow::Result<Arc<dyn Tool>> {
        let connection = config.connections.get(&self.connection_id);
        let warehouse = connection.and_then(|connection| connection.properties::<Warehouse>());
        let stock = warehouse.context("its connection is not a warehouse")?.stock.clone();
        Ok(Arc::new(FunctionTool::new(TOOL, "Returns how many there are of a part.", move |lookup: Lookup, _| {
            let found = stock.get(&lookup.part).copied();
            let names = stock.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            async move {
                match found {
                    Some(count) => Ok(json!({ "part": lookup.part, "count": count })),
                    None => Err(ToolError::new(format!("There is no such part. The parts are: {names}."))),
                }
            }
        })))
    }
}
