//! Entities and relations.

use super::TextPlace;
use super::passage_number;
use serde::Deserialize;

/// How far the extraction from a library is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractionStatus {
    /// The types of entities that are extracted.
    pub entity_types: Vec<String>,
    /// The number of documents that can be found.
    pub documents: u64,
    /// The number of those from which everything is extracted.
    pub done: u64,
    /// The number of those from which nothing could be extracted.
    pub failed: u64,
    /// Why one of them failed or waits.
    #[serde(default)]
    pub error: Option<String>,
    /// The number of entities.
    pub entities: u64,
    /// The number of relations.
    pub relations: u64,
    /// The number of the model's results that were left out.
    pub dropped: u64,
    /// Whether the user may have everything extracted anew.
    pub may_redo: bool,
}

/// A page of entities.
#[derive(Clone, Debug, Deserialize)]
pub struct EntityList {
    /// The entities.
    pub items: Vec<LibraryEntity>,
    /// The cursor of the next page; absent on the last one.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LibraryEntity {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The number of passages that mention it.
    pub mentions: u64,
}

/// An entity with its connections.
#[derive(Clone, Debug, Deserialize)]
pub struct EntityDetails {
    /// The entity.
    pub entity: LibraryEntity,
    /// Its names in the documents.
    pub names: Vec<String>,
    /// Passages that mention it.
    pub mentions: Vec<EntityPassage>,
    /// Its relations.
    pub relations: Vec<LibraryRelation>,
}

/// A relation between two entities.
#[derive(Clone, Debug, Deserialize)]
pub struct LibraryRelation {
    /// Where it begins.
    pub from: RelationEnd,
    /// Its type.
    pub relation: String,
    /// Where it ends.
    pub to: RelationEnd,
    /// A passage that states it.
    pub evidence: EntityPassage,
}

/// An entity at an end of a relation.
#[derive(Clone, Debug, Deserialize)]
pub struct RelationEnd {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A passage with the words that mention an entity or state a relation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityPassage {
    /// The id of the chunk.
    pub chunk_id: String,
    /// The document.
    pub document_id: String,
    /// The name of the file.
    pub file_name: String,
    /// Where the text is in the file.
    pub place: TextPlace,
    /// The words.
    pub quote: String,
}

impl EntityPassage {
    /// Returns the number of the passage in its document, from 1.
    pub fn number(&self) -> Option<u64> {
        passage_number(&self.chunk_id)
    }
}
