//! The section `prices`.

use super::Context;
use config_source::{Node, NodeKind};
use contract::Price;
use indexmap::IndexMap;

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> IndexMap<String, Price> {
    if !matches!(section.kind, NodeKind::Map(_) | NodeKind::Null | NodeKind::Broken) {
        let message = format!("expected a mapping of prices by model, found {}", section.describe());
        context.report.error(section.at, message, None);
    }
    let prices = section.entries().iter().filter_map(|entry| {
        let price: Price = context.decode(&entry.value)?;
        Some((entry.key.clone(), price))
    });
    prices.collect()
}
