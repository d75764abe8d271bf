//! The schema of the extraction from the documents of a library: types of entities, and of relations between
//! them.

use config::{Config, ModelRef, PathStep, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Text;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Entities, such as people and products, and relations between them, which a model extracts from the documents.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphSettings {
    /// The model that reads the documents.
    pub(crate) model: ModelRef,
    /// The types of entities.
    #[schemars(length(min = 1, max = 30))]
    pub(crate) entities: Vec<EntityType>,
    /// The types of relations. Without any, only entities are extracted.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) relations: Vec<RelationType>,
    /// The most mentions of entities, and relations, that are kept of a document.
    #[serde(default = "default_of_document")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_per_document: u32,
    /// The most entities of a library.
    #[serde(default = "default_of_library")]
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) max_entities: u32,
}

/// A type of entities.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct EntityType {
    /// The name, such as `person`.
    #[serde(rename = "type")]
    pub(crate) kind: Text,
    /// A definition of the type; the model reads it.
    #[serde(default)]
    pub(crate) description: Option<Text>,
}

/// A type of relations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct RelationType {
    /// The name, which is best a verb, such as `reports to`.
    #[serde(rename = "type")]
    pub(crate) kind: Text,
    /// The type of the entities from which it leads.
    pub(crate) from: Text,
    /// The type of the entities to which it leads.
    pub(crate) to: Text,
    /// The meaning of the relation; the model reads it.
    #[serde(default)]
    pub(crate) description: Option<Text>,
}

fn default_of_document() -> u32 {
    500
}

fn default_of_library() -> u32 {
    20_000
}

impl GraphSettings {
    /// Returns the hash that is stored with each extraction. When it changes, documents are read anew.
    pub(crate) fn key(&self) -> String {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.0.clone()).unwrap_or_default();
        let mut parts = vec![
            self.model.connection_id.clone(),
            self.model.model.clone(),
            self.max_per_document.to_string(),
            self.max_entities.to_string(),
        ];
        for EntityType { kind, description } in &self.entities {
            parts.extend(["entity".to_owned(), kind.0.clone(), text(description)]);
        }
        for RelationType { kind, from, to, description } in &self.relations {
            parts.extend(["relation".to_owned(), kind.0.clone(), from.0.clone(), to.0.clone(), text(description)]);
        }
        let hash = Sha256::digest(parts.join("\u{0}"));
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the names of the types of relations, each once: a name may stand for several pairs of entities.
    pub(crate) fn relation_names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.relations.iter().map(|relation| relation.kind.0.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Checks the types, which stand at `at`.
    pub(super) fn check(&self, at: &[PathStep<'_>], problems: &mut SectionProblems<'_, '_, '_>) {
        let mut kinds = HashSet::new();
        for (number, EntityType { kind, .. }) in self.entities.iter().enumerate() {
            if !kinds.insert(kind.0.as_str()) {
                let at = [at, &[PathStep::Key("entities"), PathStep::Index(number)]].concat();
                problems.error(&at, format!("there are two types of entities with the name `{}`", kind.0), None);
            }
        }
        let mut names = HashSet::new();
        for (number, RelationType { kind, from, to, .. }) in self.relations.iter().enumerate() {
            let at = [at, &[PathStep::Key("relations"), PathStep::Index(number)]].concat();
            if !names.insert((&kind.0, &from.0, &to.0)) {
                let message = format!("the type of relations `{}` is declared twice for the same entities", kind.0);
                problems.error(&at, message, None);
            }
            for (key, end) in [("from", from), ("to", to)] {
                if !kinds.contains(end.0.as_str()) {
                    let at = [&at[..], &[PathStep::Key(key)]].concat();
                    let help =
                        SectionProblems::name_help(&end.0, self.entities.iter().map(|entity| entity.kind.0.as_str()));
                    problems.error(&at, format!("there is no type of entities `{}` here", end.0), help);
                }
            }
        }
    }

    /// Checks that the config has the connection of the model.
    pub(super) fn check_model(&self, at: &[PathStep<'_>], config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        check_model(&self.model, at, config, problems);
    }
}

/// Checks that the config has the connection of a model, which is the key `model` of what stands at `at`.
pub(super) fn check_model(
    model: &ModelRef,
    at: &[PathStep<'_>],
    config: &Config,
    problems: &mut SectionProblems<'_, '_, '_>,
) {
    let id = &model.connection_id;
    if !config.connections.contains_key(id) {
        let at = [at, &[PathStep::Key("model"), PathStep::Key("connectionId")]].concat();
        let help = SectionProblems::name_help(id, config.connections.keys().map(String::as_str));
        problems.error(&at, format!("there is no connection `{id}`"), help);
    }
}
