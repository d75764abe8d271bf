//! The names that a config may use: the keys of its schema, and the operators, blocks and types of connections.

use crate::connection::MODEL_TYPES;
use operators::Operators;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use wire::page::{AddedBlock, BlockType};

/// The names that a config may use.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    /// Whether each type of connection that a capability brings has models, by its name.
    pub(crate) added_connections: HashMap<&'static str, bool>,
    /// The operators that a program adds; `None` for none.
    pub(crate) operators: Option<Arc<Operators>>,
    /// The types of blocks that a program adds.
    pub(crate) blocks: Vec<AddedBlock>,
    /// Whether a text is a private key with which the program can sign; `None` if the program does not say.
    pub(crate) is_signing_key: Option<fn(&SecretString) -> bool>,
    /// The JSON Schema with internal keywords.
    pub(crate) schema: Value,
}

impl Vocabulary {
    /// Returns the operators.
    pub(crate) fn operators(&self) -> &Operators {
        self.operators.as_deref().unwrap_or_else(|| Operators::standard())
    }

    /// Returns a type of block that a program adds.
    pub(crate) fn added_block(&self, name: &str) -> Option<&AddedBlock> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Returns the types of blocks that a program adds and that can hold others.
    pub(crate) fn added_containers(&self) -> impl Iterator<Item = &'static str> {
        self.blocks.iter().filter(|block| block.holds_blocks).map(|block| block.name)
    }

    /// Returns the names of all sections of a config.
    pub(crate) fn section_names(&self) -> impl Iterator<Item = &str> {
        let sections = self.schema.get("properties").and_then(Value::as_object);
        sections.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Whether connections of this type have models.
    pub(crate) fn has_models(&self, connection_type: &str) -> bool {
        let added = self.added_connections.get(connection_type).copied();
        added.unwrap_or_else(|| MODEL_TYPES.contains(&connection_type))
    }
}

/// Returns a type of block of the product.
pub(crate) fn built_in_block(name: &str) -> Option<BlockType> {
    serde_json::from_value(name.into()).ok()
}
