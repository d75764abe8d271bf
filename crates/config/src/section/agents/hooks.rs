//! An agent's `hooks`: endpoints that are called during its runs.

use crate::section::Context;
use crate::section::entry_ref::{EntryKind, EntryRef};
use config_source::Node;

/// Reports endpoints that do not exist.
pub(crate) fn check(agent: &Node, context: &mut Context<'_, '_>) {
    for list in agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default() {
        for item in list.value.items() {
            if let Some(id) = item.text() {
                context.endpoint(id, item.at);
            }
        }
    }
}

/// Returns the endpoints that an agent's hooks refer to.
pub(crate) fn references(agent: &Node) -> Vec<EntryRef<'_>> {
    let lists = agent.get("hooks").map(|entry| entry.value.entries()).unwrap_or_default();
    let named = lists.iter().flat_map(|list| list.value.items());
    named.filter_map(|item| Some((EntryKind::Endpoint, item.text()?, item.at))).collect()
}
