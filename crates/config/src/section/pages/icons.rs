//! Icons of chats and lists of conversations.

use config_source::{MapEntry, Node, Report};

/// The most characters of an icon that is a text. An emoji may consist of several.
const MAX_ASCII: usize = 2;
const MAX_OTHERS: usize = 8;
/// Properties whose values are not shown.
const HIDDEN: [&str; 3] = ["sharedState", "clientTools", "messages"];

/// Warns of icons that are neither an address nor one or two characters: names of icons would be
/// shown as text.
pub(super) fn check(properties: &Node, report: &mut Report) {
    properties.items().iter().for_each(|item| check(item, report));
    for MapEntry { key, value, .. } in properties.entries() {
        match value.text().filter(|_| key == "icon") {
            Some(icon) if !is_shown_as_icon(icon) => {
                let help = "write the address of a picture (`/…` or `https://…`), or one or two characters".to_owned();
                report.warning(value.at, format!("the icon `{icon}` is shown as text"), Some(help));
            }
            _ if HIDDEN.contains(&key.as_str()) => {}
            _ => check(value, report),
        }
    }
}

fn is_shown_as_icon(icon: &str) -> bool {
    let is_address = ["/", "https://", "http://", "data:"].iter().any(|start| icon.starts_with(start));
    let limit = if icon.is_ascii() { MAX_ASCII } else { MAX_OTHERS };
    is_address || icon.chars().take(limit + 1).count() <= limit
}
