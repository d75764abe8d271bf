//! The answers of the HTTP API about entities, with the fields that the block shows.

use crate::libraries::model::{Place, passage_number};
use serde::Deserialize;

/// How far the extraction is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) entity_types: Vec<String>,
    pub(super) documents: u64,
    pub(super) done: u64,
    pub(super) failed: u64,
    #[serde(default)]
    pub(super) error: Option<String>,
    pub(super) entities: u64,
    pub(super) relations: u64,
    pub(super) dropped: u64,
    pub(super) may_redo: bool,
}

/// A page of entities.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EntityList {
    pub(super) items: Vec<Entity>,
    #[serde(default)]
    pub(super) cursor: Option<String>,
}

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Entity {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) mentions: u64,
}

/// An entity with what is connected with it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Explored {
    pub(super) entity: Entity,
    pub(super) names: Vec<String>,
    pub(super) mentions: Vec<Passage>,
    pub(super) relations: Vec<Relation>,
}

/// A relation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Relation {
    pub(super) from: End,
    pub(super) relation: String,
    pub(super) to: End,
    pub(super) evidence: Passage,
}

/// An entity at an end of a relation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct End {
    pub(super) id: String,
    pub(super) name: String,
}

/// A passage with the words that say something.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Passage {
    pub(super) chunk_id: String,
    pub(super) document_id: String,
    pub(super) file_name: String,
    pub(super) place: Place,
    pub(super) quote: String,
}

impl Passage {
    /// Returns the number of the passage in its document, from 1.
    pub(super) fn number(&self) -> Option<u64> {
        passage_number(&self.chunk_id)
    }
}
