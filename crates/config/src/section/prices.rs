//! The section `prices`.

use super::Context;
use crate::config::Price;
use crate::shape::{Shape, decode};
use crate::source::{Node, NodeKind};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// The price of a model in US dollars per million tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PriceEntry {
    /// The price of input tokens.
    #[schemars(range(min = 0))]
    input: f64,
    /// Output, reasoning included.
    #[schemars(range(min = 0))]
    output: f64,
    /// The price of input tokens that are read from the provider's cache. Default: `input`.
    #[schemars(range(min = 0))]
    cache_read: Option<f64>,
    /// The price of input tokens that are written to the provider's cache. Default: `input`.
    #[schemars(range(min = 0))]
    cache_write: Option<f64>,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> IndexMap<String, Price> {
    if !matches!(section.kind, NodeKind::Map(_) | NodeKind::Null | NodeKind::Broken) {
        let message = format!("expected a mapping of prices by model, found {}", section.describe());
        context.report.error(section.at, message, None);
    }
    let prices = section.entries().iter().filter_map(|entry| {
        let PriceEntry { input, output, cache_read, cache_write } =
            decode(&entry.value, Shape::for_type::<PriceEntry>()?, context.report)?;
        let (cache_read, cache_write) = (cache_read.unwrap_or(input), cache_write.unwrap_or(input));
        Some((entry.key.clone(), Price { input, cache_read, cache_write, output }))
    });
    prices.collect()
}
