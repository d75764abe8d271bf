//! The section `api`.

use super::{Notes, make_list, steps};
use crate::tree::{Tree, Value};

/// Converts the section.
pub(super) fn convert(root: &mut Tree, notes: &mut Notes<'_>) {
    let Some(section) = root.get_mut("api") else { return };
    make_list(section);
    for endpoint in section.items_mut() {
        if let Some(routine) = endpoint.get_mut("routine") {
            steps::convert(routine, notes);
        }
    }
}

/// Adds an endpoint to the section.
pub(super) fn add(root: &mut Tree, endpoint: Tree) {
    if root.get("api").is_none_or(|section| section.items().is_empty()) {
        root.set("api", Tree::list_at(endpoint.at, Vec::new()));
    }
    if let Some(Value::List(items)) = root.get_mut("api").map(|section| &mut section.value) {
        items.push(endpoint);
    }
}
