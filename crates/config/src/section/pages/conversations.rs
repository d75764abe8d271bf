//! Checks a list of conversations beyond its schema.

use crate::section::Context;
use config_source::{MapEntry, Node};

/// Warns of keys of a list that have no effect.
pub(crate) fn check(node: &Node, context: &mut Context<'_, '_>) {
    let property = |key: &str| node.get("properties").and_then(|properties| properties.value.get(key));
    let mut warn = |entry: Option<&MapEntry>, message: &str, help: &str| {
        if let Some(MapEntry { key, key_at, .. }) = entry {
            context.report.warning(*key_at, format!("`{key}` {message}"), Some(help.to_owned()));
        }
    };
    if property("items").is_some() {
        let help = "write `creation: { label: … }`";
        warn(property("newLabel"), "has no effect on a list with `items`", help);
    } else {
        let message = "has no effect on a list of the stored conversations";
        warn(property("activeKey"), message, "the address of the page selects one; a list with `items` has this key");
        warn(property("groupable"), message, "users group them in folders; a list with `items` has this key");
    }
    let on_menu_click = node.get("events").and_then(|events| events.value.get("onMenuClick"));
    if property("menu").is_none() {
        warn(on_menu_click, "never happens, because this list has no `menu`", "give it a `menu`");
    }
}
