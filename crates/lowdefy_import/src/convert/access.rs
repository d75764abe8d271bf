//! The section `auth`: who may use what. Its rules become keys of the pages, agents and endpoints.

use super::Notes;
use crate::tree::{Tree, Value};
use config::Span;
use std::collections::HashMap;

/// The sections of rules, with the sections whose entries they are about.
const RULES: [(&str, &str); 3] = [("pages", "pages"), ("api", "api"), ("agents", "agents")];

/// Writes the rules of the section `auth` into the entries that they are about.
pub(super) fn apply(root: &mut Tree, notes: &mut Notes<'_>) {
    let auth = root.remove("auth");
    let nested = root.get_mut("config").and_then(|config| config.remove("auth"));
    let Some(mut auth) = auth.or(nested) else { return };
    for (rules, section) in RULES {
        let rules = auth.value.remove(rules).map(|entry| entry.value);
        if let (Some(rules), Some(section)) = (rules, root.get_mut(section)) {
            apply_to(section, &rules, notes);
        }
    }
    for entry in auth.value.entries() {
        let help = match entry.key.as_str() {
            "providers" => "choose how users sign in with `auth: { mode: … }`, see docs/accounts.md",
            "userFields" => "roles and names come from the user's token or account, see docs/accounts.md",
            _ => "see docs/accounts.md",
        };
        notes.left_out(entry.key_at, format!("`auth.{}`", entry.key), help);
    }
}

/// Adds the rule of each entry, the strictest one that names it. An entry that no rule names gets
/// none: every signed-in user may use it.
fn apply_to(section: &mut Tree, rules: &Tree, notes: &mut Notes<'_>) {
    let mut roles: HashMap<&str, Vec<(&str, Span)>> = HashMap::new();
    for entry in rules.get("roles").map(Tree::entries).unwrap_or_default() {
        for id in entry.value.items().iter().filter_map(Tree::text) {
            roles.entry(id).or_default().push((&entry.key, entry.key_at));
        }
    }
    let (protected, public) = (rules.get("protected"), rules.get("public"));
    for item in section.items_mut() {
        let Some(id) = item.text_of("id").map(str::to_owned) else { continue };
        let at = item.at;
        let rule = match roles.get(id.as_str()) {
            Some(roles) => {
                let names = roles.iter().map(|(name, at)| Tree::text_at(*at, *name)).collect();
                Tree::map_at(at, vec![("roles", Tree::list_at(at, names))])
            }
            None if lists(protected, &id) => Tree::text_at(at, "protected"),
            None if lists(public, &id) || is_true(public) => Tree::text_at(at, "public"),
            None => continue,
        };
        if item.entry("auth").is_none() {
            item.insert_after_id("auth", rule);
        }
    }
    if protected.is_some_and(|protected| matches!(protected.value, Value::List(_))) && public.is_none() {
        let help = "write `auth: public` at those that everybody may use";
        let at = protected.map_or(rules.at, |protected| protected.at);
        notes.changed(at, "what is not listed was public; now it needs a signed-in user", help);
    }
}

fn is_true(rule: Option<&Tree>) -> bool {
    rule.is_some_and(|rule| matches!(rule.value, Value::Bool(true)))
}

/// Whether a rule lists an id.
fn lists(rule: Option<&Tree>, id: &str) -> bool {
    rule.is_some_and(|rule| rule.items().iter().any(|item| item.text() == Some(id)))
}
