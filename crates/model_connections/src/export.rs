//! Writes the added connections as a part of a config.

use crate::catalog::Answers;
use crate::current::Current;
use added_entries::export::{Variables, comment};
use config::to_yaml;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

impl Current {
    /// Returns the added connections as YAML: what a config would have to say for the same. Keys are references to
    /// environment variables.
    pub(crate) fn yaml(&self) -> String {
        let (mut variables, mut added) = (Variables::default(), Vec::new());
        let (mut parts, mut off, mut replaced) = (Map::new(), Vec::new(), BTreeSet::new());
        let mut choices: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for stored in &self.stored.entries {
            let Some(definition) = &stored.definition else { continue };
            let key = definition.has_key.then(|| variables.name(&variable(&stored.name)));
            added.extend(key.clone());
            if !stored.enabled {
                off.push(stored.name.clone());
            }
            let mut entries = definition.entries(&stored.name, key.as_deref());
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
        comment(&mut text, "Set these environment variables to the API keys", &added);
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

/// Returns the name of the variable that stands for the key of a connection. It begins with no digit.
fn variable(connection: &str) -> String {
    let prefix = if connection.starts_with(|sign: char| sign.is_ascii_digit()) { "MODEL_" } else { "" };
    format!("{prefix}{connection}_API_KEY")
}
