//! Writes the added connections as a part of a config.

use crate::catalog::Answers;
use crate::current::Current;
use crate::definition::ConnectionDefinition;
use config::to_yaml;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most characters of a variable.
const MAX_VARIABLE: usize = 100;

impl Current {
    /// Returns the added connections as YAML: what a config would have to say for the same. Keys are references to
    /// environment variables.
    pub(crate) fn yaml(&self) -> String {
        let mut variables = Variables::default();
        let (mut parts, mut off, mut replaced) = (Map::new(), Vec::new(), BTreeSet::new());
        let mut choices: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for stored in &self.stored.connections {
            let Some(definition) = &stored.definition else { continue };
            let variable = variables.name(&stored.name, definition);
            if !stored.enabled {
                off.push(stored.name.clone());
            }
            let mut entries = definition.entries(&stored.name, &variable);
            if !stored.enabled {
                entries.retain(|section, _| section == "connections" || section == "models");
            }
            merge(&mut parts, entries);
            let ids = definition.model_ids(&stored.name);
            let agents = definition.agents.iter().filter_map(|id| self.section.catalog.agent(id));
            for agent in agents.filter(|_| stored.enabled && !ids.is_empty()) {
                let choice = choices.entry(&agent.id).or_insert_with(|| match &agent.answers {
                    Answers::Choice(ids) => ids.clone(),
                    Answers::Model(_) => Vec::new(),
                });
                choice.extend(ids.iter().map(|(id, _)| id.clone()));
                if matches!(agent.answers, Answers::Model(_)) {
                    replaced.insert(agent.id.clone());
                }
            }
        }
        let agents = choices.into_iter().map(|(id, models)| json!({ "id": id, "models": models }));
        merge(&mut parts, Map::from_iter([("agents".to_owned(), agents.collect::<Value>())]));
        let mut text = "# Connections to model providers that were added at run time. Merge this into the config, and delete them in the admin console.\n".to_owned();
        comment(&mut text, "Set these environment variables to the API keys", &variables.added);
        comment(&mut text, "Switched off, so that no agent uses them", &off);
        let replaced: Vec<_> = replaced.into_iter().collect();
        comment(
            &mut text,
            "`models` takes the place of `connectionId` and of `model` in `properties`: remove these of",
            &replaced,
        );
        parts.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
        if !parts.is_empty() {
            text.push_str(&to_yaml(&parts.into()));
        }
        text
    }
}

/// Adds the entries of sections to those that are there.
fn merge(parts: &mut Map<String, Value>, more: Map<String, Value>) {
    for (section, entries) in more {
        let known = parts.entry(section).or_insert_with(|| Value::Array(Vec::new()));
        if let (Some(known), Value::Array(entries)) = (known.as_array_mut(), entries) {
            known.extend(entries);
        }
    }
}

/// Adds a line with names, if there are any.
fn comment(text: &mut String, what: &str, names: &[String]) {
    if !names.is_empty() {
        text.push_str(&format!("# {what}: {}\n", names.join(", ")));
    }
}

/// Environment variables that stand for keys.
#[derive(Default)]
struct Variables {
    added: Vec<String>,
}

impl Variables {
    /// Returns a name that no other connection has. Without a key, it is used nowhere.
    fn name(&mut self, connection: &str, definition: &ConnectionDefinition) -> String {
        let sign = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_uppercase() } else { '_' };
        let plain: String = format!("{connection}_API_KEY").chars().map(sign).take(MAX_VARIABLE).collect();
        // A name of a variable begins with no digit.
        let plain =
            if plain.starts_with(|sign: char| sign.is_ascii_digit()) { format!("MODEL_{plain}") } else { plain };
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.added.contains(name));
        let name = free.unwrap_or(plain);
        if definition.has_key {
            self.added.push(name.clone());
        }
        name
    }
}
